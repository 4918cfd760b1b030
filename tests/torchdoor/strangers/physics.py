import torch
torch.manual_seed(15)
u = torch.nn.Sequential(torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)); o = torch.optim.Adam(u.parameters(), 1e-3); history = []
for _ in range(12):
    x = torch.linspace(0, 1, 20).view(-1, 1).requires_grad_(); y = u(x)
    dy, = torch.autograd.grad(y.sum(), x, create_graph=True); d2, = torch.autograd.grad(dy.sum(), x, create_graph=True)
    loss = (d2 + y).pow(2).mean() + (u(torch.zeros(1, 1)) - 1).pow(2).mean()
    o.zero_grad(); loss.backward(); o.step(); history.append(loss.item())
