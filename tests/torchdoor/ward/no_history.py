# expect: no history | .*
import torch, torch.nn as nn
torch.manual_seed(0)
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=.1)
def validate(x, y):
    with torch.no_grad():
        return nn.functional.cross_entropy(net(x), y)  # sick
for i in range(5):
    loss = validate(torch.randn(8, 4), torch.randint(2, (8,)))
    opt.zero_grad(); loss.backward(); opt.step()
