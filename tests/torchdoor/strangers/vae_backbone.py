import torch, copy
from torch import nn
torch.manual_seed(12)
class VAE(nn.Module):
    def __init__(s): super().__init__(); s.h = nn.Linear(12, 24); s.mu, s.lv = nn.Linear(24, 3), nn.Linear(24, 3); s.d = nn.Sequential(nn.Linear(3, 24), nn.ELU(), nn.Linear(24, 12))
    def forward(s, x):
        h = torch.relu(s.h(x)); mu, lv = s.mu(h), s.lv(h); z = mu + torch.randn_like(mu) * (0.5 * lv).exp(); return s.d(z), mu, lv
v = VAE(); ema = copy.deepcopy(v).requires_grad_(False); o = torch.optim.Adam(v.parameters(), lr=1e-3); x = torch.rand(50, 12)
history = []
for _ in range(20):
    r, mu, lv = v(x); l = nn.functional.binary_cross_entropy_with_logits(r, x, reduction="sum") / 50 - 0.5 * (1 + lv - mu ** 2 - lv.exp()).sum(1).mean()
    o.zero_grad(); l.backward(); o.step(); history.append(l.item())
    with torch.no_grad():
        for a, b in zip(ema.parameters(), v.parameters()): a.lerp_(b, 0.1)
back = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()
for p in back.parameters(): p.requires_grad_(False)
head = nn.Linear(8, 3); full = nn.Sequential(back, head); oh = torch.optim.SGD(head.parameters(), lr=0.1)
im, y = torch.randn(20, 3, 8, 8), torch.randint(0, 3, (20,))
for _ in range(8):
    oh.zero_grad(); l = nn.functional.cross_entropy(full(im), y); l.backward(); oh.step(); history.append(l.item())
