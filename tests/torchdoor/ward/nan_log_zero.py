# expect: birth forward | .*
import torch, torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(dim=-1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def entropy(p):
    return -(p * torch.log(p)).sum(-1).mean()  # sick
for step in range(6):
    x = torch.randn(16, 4) * (1 if step < 3 else 1e4)
    p = net(x)
    loss = entropy(p)
    opt.zero_grad(); loss.backward(); opt.step()
