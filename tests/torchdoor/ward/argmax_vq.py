# expect: detached | (.*enc.*)|(.*encoder.*)
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(3)
class VQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(10, 16)
        self.book = nn.Embedding(16, 8)
        self.dec = nn.Linear(8, 10)
    def forward(self, x):
        code = self.enc(x).argmax(-1)  # sick
        return self.dec(self.book(code))
vq = VQ()
opt = torch.optim.Adam(vq.parameters(), lr=2e-3)
X = torch.randn(128, 10)
for ep in range(6):
    rec = vq(X)
    l = F.mse_loss(rec, X)
    opt.zero_grad(); l.backward(); opt.step()
