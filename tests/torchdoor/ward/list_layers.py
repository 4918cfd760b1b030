# expect: no optimizer | .*(layers|blocks|hidden).*
import torch, torch.nn as nn
torch.manual_seed(0)
class ResMLP(nn.Module):
    def __init__(self, depth=5, d=16):
        super().__init__()
        self.inp = nn.Linear(4, d)
        self.layers = [nn.Linear(d, d) for _ in range(depth)]     # not a ModuleList
        self.out = nn.Linear(d, 1)
    def forward(self, x):
        x = self.inp(x)
        for l in self.layers: x = x + torch.relu(l(x))
        return self.out(x)
n = ResMLP(); o = torch.optim.AdamW(n.parameters(), 1e-3)
for _ in range(8):
    x = torch.randn(32, 4)
    loss = (n(x) - x.prod(1, keepdim=True)).abs().mean()
    o.zero_grad(); loss.backward(); o.step()
