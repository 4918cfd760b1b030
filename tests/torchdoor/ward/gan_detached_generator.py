# expect: detached | (gen\.|G\.)?(0|2).*
import torch, torch.nn as nn
torch.manual_seed(0)
gen = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2)); disc = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(.2), nn.Linear(16, 1))
og = torch.optim.Adam(gen.parameters(), 1e-3); od = torch.optim.Adam(disc.parameters(), 1e-3)
bce = nn.functional.binary_cross_entropy_with_logits
for i in range(8):
    real = torch.randn(32, 2) + 1
    fake = gen(torch.randn(32, 3)).detach()  # sick
    ld = bce(disc(real), torch.ones(32, 1)) + bce(disc(fake), torch.zeros(32, 1))
    od.zero_grad(); ld.backward(); od.step()
    lg = bce(disc(fake), torch.ones(32, 1)); og.zero_grad(); lg.backward(); og.step()
