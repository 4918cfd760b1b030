# expect: overwritten | .*
import torch, torch.nn as nn
torch.manual_seed(0)
class Gate(nn.Module):
    def __init__(s, c): super().__init__(); s.f = nn.Conv2d(c, c, 1)
    def forward(s, x):
        g = torch.tanh(s.f(x))
        x = x * g
        g.clamp_(min=0)  # sick
        return x + g
m = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), Gate(4), Gate(4), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
o = torch.optim.SGD(m.parameters(), .01)
for i in range(4):
    l = nn.functional.cross_entropy(m(torch.randn(6, 1, 6, 6)), torch.randint(2, (6,))); o.zero_grad(); l.backward(); o.step()
