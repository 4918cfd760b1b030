import torch
torch.manual_seed(1)
p = torch.nn.Parameter(torch.tensor([-1.2, 1.0], dtype=torch.float64))
opt = torch.optim.LBFGS([p], lr=1, max_iter=20, line_search_fn="strong_wolfe")
history = []
def closure():
    opt.zero_grad()
    loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
    loss.backward()
    history.append(float(loss))
    return loss
for _ in range(6): opt.step(closure)
A, b = torch.randn(50, 4), torch.randint(0, 2, (50,)).float()
lin = torch.nn.Linear(4, 1)
o2 = torch.optim.LBFGS(lin.parameters(), lr=0.5)
for _ in range(4):
    def c2():
        o2.zero_grad(); l = torch.nn.functional.binary_cross_entropy_with_logits(lin(A).squeeze(1), b) + 1e-2 * lin.weight.square().sum(); l.backward(); return l
    o2.step(c2)
