# expect: learning rate | .*
import torch, torch.nn as nn
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.SGD(m.parameters(), lr=1e-8)
sched = torch.optim.lr_scheduler.StepLR(opt, 100)
x = torch.randn(100, 8); y = x.sin().sum(1, keepdim=True)
for i in range(20):
    opt.zero_grad(); l = (m(x)-y).pow(2).mean(); l.backward(); opt.step(); sched.step()
