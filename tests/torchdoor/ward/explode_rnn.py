# expect: exploding, exploding loss | .*
import torch, torch.nn as nn
torch.manual_seed(0)
W = nn.Parameter(torch.randn(16, 16) * 1.2); U = nn.Parameter(torch.randn(5, 16) * 0.3); V = nn.Parameter(torch.randn(16, 1)*0.1)
opt = torch.optim.SGD([W, U, V], lr=1e-27)
for i in range(6):
    x = torch.randn(20, 12, 5)
    h = torch.zeros(12, 16)
    for t in range(20):
        h = torch.nn.functional.relu(h @ W + x[t] @ U)
    loss = ((h @ V)**2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
