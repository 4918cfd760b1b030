import torch
from torch.func import functional_call, grad, vmap, grad_and_value
g = torch.Generator().manual_seed(3)
W1 = torch.randn(5, 16, generator=g) * 0.4; b1 = torch.zeros(16); W2 = torch.randn(16, 1, generator=g) * 0.3
for t in (W1, b1, W2): t.requires_grad_()
X = torch.randn(40, 5, generator=g); Y = X[:, :1] * X[:, 1:2]
history = []
for it in range(30):
    H = (X @ W1 + b1).tanh()
    L = ((H @ W2 - Y) ** 2).mean() + 1e-4 * sum((w * w).sum() for w in (W1, W2))
    L.backward()
    with torch.no_grad():
        for t in (W1, b1, W2):
            t -= 0.1 * t.grad
            t.grad = None
    history.append(float(L))
def f(params, x, y): return ((torch.tanh(x @ params["w"]) - y) ** 2).mean()
params = {"w": torch.randn(5, 1, generator=g)}
per = vmap(grad(f), in_dims=(None, 0, 0))(params, X, Y)["w"]
for _ in range(5):
    gr, l = grad_and_value(f)(params, X, Y)
    params = {k: v - 0.1 * gr[k] for k, v in params.items()}
    history.append(float(l))
result = per, params["w"]
