import torch
from torch import nn
torch.manual_seed(3)
class Deep(nn.Module):
    def __init__(self, depth=16):
        super().__init__(); self.inp = nn.Linear(7, 20); self.hidden = nn.ModuleList([nn.Linear(20, 20) for _ in range(depth)]); self.head = nn.Linear(20, 2)
    def forward(self, x):
        x = self.inp(x).sigmoid()
        for l in self.hidden: x = l(x).sigmoid()
        return self.head(x)
d = Deep(); crit = nn.CrossEntropyLoss(); o = torch.optim.Adam(d.parameters())
for _ in range(6):
    o.zero_grad(); crit(d(torch.randn(32, 7)), torch.randint(0, 2, (32,))).backward(); o.step()
