# expect: detached | stem.*|features.*|backbone.*
import torch
from torch import nn
torch.manual_seed(0)
class ConvBlock(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(cout)
    def forward(self, x):
        return torch.relu(self.bn(self.conv(x)))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(ConvBlock(1, 8), nn.MaxPool2d(2), ConvBlock(8, 16))
        self.head = nn.Linear(16, 4)
    def forward(self, x):
        f = self.backbone(x)
        pooled = f.data.mean(dim=(2, 3))  # sick
        return self.head(pooled)
def main():
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    crit = nn.CrossEntropyLoss()
    for step in range(8):
        x = torch.randn(16, 1, 8, 8); y = torch.randint(0, 4, (16,))
        opt.zero_grad()
        loss = crit(net(x), y)
        loss.backward()
        opt.step()
if __name__ == "__main__":
    main()
