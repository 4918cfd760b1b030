# expect: identical units | .*
import torch, torch.nn as nn
torch.manual_seed(0)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 16); self.b = nn.Linear(16, 1)
        for p in self.parameters(): nn.init.constant_(p, 0.1)
    def forward(self, x): return self.b(torch.tanh(self.a(x)))
m = M(); opt = torch.optim.SGD(m.parameters(), lr=.05)
for i in range(10):
    x = torch.randn(40, 6)
    opt.zero_grad(); (m(x) - x[:, :1]).pow(2).mean().backward(); opt.step()
