import torch
from torch import nn
from torch.autograd import Function
torch.manual_seed(0)
class SafeSqrt(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(min=0).sqrt(); ctx.save_for_backward(y); return y
    @staticmethod
    def backward(ctx, g):
        y, = ctx.saved_tensors; return g / (2 * y)
net = nn.Linear(5, 5); o = torch.optim.SGD(net.parameters(), 0.1); x = torch.randn(20, 5)
for _ in range(4):
    o.zero_grad()
    h = net(x)
    r = SafeSqrt.apply(h)  # sick
    r.sum().backward()
    o.step()
