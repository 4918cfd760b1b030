# expect: reset too soon | .*
import torch, torch.nn as nn
torch.manual_seed(0)
m = nn.GRU(4, 8, batch_first=True); head = nn.Linear(8, 1)
opt = torch.optim.Adam([*m.parameters(), *head.parameters()], lr=1e-3)
for i in range(8):
    x = torch.randn(10, 5, 4)
    out, _ = m(x)
    loss = (head(out[:, -1]) - x.sum((1, 2))[:, None]).pow(2).mean()
    loss.backward()
    opt.zero_grad()
    opt.step()
