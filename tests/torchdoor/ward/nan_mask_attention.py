# expect: birth forward | .*
import torch, torch.nn as nn
torch.manual_seed(0)
class Attn(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))
    def forward(self, x, keep):
        score = self.q(x) @ self.k(x).transpose(-1, -2) / 4
        score = score.masked_fill(~keep[:, None, :], float("-inf"))
        return torch.softmax(score, -1) @ self.v(x)  # sick
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(40, 16, padding_idx=0); self.attn = Attn(); self.out = nn.Linear(16, 2)
    def forward(self, tok):
        return self.out(self.attn(self.emb(tok), tok != 0).mean(1))
net = Net(); opt = torch.optim.Adam(net.parameters())
for i in range(5):
    tok = torch.randint(1, 40, (8, 6))
    if i == 3: tok[2] = 0
    loss = nn.functional.cross_entropy(net(tok), torch.randint(2, (8,)))
    opt.zero_grad(); loss.backward(); opt.step()
