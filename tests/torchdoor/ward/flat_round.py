# expect: flat | .*enc.*
import torch, torch.nn as nn
torch.manual_seed(0)
class Q(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(8, 4); self.dec = nn.Linear(4, 8)
    def forward(self, x):
        z = torch.sigmoid(self.enc(x)) * 15
        z = torch.round(z) / 15  # sick
        return self.dec(z)
m = Q(); o = torch.optim.Adam(m.parameters(), 1e-3)
for i in range(8):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(m(x), x)
    o.zero_grad(); loss.backward(); o.step()
