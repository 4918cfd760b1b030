import torch
w = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
xs = torch.linspace(-1, 1, 21, dtype=torch.float64)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(12):
    opt.zero_grad(); ((w * xs - 2 * xs) ** 2).mean().backward(); opt.step()
