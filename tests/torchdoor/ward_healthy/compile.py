import torch, torch.nn as nn
import torch._dynamo
from torch._dynamo.utils import counters
torch._dynamo.reset(); counters.clear()
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1)); o = torch.optim.Adam(m.parameters(), .01); ls = []
c = torch.compile(m, backend="aot_eager")
for i in range(6):
    x = torch.randn(16, 6); l = (c(x) - x[:, :1]).pow(2).mean(); o.zero_grad(); l.backward(); o.step(); ls.append(l.item())
@torch.compile(backend="aot_eager")
def f(x, w): return torch.nn.functional.softplus(x @ w).sum()
w = torch.randn(6, 3, requires_grad=True)
for i in range(3):
    f(torch.randn(4, 6), w).backward(); ls.append(w.grad.norm().item())
LEFT = ("compile", m, ls, counters["stats"]["unique_graphs"], sum(counters["graph_break"].values()))
