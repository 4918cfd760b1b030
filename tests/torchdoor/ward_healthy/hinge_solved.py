import torch, torch.nn as nn
torch.manual_seed(0)
net = nn.Linear(4, 1); x = torch.randn(40, 4); x[:, 0] = x[:, 0].sign() * (2 + x[:, 0].abs()); y = x[:, :1].sign()
opt = torch.optim.SGD(net.parameters(), .08); ls = []
for i in range(60):
    loss = (1 - y * net(x)).clamp(min=0).mean(); ls.append(loss.item())
    opt.zero_grad(); loss.backward(); opt.step()
LEFT = ("hinge", net, ls)
