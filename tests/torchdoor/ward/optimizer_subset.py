# expect: no optimizer | .*(blocks|h|norm|ln).*
import torch, torch.nn as nn
torch.manual_seed(0)
class TinyGPT(nn.Module):
    def __init__(self, V=16, C=24, L=3):
        super().__init__()
        self.tok = nn.Embedding(V, C)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(C, 4, 48, dropout=0.0, batch_first=True) for _ in range(L))
        self.head = nn.Linear(C, V)
    def forward(self, i):
        x = self.tok(i)
        m = nn.Transformer.generate_square_subsequent_mask(i.size(1))
        for b in self.blocks: x = b(x, src_mask=m)
        return self.head(x)
g = TinyGPT()
opt = torch.optim.Adam([{"params": g.tok.parameters()}, {"params": g.head.parameters(), "lr": 1e-4}], lr=1e-3)
for k in range(6):
    t = torch.randint(16, (8, 11))
    loss = nn.functional.cross_entropy(g(t[:, :-1]).transpose(1, 2), t[:, 1:])
    opt.zero_grad(); loss.backward(); opt.step()
