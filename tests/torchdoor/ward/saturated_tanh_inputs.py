# expect: saturated units | .*(fc1|0).*
import torch, torch.nn as nn
torch.manual_seed(0)
class Reg(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(16, 32); self.fc2 = nn.Linear(32, 1)
    def forward(self, x): return self.fc2(torch.tanh(self.fc1(x)))
m = Reg(); o = torch.optim.Adam(m.parameters(), lr=1e-3)
pixels = torch.randint(0, 65536, (256, 16)).float()      # forgot to normalise 16-bit pixels
y = pixels.mean(1, keepdim=True) / 65536
for ep in range(4):
    for i in range(4):
        xb, yb = pixels[i*64:(i+1)*64], y[i*64:(i+1)*64]
        loss = nn.functional.mse_loss(m(xb), yb)
        o.zero_grad(); loss.backward(); o.step()
