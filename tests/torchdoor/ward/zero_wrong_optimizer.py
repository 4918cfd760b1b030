# expect: stale | (actor|critic|.*).*
import torch, torch.nn as nn
torch.manual_seed(0)
class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = nn.Linear(6, 3), nn.Linear(6, 1)
ac = ActorCritic()
opt_a, opt_c = torch.optim.Adam(ac.actor.parameters(), 1e-3), torch.optim.Adam(ac.critic.parameters(), 1e-3)
for ep in range(10):
    s, r = torch.randn(32, 6), torch.randn(32, 1)
    v = ac.critic(s)
    logp = ac.actor(s).log_softmax(-1)[:, 0]
    opt_a.zero_grad()
    ((r - v.detach()).squeeze() * -logp).mean().backward()
    opt_a.step()
    opt_a.zero_grad()
    (v - r).pow(2).mean().backward()
    opt_c.step()
