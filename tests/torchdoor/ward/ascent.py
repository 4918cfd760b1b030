# expect: ascent, exploding loss | .*
import torch, torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
x = torch.randn(60, 5); y = x.sum(1, keepdim=True)
for i in range(12):
    loss = (net(x) - y).pow(2).mean()
    net.zero_grad(); loss.backward()
    with torch.no_grad():
        for p in net.parameters(): p += 0.01 * p.grad
