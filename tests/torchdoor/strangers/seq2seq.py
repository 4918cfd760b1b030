import torch, random
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0); random.seed(0)
class Enc(nn.Module):
    def __init__(s): super().__init__(); s.emb = nn.Embedding(15, 16); s.gru = nn.GRU(16, 16, batch_first=True, bidirectional=True); s.fc = nn.Linear(32, 16)
    def forward(s, x): o, h = s.gru(s.emb(x)); return o, torch.tanh(s.fc(torch.cat([h[-2], h[-1]], 1)))
class Dec(nn.Module):
    def __init__(s): super().__init__(); s.emb = nn.Embedding(15, 16); s.attn = nn.Linear(48, 16); s.v = nn.Linear(16, 1, bias=False); s.cell = nn.GRUCell(48, 16); s.out = nn.Linear(64, 15)
    def forward(s, t, h, enc):
        e = s.emb(t)
        a = s.v(torch.tanh(s.attn(torch.cat([h.unsqueeze(1).expand(-1, enc.size(1), -1), enc], 2)))).squeeze(2).softmax(1)
        c = torch.bmm(a.unsqueeze(1), enc).squeeze(1)
        h = s.cell(torch.cat([e, c], 1), h)
        return s.out(torch.cat([h, c, e], 1)), h
enc, dec = Enc(), Dec()
opt = torch.optim.RMSprop([*enc.parameters(), *dec.parameters()], lr=1e-3)
src, trg = torch.randint(0, 15, (10, 7)), torch.randint(0, 15, (10, 8))
history = []
for ep in range(10):
    opt.zero_grad()
    o, h = enc(src)
    outs, t = [], trg[:, 0]
    for i in range(1, 8):
        y, h = dec(t, h, o)
        outs.append(y)
        t = trg[:, i] if random.random() < 0.5 else y.argmax(1)
    loss = F.cross_entropy(torch.stack(outs, 1).flatten(0, 1), trg[:, 1:].flatten())
    loss.backward()
    opt.step()
    history.append(loss.item())
