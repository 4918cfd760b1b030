import torch
from torch import nn
torch.manual_seed(1)
data = torch.randn(20, 16, 5); data[12, 3, 2] = float("nan")
net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1)); o = torch.optim.Adam(net.parameters(), 1e-3)
for batch in data:
    o.zero_grad(); net(batch).square().mean().backward(); o.step()
