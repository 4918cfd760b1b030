# expect: no optimizer | (D\.|disc\.)?(trunk|features).*
import torch, torch.nn as nn
torch.manual_seed(0)
class Disc(nn.Module):
    def __init__(self):
        super().__init__(); self.trunk = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(.2)); self.head = nn.Linear(16, 1)
    def forward(self, x): return self.head(self.trunk(x))
gen = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2)); disc = Disc()
og = torch.optim.Adam(gen.parameters(), 1e-3); od = torch.optim.Adam(disc.head.parameters(), 1e-3)
bce = nn.functional.binary_cross_entropy_with_logits
for i in range(8):
    real = torch.randn(32, 2) + 1; fake = gen(torch.randn(32, 3))
    ld = bce(disc(real), torch.ones(32, 1)) + bce(disc(fake.detach()), torch.zeros(32, 1))
    od.zero_grad(); disc.trunk.zero_grad(); ld.backward(); od.step()
    lg = bce(disc(fake), torch.ones(32, 1)); og.zero_grad(); lg.backward(); og.step()
