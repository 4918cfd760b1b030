# expect: zero factor | 1\.c1
import torch, torch.nn as nn
torch.manual_seed(0)
class R(nn.Module):
    def __init__(s): super().__init__(); s.c1 = nn.Conv2d(4, 4, 3, padding=1); s.bn = nn.BatchNorm2d(4); nn.init.zeros_(s.bn.weight); s.bn.weight.requires_grad_(False)
    def forward(s, x): return x + s.bn(s.c1(x).relu())
net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), R(), nn.Flatten(), nn.Linear(4 * 36, 3)); opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], .01)
for i in range(6):
    l = nn.functional.cross_entropy(net(torch.randn(8, 1, 6, 6)), torch.randint(3, (8,))); opt.zero_grad(); l.backward(); opt.step()
