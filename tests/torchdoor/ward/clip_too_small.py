# expect: learning rate | .*
import torch, torch.nn as nn
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1)); o = torch.optim.SGD(m.parameters(), .01)
for i in range(12):
    x = torch.randn(50, 5); l = (m(x) - x[:, :1]).pow(2).mean(); o.zero_grad(); l.backward()
    nn.utils.clip_grad_norm_(m.parameters(), 1e-6); o.step()
