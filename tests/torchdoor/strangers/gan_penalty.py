import torch
from torch import nn, optim, autograd
torch.manual_seed(9)
class G(nn.Module):
    def __init__(self, z=6, h=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(z, h), nn.BatchNorm1d(h), nn.ReLU(True), nn.Linear(h, h), nn.BatchNorm1d(h), nn.ReLU(True), nn.Linear(h, 2))
    def forward(self, z): return self.net(z)
class D(nn.Module):
    def __init__(self, h=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, h), nn.LeakyReLU(0.2), nn.Linear(h, h), nn.LeakyReLU(0.2), nn.Linear(h, 1))
    def forward(self, x): return self.net(x).squeeze(-1)
netG, netD = G(), D()
optG = optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999)); optD = optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
history = []
for it in range(24):
    real = torch.randn(32, 2) * 0.5 + torch.tensor([1.0, -1.0])
    z = torch.randn(32, 6)
    # discriminator
    optD.zero_grad()
    fake = netG(z).detach()
    eps = torch.rand(32, 1)
    mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
    gr, = autograd.grad(netD(mix).sum(), mix, create_graph=True)
    gp = ((gr.norm(2, dim=1) - 1) ** 2).mean()
    lossD = netD(fake).mean() - netD(real).mean() + 10 * gp
    lossD.backward()
    optD.step()
    if it % 2 == 0:
        optG.zero_grad()
        lossG = -netD(netG(z)).mean()
        lossG.backward()
        optG.step()
    history += [lossD.item(), lossG.item()]
