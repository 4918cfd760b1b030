# expect: detached, no history, unreachable | .*
import torch, torch.nn as nn
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1)); o = torch.optim.SGD(m.parameters(), .01)
for i in range(6):
    x = torch.randn(9, 5)
    mse = ((m(x) - 1)**2).mean()
    loss = torch.tensor(mse.item(), requires_grad=True)  # sick
    o.zero_grad(); loss.backward(); o.step()
