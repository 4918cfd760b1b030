import torch, torch.nn as nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
torch.manual_seed(0)
class B(nn.Module):
    def __init__(s, d):
        super().__init__(); s.n = nn.LayerNorm(d); s.f = nn.Sequential(nn.Linear(d, 4*d), nn.GELU(), nn.Dropout(.2), nn.Linear(4*d, d))
    def forward(s, x): return x + s.f(s.n(x))
class M(nn.Module):
    def __init__(s):
        super().__init__(); s.e = nn.Linear(8, 24); s.b = nn.ModuleList(B(24) for _ in range(4)); s.o = nn.Linear(24, 3)
    def forward(s, x):
        x = s.e(x)
        for k, b in enumerate(s.b):
            x = checkpoint(b, x, use_reentrant=bool(k % 2))
        return s.o(x)
m = M(); o = torch.optim.Adam(m.parameters(), 1e-3); ls = []
for i in range(6):
    l = nn.functional.cross_entropy(m(torch.randn(20, 8)), torch.randint(3, (20,)))
    o.zero_grad(); l.backward(); o.step(); ls.append(l.item())
seq = nn.Sequential(*[nn.Sequential(nn.Linear(6, 6), nn.Tanh()) for _ in range(6)])
o2 = torch.optim.SGD(seq.parameters(), .1)
for i in range(4):
    l = checkpoint_sequential(seq, 3, torch.randn(5, 6, requires_grad=True), use_reentrant=False).pow(2).mean()
    o2.zero_grad(); l.backward(); o2.step(); ls.append(l.item())
LEFT = ("checkpoint", m, seq, ls)
