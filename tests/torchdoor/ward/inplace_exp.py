# expect: overwritten | .*
import torch, torch.nn as nn
torch.manual_seed(0)
l1, l2 = nn.Linear(5, 7), nn.Linear(7, 1)
opt = torch.optim.SGD([*l1.parameters(), *l2.parameters()], lr=.1)
for i in range(4):
    x = torch.randn(10, 5)
    h = torch.sigmoid(l1(x))
    out = l2(h)
    h += 1.0  # sick
    loss = (out**2).mean() + h.mean()
    opt.zero_grad(); loss.backward(); opt.step()
