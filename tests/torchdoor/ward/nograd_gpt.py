# expect: detached | (transformer\.)?(wte|wpe|h\.0.*|h\.1.*).*
import math, torch, torch.nn as nn
from torch.nn import functional as F
torch.manual_seed(7)
class Block(nn.Module):
    def __init__(self, c, heads):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(c), nn.LayerNorm(c)
        self.qkv = nn.Linear(c, 3*c); self.proj = nn.Linear(c, c)
        self.mlp = nn.Sequential(nn.Linear(c, 4*c), nn.GELU(), nn.Linear(4*c, c))
        self.heads = heads
    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln1(x)).chunk(3, -1)
        q, k, v = (t.view(B, T, self.heads, C//self.heads).transpose(1, 2) for t in (q, k, v))
        att = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(att.transpose(1, 2).reshape(B, T, C))
        return x + self.mlp(self.ln2(x))
class GPT(nn.Module):
    def __init__(self, V=20, T=16, C=32, L=4, freeze_below=2):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, C), nn.Embedding(T, C)
        self.h = nn.ModuleList(Block(C, 4) for _ in range(L))
        self.ln_f = nn.LayerNorm(C); self.lm_head = nn.Linear(C, V, bias=False)
        self.freeze_below = freeze_below
    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        with torch.no_grad():
            for b in self.h[:self.freeze_below]:
                x = b(x)  # sick
        for b in self.h[self.freeze_below:]:
            x = b(x)
        logits = self.lm_head(self.ln_f(x))
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())
model = GPT()
opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
for it in range(6):
    ix = torch.randint(0, 20, (8, 17))
    _, loss = model(ix[:, :-1], ix[:, 1:])
    opt.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
