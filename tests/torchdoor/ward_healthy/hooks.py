import torch, torch.nn as nn
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)); seen = []
m[0].weight.register_hook(lambda g: g.clamp(-.01, .01))
m[2].register_forward_hook(lambda mod, i, out: out * 1.5)
m[2].register_full_backward_hook(lambda mod, gi, go: (gi[0] * .5,))
m[4].register_full_backward_pre_hook(lambda mod, go: (go[0] * 2,))
m[0].weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.norm().item()))
torch.nn.utils.parametrizations.spectral_norm(m[2])
o = torch.optim.SGD(m.parameters(), .1); ls = []
for i in range(8):
    x = torch.randn(16, 4); h = m[1](m[0](x)); h.retain_grad(); h.register_hook(lambda g: g + 1e-3)
    l = m[4](m[3](m[2](h))).pow(2).mean()
    l.grad_fn.register_hook(lambda gi, go: None)
    l.grad_fn.register_prehook(lambda go: (go[0] * 1.1,))
    o.zero_grad(); l.backward(); seen.append(h.grad.sum().item()); o.step(); ls.append(l.item())
LEFT = ("hooks", m, ls, seen)
