# expect: birth backward | .*
import torch, torch.nn as nn
torch.manual_seed(0)
scale = nn.Parameter(torch.randn(10)); lin = nn.Linear(10, 1)
opt = torch.optim.SGD([scale, *lin.parameters()], lr=.01)
for i in range(5):
    x = torch.randn(32, 10).relu()
    s = scale * x
    feats = torch.where(s > 0, torch.log(s), torch.zeros_like(s))  # sick
    loss = lin(feats).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
