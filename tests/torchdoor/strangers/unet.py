import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(18)
class UNet(nn.Module):
    def __init__(s):
        super().__init__(); s.d1, s.d2 = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 16, 3, stride=2, padding=1); s.n1, s.n2 = nn.GroupNorm(2, 8), nn.GroupNorm(4, 16); s.mid = nn.Conv2d(16, 16, 3, padding=1, groups=4); s.up = nn.ConvTranspose2d(16, 8, 2, 2); s.out = nn.Conv2d(16, 1, 1); s.temb = nn.Sequential(nn.Linear(4, 16), nn.SiLU(), nn.Linear(16, 16))
    def forward(s, x, t):
        a = F.silu(s.n1(s.d1(x))); b = F.silu(s.n2(s.d2(a))) + s.temb(t)[:, :, None, None]; b = b + F.silu(s.mid(b)); return s.out(torch.cat([a, s.up(b)], 1))
u = UNet(); o = torch.optim.AdamW(u.parameters(), 2e-3); history = []
for _ in range(8):
    x0 = torch.randn(6, 1, 8, 8); n = torch.randn_like(x0); a = torch.rand(6, 1, 1, 1); t = torch.randn(6, 4)
    l = F.mse_loss(u(a.sqrt() * x0 + (1 - a).sqrt() * n, t), n); o.zero_grad(); l.backward(); o.step(); history.append(l.item())
