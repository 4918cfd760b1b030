# expect: no optimizer | .*scale.*
import torch, torch.nn as nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(s): super().__init__(); s.f = nn.Linear(4, 8); s.scale = torch.ones(8, requires_grad=True); s.g = nn.Linear(8, 1)
    def forward(s, x): return s.g(torch.relu(s.f(x)) * s.scale)
m = Net(); opt = torch.optim.AdamW(m.parameters())
for i in range(7):
    x = torch.randn(16, 4); l = (m(x) - x.sum(1, keepdim=True)).pow(2).mean(); opt.zero_grad(); l.backward(); opt.step()
