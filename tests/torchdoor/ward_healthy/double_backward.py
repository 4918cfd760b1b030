import torch, torch.nn as nn
from torch.func import functional_call
torch.manual_seed(0)
# MAML and a Hessian-vector product; create_graph=True with .backward
m = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 1)); o = torch.optim.Adam(m.parameters(), 1e-2); ls = []
for it in range(6):
    o.zero_grad(); outer = 0
    for task in range(3):
        a = torch.randn(2, 1); x = torch.randn(10, 2); y = x @ a
        ps = dict(m.named_parameters())
        inner = (functional_call(m, ps, (x,)) - y).pow(2).mean()
        gs = torch.autograd.grad(inner, tuple(ps.values()), create_graph=True)
        fast = {k: p - .05 * g for (k, p), g in zip(ps.items(), gs)}
        xq = torch.randn(10, 2); outer = outer + (functional_call(m, fast, (xq,)) - xq @ a).pow(2).mean()
    outer.backward(); o.step(); ls.append(outer.item())
w = torch.randn(6, requires_grad=True)
for i in range(3):
    f = (w.sin() * w.roll(1)).sum()
    f.backward(create_graph=True)
    pen = w.grad.pow(2).sum(); w.grad = None
    pen.backward(); ls.append(pen.item())
    with torch.no_grad(): w -= .01 * w.grad
    w.grad = None
LEFT = ("double", m, w, ls)
