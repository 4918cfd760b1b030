# expect: detached | theta
import torch
torch.manual_seed(0)
theta = {f"w{k}": torch.randn(10, 10).mul(.3).requires_grad_() for k in range(5)}
out = torch.randn(10, 1).mul(.3).requires_grad_()
opt = torch.optim.Adam([*theta.values(), out], 1e-3)
def f(x):
    for k in range(5):
        x = torch.tanh(x @ theta[f"w{k}"]) + x
        if k == 2: x = x.clone().detach()  # sick
    return x @ out
for i in range(8):
    x = torch.randn(64, 10); l = (f(x) - x.sum(1, keepdim=True)).abs().mean(); opt.zero_grad(); l.backward(); opt.step()
