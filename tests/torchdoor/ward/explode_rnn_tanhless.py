# expect: exploding, exploding loss | .*
import torch, torch.nn as nn
torch.manual_seed(0)
class Lin(nn.Module):
    def __init__(s):
        super().__init__(); s.rec = nn.Linear(12, 12); s.inp = nn.Linear(3, 12); s.out = nn.Linear(12, 4)
        nn.init.orthogonal_(s.rec.weight, gain=2.2)
    def forward(s, x):
        h = x.new_zeros(x.shape[1], 12)
        for t in x: h = s.rec(h) + s.inp(t)
        return s.out(h)
m = Lin(); o = torch.optim.AdamW(m.parameters(), 1e-3)
for i in range(8):
    x = torch.randn(40, 16, 3)
    l = nn.functional.cross_entropy(m(x), torch.randint(4, (16,))); o.zero_grad(); l.backward(); o.step()
