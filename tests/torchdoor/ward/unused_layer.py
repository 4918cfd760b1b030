# expect: unreachable, never reached | aux.*|.*aux.*
import torch, torch.nn as nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(7, 20), nn.Tanh())
        self.aux = nn.Linear(20, 4)
        self.out = nn.Linear(20, 2)
    def forward(self, x):
        h = self.trunk(x)
        aux = self.aux(h)
        return self.out(h), aux
n = Net(); o = torch.optim.Adam(n.parameters(), 1e-3)
for _ in range(8):
    logits, aux = n(torch.randn(32, 7))
    loss = nn.functional.cross_entropy(logits, torch.randint(2, (32,)))
    o.zero_grad(); loss.backward(); o.step()
