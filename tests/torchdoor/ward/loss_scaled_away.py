# expect: learning rate, vanishing | .*
import torch, torch.nn as nn
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1)); o = torch.optim.SGD(m.parameters(), .01)
for i in range(10):
    x = torch.randn(50, 5); l = 1e-9 * (m(x) - x[:, :1]).pow(2).mean()
    o.zero_grad(); l.backward(); o.step()
