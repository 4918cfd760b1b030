# expect-note: frozen | .*trunk.*
import torch, torch.nn as nn
torch.manual_seed(0)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 9)); self.head = nn.Linear(9, 2)
    def forward(self, x): return self.head(self.trunk(x))
m = M(); m.trunk.requires_grad_(False)
o = torch.optim.Adam(m.parameters(), 1e-3)
for _ in range(6):
    l = nn.functional.cross_entropy(m(torch.randn(16, 5)), torch.randint(2, (16,)))
    o.zero_grad(); l.backward(); o.step()
