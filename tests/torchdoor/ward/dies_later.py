# expect: dead units | (net\.)?3.*|.*
import torch, torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.Conv2d(6, 6, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(6*36, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(20):
    if i == 5:
        with torch.no_grad(): net[3].bias -= 100.     # a bad checkpoint
    loss = nn.functional.cross_entropy(net(torch.randn(16, 1, 6, 6)), torch.randint(4, (16,)))
    opt.zero_grad(); loss.backward(); opt.step()
