# expect: birth forward | .*
import torch, torch.nn as nn
torch.manual_seed(0)
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(8, 6); self.dec = nn.Linear(3, 8)
    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, -1)
        std = torch.exp(logvar)  # sick
        z = mu + std * torch.randn_like(mu)
        kl = 0.5 * (std**2 + mu**2 - 1 - 2*logvar).sum(-1)
        return self.dec(z), kl
m = VAE(); opt = torch.optim.Adam(m.parameters(), 1e-3)
for s in range(6):
    x = torch.randn(16, 8) * (300 if s >= 2 else 1)
    r, kl = m(x)
    loss = ((r - x)**2).sum(-1).mean() + kl.mean()
    opt.zero_grad(); loss.backward(); opt.step()
