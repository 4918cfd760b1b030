import torch, torch.nn as nn, copy, threading
from torch.optim.swa_utils import AveragedModel
torch.manual_seed(0)
# EMA teacher, gradient accumulation, param groups, scheduler, weight norm, complex, buffers
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.SiLU(), nn.Flatten(), nn.Linear(4*16, 10)); ema = AveragedModel(net)
teacher = copy.deepcopy(net).eval().requires_grad_(False)
o = torch.optim.SGD([{"params": net[:2].parameters(), "lr": .01}, {"params": net[4].parameters()}], lr=.1, momentum=.9, nesterov=True)
s = torch.optim.lr_scheduler.OneCycleLR(o, .1, total_steps=12); ls = []
for i in range(12):
    for k in range(2):
        x = torch.randn(8, 1, 6, 6); z = net(x)
        l = (nn.functional.cross_entropy(z, torch.randint(10, (8,))) + nn.functional.kl_div(z.log_softmax(-1), teacher(x).softmax(-1), reduction="batchmean")) / 2
        l.backward(); ls.append(l.item())
    o.step(); o.zero_grad(); s.step(); ema.update_parameters(net)
    if i % 4 == 3:
        net.eval()
        with torch.no_grad(): ls.append(net(torch.randn(4, 1, 6, 6)).sum().item())
        net.train()
c = torch.randn(5, dtype=torch.complex64, requires_grad=True)
for i in range(3):
    c.grad = None; l = (torch.fft.fft(c).abs()**2).mean(); l.backward()
    with torch.no_grad(): c -= .1 * c.grad
d = torch.zeros(3, requires_grad=True); (d * 2).backward(torch.ones(3)); 
def other():
    (d * 3).sum().backward()
t = threading.Thread(target=other); t.start(); t.join()
torch.autograd.backward([d.sum(), (d * d).sum() + d.mean()])
LEFT = ("misc", net, ema, c, d, ls)
