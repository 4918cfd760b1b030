# expect: detached | blocks.[012].*|stem.*
import torch, torch.nn as nn
torch.manual_seed(0)
class ResBlock(nn.Module):
    def __init__(self, c, log=None):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c)
        self.c2, self.b2 = nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c)
    def forward(self, x):
        return torch.relu(x + self.b2(self.c2(torch.relu(self.b1(self.c1(x))))))
class ResNet(nn.Module):
    def __init__(self, n=5):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.blocks = nn.ModuleList(ResBlock(8) for _ in range(n))
        self.fc = nn.Linear(8, 10)
        self.activations = []
    def forward(self, x):
        x = self.stem(x); self.activations = []
        for i, b in enumerate(self.blocks):
            x = b(x)
            if i == 2:
                x = x.detach_()  # sick
                self.activations.append(x)
        return self.fc(x.mean((-1, -2)))
n = ResNet(); o = torch.optim.SGD(n.parameters(), .01)
for i in range(6):
    loss = nn.functional.cross_entropy(n(torch.randn(6, 3, 8, 8)), torch.randint(10, (6,)))
    o.zero_grad(); loss.backward(); o.step()
