# expect: dead units | (body\.)?2.*|.*2.*
import torch, torch.nn as nn
torch.manual_seed(0)
body = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
with torch.no_grad():
    body[2].bias.fill_(-20.)
opt = torch.optim.Adam(body.parameters(), lr=1e-3)
for step in range(10):
    x = torch.randn(64, 8)
    loss = nn.functional.mse_loss(body(x), x.sum(1, keepdim=True))
    opt.zero_grad(); loss.backward(); opt.step()
