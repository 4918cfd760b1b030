import torch, torch.nn as nn
torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(.2), nn.Linear(32, 32), nn.LeakyReLU(.2), nn.Linear(32, 1))
og = torch.optim.Adam(G.parameters(), 1e-3, betas=(0., .9)); od = torch.optim.Adam(D.parameters(), 1e-3, betas=(0., .9)); ls = []
for i in range(12):
    real = torch.randn(32, 2) * .5 + 2
    with torch.no_grad(): fake = G(torch.randn(32, 4))
    a = torch.rand(32, 1); mix = (a * real + (1 - a) * fake).requires_grad_()
    g, = torch.autograd.grad(D(mix).sum(), mix, create_graph=True)
    ld = D(fake).mean() - D(real).mean() + 10 * ((g.norm(dim=1) - 1)**2).mean()
    od.zero_grad(); ld.backward(); od.step()
    if i % 3 == 2:
        for p in D.parameters(): p.requires_grad_(False)
        lg = -D(G(torch.randn(32, 4))).mean()
        og.zero_grad(); lg.backward(); og.step()
        for p in D.parameters(): p.requires_grad_(True)
        ls.append(lg.item())
    ls.append(ld.item())
LEFT = ("wgan-gp", G, D, ls)
