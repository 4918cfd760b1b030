# expect: birth forward | .*
import torch, torch.nn as nn
torch.manual_seed(0)
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 8, batch_first=True); self.rate = nn.Linear(8, 1)
    def forward(self, x): return torch.relu(self.rate(self.rnn(x)[0])) + 0.
net = Counter(); opt = torch.optim.SGD(net.parameters(), lr=1e-3)
nn.init.constant_(net.rate.bias, 2.)
for i in range(12):
    x = torch.randn(4, 5 + i % 3, 3)
    if i == 6: nn.init.constant_(net.rate.bias, -2.)
    lam = net(x)
    loss = (lam - torch.log(lam)).mean()  # sick
    opt.zero_grad(); loss.backward(); opt.step()
