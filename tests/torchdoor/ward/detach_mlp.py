# expect: detached | encoder.*
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(1)
class Autoencoder(nn.Module):
    def __init__(self, d=12, h=8, z=3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, z))
        self.decoder = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, d))
    def forward(self, x):
        z = self.encoder(x)
        self.last_code = z = z.detach()  # sick
        return self.decoder(z)
net = Autoencoder()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
data = torch.randn(256, 12)
for epoch in range(3):
    for i in range(0, 256, 64):
        xb = data[i:i+64]
        loss = F.mse_loss(net(xb), xb)
        opt.zero_grad(); loss.backward(); opt.step()
    print(epoch, float(loss))
