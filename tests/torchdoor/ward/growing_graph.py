# expect: growing graph | .*
import torch, torch.nn as nn
torch.manual_seed(0)
cell = nn.GRUCell(3, 10); out = nn.Linear(10, 3)
params = list(cell.parameters()) + list(out.parameters())
opt = torch.optim.SGD(params, lr=1e-4)
total = 0
h = torch.zeros(4, 10)
for step in range(10):
    x = torch.randn(4, 3)
    h = cell(x, h.detach())
    total = total + (out(h) - x).pow(2).mean()  # sick
    opt.zero_grad()
    (total / (step + 1)).backward(retain_graph=True)
    with torch.no_grad():
        for p in params: p.data.sub_(1e-4 * p.grad)
