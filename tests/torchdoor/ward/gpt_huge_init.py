# expect: exploding, saturated units, saturated gate, vanishing | .*
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.qkv = nn.Linear(c, 3*c); self.o = nn.Linear(c, c); self.up = nn.Linear(c, 4*c); self.down = nn.Linear(4*c, c)
    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        a = (q @ k.transpose(-2, -1) / q.size(-1)**.5).softmax(-1)
        x = x + self.o(a @ v)
        return x + self.down(F.relu(self.up(x)))
class GPT(nn.Module):
    def __init__(self, c=32, L=5):
        super().__init__()
        self.wte = nn.Embedding(20, c); self.h = nn.ModuleList(Block(c) for _ in range(L)); self.head = nn.Linear(c, 20)
        for p in self.parameters():
            if p.dim() > 1: nn.init.normal_(p, std=1.0)
    def forward(self, t):
        x = self.wte(t)
        for b in self.h: x = b(x)
        return self.head(x)
m = GPT(); o = torch.optim.Adam(m.parameters(), lr=1e-4)
for i in range(6):
    t = torch.randint(20, (4, 10))
    l = F.cross_entropy(m(t[:, :-1]).flatten(0, 1), t[:, 1:].flatten()); o.zero_grad(); l.backward(); o.step()
