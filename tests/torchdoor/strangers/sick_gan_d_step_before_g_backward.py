import torch
from torch import nn
torch.manual_seed(0)
netG = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
netD = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
oG, oD = torch.optim.SGD(netG.parameters(), 1e-2), torch.optim.SGD(netD.parameters(), 1e-2)
for it in range(4):
    fake = netG(torch.randn(8, 4))
    score = netD(fake)
    lossG = -score.mean()
    oD.zero_grad(); oG.zero_grad()
    (score.mean() - netD(torch.randn(8, 2)).mean()).backward(retain_graph=True)
    oD.step()  # sick
    lossG.backward()
    oG.step()
