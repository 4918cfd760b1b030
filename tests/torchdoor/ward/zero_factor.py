# expect: zero factor | .*(branch|aux|side).*
import torch, torch.nn as nn
torch.manual_seed(0)
class R(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Linear(6, 6); self.branch = nn.Linear(6, 6); self.out = nn.Linear(6, 1)
        self.register_buffer("gain", torch.zeros(1))
    def forward(self, x):
        return self.out(self.main(x) + self.gain * self.branch(x).tanh())  # sick
m = R(); o = torch.optim.Adam(m.parameters(), 1e-3)
for i in range(8):
    x = torch.randn(32, 6)
    loss = (m(x) - x[:, :1]).pow(2).mean()
    o.zero_grad(); loss.backward(); o.step()
