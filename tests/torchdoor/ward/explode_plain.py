# expect: exploding, exploding loss | .*
import torch, torch.nn as nn
torch.manual_seed(0)
class Deep(nn.Module):
    def __init__(self, depth=16, width=32):
        super().__init__()
        self.inp = nn.Linear(8, width)
        self.hidden = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.out = nn.Linear(width, 1)
        for l in self.hidden: nn.init.normal_(l.weight, std=1.0)
    def forward(self, x):
        x = self.inp(x)
        for l in self.hidden: x = torch.relu(l(x))
        return self.out(x)
m = Deep(); opt = torch.optim.Adam(m.parameters(), lr=1e-4)
for i in range(8):
    x = torch.randn(32, 8)
    loss = nn.functional.l1_loss(m(x), x[:, :1])
    opt.zero_grad(); loss.backward(); opt.step()
