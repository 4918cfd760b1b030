# expect: zero factor | .*aux.*
import torch, torch.nn as nn
torch.manual_seed(0)
class N(nn.Module):
    def __init__(s): super().__init__(); s.body = nn.Linear(6, 12); s.main = nn.Linear(12, 2); s.aux = nn.Linear(12, 3)
    def forward(s, x): h = s.body(x).relu(); return s.main(h), s.aux(h)
n = N(); o = torch.optim.Adam(n.parameters(), 1e-3); alpha = 0
for i in range(8):
    a, b = n(torch.randn(32, 6))
    loss = nn.functional.cross_entropy(a, torch.randint(2, (32,))) + alpha * b.pow(2).mean()  # sick
    o.zero_grad(); loss.backward(); o.step()
