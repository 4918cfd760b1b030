# expect: detached | .*
import torch
from torch.func import functional_call
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(1, 20), torch.nn.Tanh(), torch.nn.Linear(20, 1))
lr_in = torch.nn.Parameter(torch.tensor(.1)); opt = torch.optim.Adam([*net.parameters(), lr_in], 1e-3)
for it in range(6):
    p = dict(net.named_parameters()); x = torch.rand(20, 1); y = x * 2
    g = torch.autograd.grad((functional_call(net, p, x) - y).pow(2).mean(), list(p.values()), create_graph=True)
    fast = {k: (v - lr_in * h).detach().requires_grad_() for (k, v), h in zip(p.items(), g)}  # sick
    loss = (functional_call(net, fast, x) - y).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
