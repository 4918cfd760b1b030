# expect: vanishing | .*
import torch
from torch import nn
torch.manual_seed(5)
# remember the first token over 60 steps
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(4, 16)
        nn.init.normal_(self.cell.weight_hh, std=0.02)
        self.readout = nn.Linear(16, 4)
    def forward(self, xs):
        h = xs.new_zeros(xs.shape[1], 16)
        for x in xs:
            h = self.cell(x, h)
        return self.readout(h)
m = Model(); opt = torch.optim.Adam(m.parameters(), lr=1e-3)
for it in range(10):
    first = torch.randint(4, (32,))
    xs = torch.zeros(60, 32, 4); xs[0] = nn.functional.one_hot(first, 4).float()
    loss = nn.functional.cross_entropy(m(xs), first)
    opt.zero_grad(); loss.backward(); opt.step()
