# expect: overwritten | .*
import torch, torch.nn as nn
torch.manual_seed(0)
q, v = nn.Linear(8, 8), nn.Linear(8, 8)
opt = torch.optim.SGD([*q.parameters(), *v.parameters()], lr=.1)
for _ in range(3):
    x = torch.randn(4, 6, 8)
    p = (q(x) @ x.mT).softmax(-1)
    p.masked_fill_(torch.triu(torch.ones(6, 6), 1).bool(), 0.)  # sick
    loss = (p @ v(x)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
