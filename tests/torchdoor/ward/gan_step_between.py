# expect: overwritten | .*
import torch, torch.nn as nn
torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(.2), nn.Linear(16, 1))
og, od = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)
bce = nn.BCEWithLogitsLoss()
for i in range(5):
    real = torch.randn(32, 2) + 2
    fake = G(torch.randn(32, 4))
    d_fake = D(fake)
    loss_d = bce(D(real), torch.ones(32, 1)) + bce(d_fake, torch.zeros(32, 1))
    loss_g = bce(d_fake, torch.ones(32, 1))
    od.zero_grad(); loss_d.backward(retain_graph=True); od.step()  # sick
    og.zero_grad(); loss_g.backward(); og.step()
