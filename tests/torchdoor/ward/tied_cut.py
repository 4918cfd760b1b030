# expect: tied | .*(wte|tok|emb|head).*
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
class LM(nn.Module):
    def __init__(self, V=30, C=16):
        super().__init__()
        self.wte = nn.Embedding(V, C)
        self.lstm = nn.LSTM(C, C, batch_first=True)
    def forward(self, t):
        h, _ = self.lstm(self.wte(t))
        return F.linear(h, self.wte.weight.detach())  # sick
m = LM(); o = torch.optim.Adam(m.parameters(), 3e-3)
for i in range(8):
    t = torch.randint(30, (8, 12))
    loss = F.cross_entropy(m(t[:, :-1]).flatten(0, 1), t[:, 1:].flatten())
    o.zero_grad(); loss.backward(); o.step()
