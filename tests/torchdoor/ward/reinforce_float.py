# expect: detached | mu.*
import torch, torch.nn as nn
torch.manual_seed(0)
mu = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1)); base = nn.Linear(3, 1)
opt = torch.optim.Adam([*mu.parameters(), *base.parameters()], 1e-3)
for ep in range(8):
    lps, rs, bs = [], [], []
    for t in range(12):
        s = torch.randn(3); d = torch.distributions.Normal(mu(s), 1.); a = d.sample()
        lps.append(float(d.log_prob(a)))  # sick
        bs.append(base(s)); rs.append(-float((a - s.sum()) ** 2))
    r = torch.tensor(rs); b = torch.cat(bs)
    loss = -(torch.tensor(lps) * (r - b)).mean() + (r - b).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
