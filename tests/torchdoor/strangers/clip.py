import torch, copy
from torch import nn
import torch.nn.functional as F
torch.manual_seed(16)
class Clip(nn.Module):
    def __init__(s): super().__init__(); s.i = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 8)); s.t = nn.Sequential(nn.Linear(9, 24), nn.ReLU(), nn.Linear(24, 8)); s.logit_scale = nn.Parameter(torch.tensor(2.6592))
    def forward(s, a, b): a, b = F.normalize(s.i(a), dim=-1), F.normalize(s.t(b), dim=-1); return s.logit_scale.exp() * a @ b.t()
m = Clip(); o = torch.optim.AdamW(m.parameters(), lr=1e-3); A, B = torch.randn(16, 12), torch.randn(16, 9); history = []
for _ in range(12):
    s = m(A, B); l = (F.cross_entropy(s, torch.arange(16)) + F.cross_entropy(s.T, torch.arange(16))) / 2
    o.zero_grad(); l.backward(); o.step(); history.append(l.item())
    with torch.no_grad(): m.logit_scale.clamp_(max=4.6)
