# expect: dead units, learning rate, exploding loss | .*
import torch, torch.nn as nn
torch.manual_seed(0)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2, self.l3 = nn.Linear(10, 40), nn.Linear(40, 40), nn.Linear(40, 1)
    def forward(self, x):
        return self.l3(self.l2(self.l1(x).relu()).relu())
m = M(); opt = torch.optim.SGD(m.parameters(), lr=8.0)
x = torch.randn(128, 10); y = x[:, :1] * 2 + 1
for s in range(40):
    loss = (m(x) - y).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
