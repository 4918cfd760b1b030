# expect: stale | .*
import torch, torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Conv1d(2, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(6*8, 3))
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
opt.zero_grad()
for step in range(12):
    x, y = torch.randn(16, 2, 10), torch.randint(3, (16,))
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
