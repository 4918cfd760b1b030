# expect: dead units | .*(bn|block|conv|norm).*
import torch, torch.nn as nn
torch.manual_seed(2)
class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 12, 3, padding=1); self.bn1 = nn.BatchNorm2d(12)
        self.conv2 = nn.Conv2d(12, 12, 3, padding=1); self.bn2 = nn.BatchNorm2d(12)
        self.fc = nn.Linear(12, 10)
        nn.init.constant_(self.bn2.bias, -8.0)
    def forward(self, x):
        x = self.bn1(self.conv1(x)).relu()
        x = self.bn2(self.conv2(x)).relu()
        return self.fc(x.mean((2, 3)))
net = CNN(); opt = torch.optim.SGD(net.parameters(), lr=.01, momentum=.9)
for i in range(8):
    l = nn.functional.cross_entropy(net(torch.randn(16, 3, 10, 10)), torch.randint(10, (16,)))
    opt.zero_grad(); l.backward(); opt.step()
