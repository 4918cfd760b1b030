# expect: zero factor, saturated gate, saturated units, flat | .*
import torch, torch.nn as nn
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1), nn.Softmax(dim=1))
o = torch.optim.Adam(m.parameters(), 1e-3)
for i in range(8):
    x = torch.randn(32, 6)
    l = nn.functional.binary_cross_entropy(m(x), (x[:, :1] > 0).float()); o.zero_grad(); l.backward(); o.step()
