import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm, spectral_norm
torch.manual_seed(13)
class Tower(nn.Module):
    def __init__(s):
        super().__init__(); s.e = nn.EmbeddingBag(30, 8, mode="sum", sparse=True); s.a = weight_norm(nn.Linear(8, 16)); s.b = spectral_norm(nn.Linear(16, 16)); s.h1, s.h2 = nn.Linear(16, 1), nn.Linear(16, 4)
    def forward(s, i, off): z = torch.nn.functional.mish(s.b(torch.nn.functional.softplus(s.a(s.e(i, off))))); return s.h1(z).squeeze(1), s.h2(z)
t = Tower(); seen = []
t.h1.weight.register_hook(lambda g: seen.append(g.norm().item()))
t.b.register_full_backward_hook(lambda m, gi, go: seen.append(go[0].norm().item()))
sp = torch.optim.SparseAdam(list(t.e.parameters()), lr=1e-2); de = torch.optim.Adam([p for n, p in t.named_parameters() if not n.startswith("e.")], lr=1e-3)
i, off = torch.randint(0, 30, (60,)), torch.arange(0, 60, 3); y, c = torch.randn(20), torch.randint(0, 4, (20,))
history = []
for _ in range(10):
    a, b = t(i, off); la, lb = nn.functional.huber_loss(a, y), nn.functional.cross_entropy(b, c)
    sp.zero_grad(); de.zero_grad()
    la.backward(retain_graph=True); (0.5 * lb).backward()
    sp.step(); de.step(); history += [la.item(), lb.item()]
history += seen
