# expect: saturated units, saturated gate | .*gate.*
import torch, torch.nn as nn
torch.manual_seed(0)
class Highway(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.transform, self.gate = nn.Linear(d, d), nn.Linear(d, d)
        nn.init.constant_(self.gate.bias, -15.)
    def forward(self, x):
        g = torch.sigmoid(self.gate(x))
        return g * torch.relu(self.transform(x)) + (1 - g) * x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(6, 16); self.hw = Highway(16); self.out = nn.Linear(16, 2)
    def forward(self, x): return self.out(self.hw(self.inp(x)))
n = Net(); opt = torch.optim.Adam(n.parameters(), lr=1e-3)
for _ in range(10):
    loss = nn.functional.cross_entropy(n(torch.randn(64, 6)), torch.randint(2, (64,)))
    opt.zero_grad(); loss.backward(); opt.step()
