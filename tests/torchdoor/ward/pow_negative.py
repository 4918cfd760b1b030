# expect: birth forward, birth backward | .*
import torch, torch.nn as nn
torch.manual_seed(0)
class P(nn.Module):
    def __init__(s): super().__init__(); s.l = nn.Linear(4, 4); s.p = nn.Parameter(torch.full((4,), 1.5)); s.o = nn.Linear(4, 1)
    def forward(s, x):
        return s.o(s.l(x) ** s.p)  # sick
m = P(); o = torch.optim.SGD(m.parameters(), .01)
for i in range(4):
    l = m(torch.randn(8, 4)).pow(2).mean(); o.zero_grad(); l.backward(); o.step()
