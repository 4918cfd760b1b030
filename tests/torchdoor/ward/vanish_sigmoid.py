# expect: vanishing | .*
import torch, torch.nn as nn
torch.manual_seed(0)
layers = [nn.Linear(10, 24), nn.Sigmoid()]
for _ in range(18):
    layers += [nn.Linear(24, 24), nn.Sigmoid()]
layers += [nn.Linear(24, 2)]
net = nn.Sequential(*layers)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(12):
    x, y = torch.randn(64, 10), torch.randint(2, (64,))
    loss = nn.CrossEntropyLoss()(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
