# expect: learning rate, no step | .*
import torch, torch.nn as nn
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)); o = torch.optim.Adam(m.parameters(), 1e-3)
s = torch.optim.lr_scheduler.LambdaLR(o, lambda e: 0.0)
for i in range(12):
    x = torch.randn(20, 4); l = m(x).pow(2).mean(); o.zero_grad(); l.backward(); o.step(); s.step()
