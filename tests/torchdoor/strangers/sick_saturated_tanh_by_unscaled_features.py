import torch
from torch import nn
torch.manual_seed(3)
feats = torch.randn(100, 6) * torch.tensor([1.0, 1e4, 5e3, 1.0, 2e4, 3e3]); price = torch.randn(100, 1)
reg = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1)); opt = torch.optim.Adam(reg.parameters(), lr=1e-3)
for b in range(0, 100, 10):
    opt.zero_grad(); nn.functional.l1_loss(reg(feats[b:b+10]), price[b:b+10]).backward(); opt.step()
