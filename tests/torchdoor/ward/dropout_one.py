# expect: zero factor, dead gate, dead units | .*
import torch, torch.nn as nn
torch.manual_seed(0)
class M(nn.Module):
    def __init__(s): super().__init__(); s.a = nn.Linear(6, 12); s.b = nn.Linear(12, 12); s.c = nn.Linear(12, 2)
    def forward(s, x):
        h = s.a(x).relu()
        h = nn.functional.dropout(s.b(h), p=1.0)  # sick
        return s.c(h)
m = M(); o = torch.optim.Adam(m.parameters(), 1e-3)
for i in range(8):
    l = nn.functional.cross_entropy(m(torch.randn(32, 6)), torch.randint(2, (32,))); o.zero_grad(); l.backward(); o.step()
