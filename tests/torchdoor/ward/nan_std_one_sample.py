# expect: birth forward, birth backward | .*
import torch, torch.nn as nn
torch.manual_seed(0)
lin = nn.Linear(6, 6); head = nn.Linear(6, 1)
opt = torch.optim.SGD(list(lin.parameters()) + list(head.parameters()), lr=.05)
data = torch.randn(33, 6)
for ep in range(2):
    for xb in data.split(16):
        h = lin(xb)
        h = (h - h.mean(0)) / h.std(0)  # sick
        loss = head(h).sigmoid().mean()
        opt.zero_grad(); loss.backward(); opt.step()
