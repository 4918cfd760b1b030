import torch
from torch import nn
from torch.func import functional_call
torch.manual_seed(14)
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1)); meta = torch.optim.Adam(net.parameters(), lr=1e-3); history = []
for it in range(8):
    meta.zero_grad(); total = 0.0
    for task in range(3):
        ph = torch.rand(1) * 3; x = torch.rand(10, 1) * 4 - 2; y = torch.sin(x + ph)
        w = dict(net.named_parameters())
        for k in range(2):
            l = ((functional_call(net, w, (x,)) - y) ** 2).mean()
            gs = torch.autograd.grad(l, list(w.values()), create_graph=True)
            w = {n: p - 0.05 * g for (n, p), g in zip(w.items(), gs)}
        total = total + ((functional_call(net, w, (x,)) - y) ** 2).mean()
    total.backward(); meta.step(); history.append(total.item())
