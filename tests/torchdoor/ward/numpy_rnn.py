# expect: detached | rnn.*|emb.*
import numpy as np, torch, torch.nn as nn
torch.manual_seed(0)
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(30, 12); self.rnn = nn.RNN(12, 20, batch_first=True)
        self.out = nn.Linear(20, 5)
    def forward(self, tok):
        h, _ = self.rnn(self.emb(tok))
        return h
model = Tagger(); opt = torch.optim.Adam(model.parameters(), lr=1e-2); ce = nn.CrossEntropyLoss()
for i in range(9):
    tok = torch.randint(0, 30, (16, 7)); y = torch.randint(0, 5, (16,))
    h = model(tok)
    pooled = np.max(h.detach().numpy(), axis=1)  # sick
    logits = model.out(torch.from_numpy(pooled))
    loss = ce(logits, y)
    opt.zero_grad(); loss.backward(); opt.step()
