# expect: unreachable, never reached | .*spare.*
import torch, torch.nn as nn
torch.manual_seed(0)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(3, 3); self.spare = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
    def forward(self, x): return self.used(x)
m = M()
for p in m.parameters(): p.grad = torch.zeros_like(p)
opt = torch.optim.SGD(m.parameters(), lr=.1, weight_decay=.01)
for i in range(8):
    opt.zero_grad(set_to_none=False)
    m(torch.randn(10, 3)).pow(2).mean().backward(); opt.step()
