# expect: detached | encoder.*
import torch, torch.nn as nn
torch.manual_seed(0)
class Seq2Seq(nn.Module):
    def __init__(self, v=25, h=24):
        super().__init__()
        self.encoder = nn.ModuleDict({"emb": nn.Embedding(v, h), "lstm": nn.LSTM(h, h, num_layers=2, batch_first=True)})
        self.decoder = nn.LSTM(h, h, num_layers=2, batch_first=True)
        self.demb = nn.Embedding(v, h)
        self.out = nn.Linear(h, v)
    def forward(self, src, tgt):
        _, state = self.encoder["lstm"](self.encoder["emb"](src))
        state = tuple(s.detach() for s in state)  # sick
        y, _ = self.decoder(self.demb(tgt), state)
        return self.out(y)
m = Seq2Seq(); opt = torch.optim.Adam(m.parameters())
for s in range(5):
    src, tgt = torch.randint(25, (12, 9)), torch.randint(25, (12, 9))
    loss = nn.functional.cross_entropy(m(src, tgt[:, :-1]).reshape(-1, 25), tgt[:, 1:].reshape(-1))
    opt.zero_grad(); loss.backward(); opt.step()
