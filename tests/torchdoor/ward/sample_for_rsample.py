# expect: detached | .*enc.*
import torch, torch.nn as nn
from torch.distributions import Normal
torch.manual_seed(0)
enc = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 4)); dec = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 10))
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], 1e-3)
for i in range(8):
    x = torch.randn(32, 10); mu, ls = enc(x).chunk(2, 1)
    z = Normal(mu, ls.exp()).sample()  # sick
    loss = (dec(z) - x).pow(2).mean(); opt.zero_grad(); loss.backward(); opt.step()
    if i % 4 == 0: print(i, loss.item(), mu.mean().item())
