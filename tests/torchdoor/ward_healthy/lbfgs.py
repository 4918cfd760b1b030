import torch, torch.nn as nn
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(3, 10), nn.Tanh(), nn.Linear(10, 1)); x = torch.randn(50, 3); y = torch.sin(x.sum(1, keepdim=True))
o = torch.optim.LBFGS(m.parameters(), lr=.5, max_iter=8, line_search_fn="strong_wolfe"); ls = []
def closure():
    o.zero_grad(); l = (m(x) - y).pow(2).mean(); l.backward(); return l
for i in range(5): ls.append(o.step(closure).item())
LEFT = ("lbfgs", m, ls)
