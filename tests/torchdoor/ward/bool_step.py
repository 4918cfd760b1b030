# expect: flat, detached, unreachable | .*gate.*
import torch, torch.nn as nn
torch.manual_seed(0)
class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 8); self.lin = nn.Linear(8, 8); self.out = nn.Linear(8, 1)
    def forward(self, x):
        on = (self.gate(x) > 0).float()  # sick
        return self.out(on * self.lin(x))
m = Sparse(); o = torch.optim.Adam(m.parameters(), 1e-3)
for _ in range(8):
    x = torch.randn(40, 8)
    l = nn.functional.binary_cross_entropy_with_logits(m(x), (x.sum(1, keepdim=True) > 0).float())
    o.zero_grad(); l.backward(); o.step()
