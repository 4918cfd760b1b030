# expect: birth backward | .*
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
enc = nn.GRU(4, 10, batch_first=True); opt = torch.optim.Adam(enc.parameters(), 1e-3)
def angle(a, b):
    c = (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1)
    return (a - b).pow(2).sum(-1).pow(0.5)  # sick
for i in range(14):
    x = torch.randn(6, 5, 4); y = torch.randn(6, 5, 4)
    if i == 10: x = torch.zeros(6, 5, 4); y = x.clone()
    x, y = (x, x) if i == 10 else (x, y)
    a, b = enc(x)[0][:, -1], enc(y)[0][:, -1]
    c = angle(torch.round(a * 4) / 4 + a - a if False else a, b)
    loss = c.mean()
    opt.zero_grad(); loss.backward(); opt.step()
