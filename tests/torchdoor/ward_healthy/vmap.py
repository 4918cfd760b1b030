import torch, torch.nn as nn
from torch.func import vmap, grad, functional_call, jacrev, stack_module_state
torch.manual_seed(0)
m = nn.Linear(3, 1); x, y = torch.randn(20, 3), torch.randn(20, 1)
def loss(p, x, y): return (functional_call(m, p, (x,)) - y).pow(2).sum()
ps = {k: v.detach() for k, v in m.named_parameters()}
per = vmap(grad(loss), (None, 0, 0))(ps, x, y)
J = jacrev(lambda w: (x @ w.T).sin())(m.weight.detach())
models = [nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1)) for _ in range(4)]
params, buffers = stack_module_state(models)
o = torch.optim.Adam(params.values(), 1e-2); ls = []
for i in range(6):
    out = vmap(lambda p, b, x: functional_call(models[0], (p, b), (x,)), (0, 0, None))(params, buffers, x)
    l = (out - y).pow(2).mean(); o.zero_grad(); l.backward(); o.step(); ls.append(l.item())
LEFT = ("vmap", list(per.values()), J, list(params.values()), ls)
