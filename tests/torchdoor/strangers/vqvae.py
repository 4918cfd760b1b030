import torch
from torch import nn
from torch.autograd import Function
torch.manual_seed(6)
class Swish(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x); return x * torch.sigmoid(x)
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors; s = torch.sigmoid(x); return g * (s * (1 + x * (1 - s)))
class VQ(nn.Module):
    def __init__(self, k=16, d=8):
        super().__init__(); self.codebook = nn.Embedding(k, d); nn.init.uniform_(self.codebook.weight, -0.5, 0.5)
    def forward(self, z):
        d = torch.cdist(z, self.codebook.weight)
        idx = d.argmin(1)
        q = self.codebook(idx)
        loss = ((q - z.detach()) ** 2).mean() + 0.25 * ((q.detach() - z) ** 2).mean()
        return z + (q - z).detach(), loss, idx
class VQVAE(nn.Module):
    def __init__(self):
        super().__init__(); self.e1, self.e2 = nn.Linear(10, 16), nn.Linear(16, 8); self.vq = VQ(); self.d1, self.d2 = nn.Linear(8, 16), nn.Linear(16, 10)
    def forward(self, x):
        z = self.e2(Swish.apply(self.e1(x))); q, l, i = self.vq(z); return self.d2(Swish.apply(self.d1(q))), l
m = VQVAE(); o = torch.optim.Adam(m.parameters(), lr=2e-3); x = torch.randn(64, 10)
history = []
for _ in range(20):
    r, l = m(x); loss = (r - x).pow(2).mean() + l
    o.zero_grad(); loss.backward(); o.step(); history.append(loss.item())
