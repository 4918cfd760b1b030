# expect: growing graph | .*
import torch, torch.nn as nn
torch.manual_seed(0)
cell, out = nn.RNNCell(3, 8), nn.Linear(8, 3)
params = [*cell.parameters(), *out.parameters()]
h = torch.zeros(4, 8)
for i in range(12):
    x = torch.randn(4, 3)
    h = cell(x, h)  # sick
    loss = (out(h) - x).pow(2).mean()
    gs = None
    for p in params: p.grad = None
    loss.backward(retain_graph=True)
    with torch.no_grad():
        for p in params: p.data.add_(p.grad, alpha=-1e-4)
