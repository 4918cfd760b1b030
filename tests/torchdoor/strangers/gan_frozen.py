import torch
from torch import nn
torch.manual_seed(4)
netG = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2), nn.Tanh())
netD = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
crit = nn.BCELoss()
oG, oD = torch.optim.Adam(netG.parameters(), 1e-3), torch.optim.Adam(netD.parameters(), 1e-3)
for i in range(16):
    for p in netD.parameters(): p.requires_grad = True
    netD.zero_grad()
    real = torch.rand(20, 2)
    out = netD(real).view(-1); l = torch.ones(20)
    errD_real = crit(out, l); errD_real.backward()
    fake = netG(torch.randn(20, 4)); l.fill_(0)
    errD_fake = crit(netD(fake.detach()).view(-1), l); errD_fake.backward()
    oD.step()
    for p in netD.parameters(): p.requires_grad = False
    netG.zero_grad(); l.fill_(1)
    errG = crit(netD(fake).view(-1), l); errG.backward()
    oG.step()
