import torch, torch.nn as nn
torch.manual_seed(21)
class WordLM(nn.Module):
    def __init__(self, ntok=40, ninp=24, nhid=32, nlayers=2):
        super().__init__()
        self.drop = nn.Dropout(0.1)
        self.encoder = nn.Embedding(ntok, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers, dropout=0.1)
        self.decoder = nn.Linear(nhid, ntok)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
    def forward(self, x, hidden):
        out, hidden = self.rnn(self.drop(self.encoder(x)), hidden)
        return self.decoder(self.drop(out)).view(-1, 40), hidden
def repackage_hidden(h):
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage_hidden(v) for v in h)
model = WordLM(); crit = nn.CrossEntropyLoss()
data = torch.randint(0, 40, (101, 6)); lr = 1.0
history = []
for epoch in range(2):
    hidden = (torch.zeros(2, 6, 32), torch.zeros(2, 6, 32))
    total = 0.0
    for i in range(0, 100, 10):
        x, y = data[i:i + 10], data[i + 1:i + 11].reshape(-1)
        hidden = repackage_hidden(hidden)
        model.zero_grad()
        out, hidden = model(x, hidden)
        loss = crit(out, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
        total += loss.item()
    history.append(total)
