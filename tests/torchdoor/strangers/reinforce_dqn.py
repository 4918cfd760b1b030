import torch, copy, random
from torch import nn
from torch.distributions import Categorical, Normal
torch.manual_seed(0); random.seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3)); value = nn.Linear(4, 1)
opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=3e-3)
history = []
for ep in range(12):
    logp, vals, rew = [], [], []
    s = torch.randn(4)
    for t in range(10):
        d = Categorical(logits=policy(s)); a = d.sample()
        logp.append(d.log_prob(a)); vals.append(value(s).squeeze()); rew.append(float(a.item() == (s.argmax().item() % 3)))
        s = torch.randn(4)
    R, rets = 0.0, []
    for r in rew[::-1]: R = r + 0.9 * R; rets.insert(0, R)
    rets = torch.tensor(rets); vals = torch.stack(vals)
    adv = rets - vals.detach()
    loss = -(torch.stack(logp) * adv).mean() + (vals - rets).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step(); history.append(loss.item())
q = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2)); target = copy.deepcopy(q)
oq = torch.optim.Adam(q.parameters(), 1e-3)
for it in range(12):
    s, a, r, s2 = torch.randn(16, 4), torch.randint(0, 2, (16, 1)), torch.randn(16), torch.randn(16, 4)
    with torch.no_grad(): y = r + 0.9 * target(s2).max(1).values
    l = nn.functional.smooth_l1_loss(q(s).gather(1, a).squeeze(1), y)
    oq.zero_grad(); l.backward(); oq.step()
    if it % 4 == 3: target.load_state_dict(q.state_dict())
    history.append(l.item())
