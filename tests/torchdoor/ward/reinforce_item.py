# expect: detached | policy.*
import torch, torch.nn as nn
from torch.distributions import Categorical
torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
value = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-3)
for episode in range(8):
    s = torch.randn(4); logps, rewards, values = [], [], []
    for t in range(15):
        d = Categorical(logits=policy(s)); a = d.sample()
        logps.append(d.log_prob(a).item())  # sick
        values.append(value(s))
        rewards.append(float(a) + .1 * float(torch.randn(())))
        s = torch.randn(4)
    R, rets = 0., []
    for r in rewards[::-1]:
        R = r + .9 * R; rets.insert(0, R)
    rets = torch.tensor(rets); v = torch.cat(values)
    loss = -(torch.tensor(logps) * (rets - v.detach())).sum() + ((rets - v) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
