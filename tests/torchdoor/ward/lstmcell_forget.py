# expect: vanishing, saturated units | .*
import torch, torch.nn as nn
torch.manual_seed(0)
class M(nn.Module):
    def __init__(s):
        super().__init__(); s.c = nn.LSTMCell(4, 12); s.o = nn.Linear(12, 4)
        with torch.no_grad(): s.c.bias_ih[12:24] = -15.; s.c.weight_hh.mul_(.01)
    def forward(s, xs):
        h = c = torch.zeros(xs.shape[1], 12)
        for x in xs: h, c = s.c(x, (h, c))
        return s.o(h)
m = M(); o = torch.optim.Adam(m.parameters(), 1e-3)
for i in range(6):
    y = torch.randint(4, (16,)); xs = torch.zeros(30, 16, 4); xs[0] = nn.functional.one_hot(y, 4).float()
    l = nn.functional.cross_entropy(m(xs), y); o.zero_grad(); l.backward(); o.step()
