# expect: learning rate, exploding loss, dead units | .*
import torch, torch.nn as nn
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(8, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1))
opt = torch.optim.Adam(m.parameters(), lr=3.0)
x = torch.randn(100, 8); y = x.sin().sum(1, keepdim=True)
for i in range(30):
    opt.zero_grad(); l = (m(x)-y).pow(2).mean(); l.backward(); opt.step()
