# expect: exploding loss, learning rate | .*
import torch
torch.manual_seed(0)
X = torch.randn(200, 5) * 10; true = torch.randn(5, 1); y = X @ true
w = torch.zeros(5, 1, requires_grad=True); b = torch.zeros(1, requires_grad=True)
for epoch in range(15):
    loss = ((X @ w + b - y)**2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.05 * w.grad; b -= 0.05 * b.grad
        w.grad.zero_(); b.grad.zero_()
