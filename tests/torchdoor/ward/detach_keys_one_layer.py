# expect: detached | layers.1.k.*|layers.2.k.*
import torch, torch.nn as nn
torch.manual_seed(0)
class Att(nn.Module):
    def __init__(self, c, stop):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(c, c), nn.Linear(c, c), nn.Linear(c, c); self.n = nn.LayerNorm(c); self.stop = stop
    def forward(self, x):
        y = self.n(x)
        k = self.k(y)
        if self.stop: k = k.detach()  # sick
        return x + (self.q(y) @ k.mT / 4).softmax(-1) @ self.v(y)
class T(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(10, 16); self.layers = nn.ModuleList(Att(16, i == 2) for i in range(4)); self.o = nn.Linear(16, 10)
    def forward(self, t):
        x = self.e(t)
        for l in self.layers: x = l(x)
        return self.o(x)
m = T(); o = torch.optim.Adam(m.parameters(), 1e-3)
for i in range(6):
    t = torch.randint(10, (8, 7)); l = nn.functional.cross_entropy(m(t).transpose(1, 2), t.flip(1))
    o.zero_grad(); l.backward(); o.step()
