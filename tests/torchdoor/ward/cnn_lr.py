# expect: learning rate, exploding loss, dead units | .*
import torch, torch.nn as nn
torch.manual_seed(0)
m = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8*16, 5))
o = torch.optim.Adam(m.parameters(), lr=5.)
X, y = torch.randn(32, 1, 8, 8), torch.randint(5, (32,))
for i in range(16):
    l = nn.functional.cross_entropy(m(X), y); o.zero_grad(); l.backward(); o.step()
