# expect: detached | .*log_temp.*|.*temp.*
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(10, 6), nn.Linear(14, 6)
        self.log_temp = nn.Parameter(torch.tensor(0.7))
    def forward(self, u, v):
        u, v = F.normalize(self.a(u), dim=-1), F.normalize(self.b(v), dim=-1)
        scale = self.log_temp.exp().item()  # sick
        return scale * u @ v.t()
m = Clip(); o = torch.optim.AdamW(m.parameters(), 1e-3)
for _ in range(7):
    logits = m(torch.randn(32, 10), torch.randn(32, 14))
    t = torch.arange(32)
    loss = (F.cross_entropy(logits, t) + F.cross_entropy(logits.t(), t)) / 2
    o.zero_grad(); loss.backward(); o.step()
