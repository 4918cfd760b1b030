# expect: birth backward | .*
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 4))
    def forward(self, a, b):
        d = self.net(a) - self.net(b)
        return torch.sqrt((d * d).sum(-1))  # sick
m = Siamese(); opt = torch.optim.Adam(m.parameters())
for i in range(6):
    a = torch.randn(20, 5); b = torch.randn(20, 5)
    if i == 2: b[3] = a[3]
    same = (torch.rand(20) > .5).float()
    d = m(a, b)
    loss = (same * d**2 + (1-same) * F.relu(1 - d)**2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
