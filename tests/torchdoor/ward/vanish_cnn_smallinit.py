# expect: vanishing | .*
import torch, torch.nn as nn
torch.manual_seed(0)
def make(depth=10, ch=8):
    mods = [nn.Conv2d(3, ch, 3, padding=1), nn.ReLU()]
    for _ in range(depth): mods += [nn.Conv2d(ch, ch, 3, padding=1), nn.ReLU()]
    mods += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(ch, 5)]
    return nn.Sequential(*mods)
net = make()
for p in net.modules():
    if isinstance(p, nn.Conv2d):
        nn.init.normal_(p.weight, std=0.01); nn.init.zeros_(p.bias)
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
for i in range(6):
    loss = nn.functional.cross_entropy(net(torch.randn(8, 3, 8, 8)), torch.randint(5, (8,)))
    opt.zero_grad(); loss.backward(); opt.step()
