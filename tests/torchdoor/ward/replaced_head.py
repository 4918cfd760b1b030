# expect: strangers, no optimizer | .*(fc|head|classifier).*
import torch, torch.nn as nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.classifier = nn.Linear(24, 10)
    def forward(self, x): return self.classifier(self.features(x))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
net.classifier = nn.Linear(24, 3)      # fine-tune on 3 classes
for i in range(8):
    loss = nn.functional.cross_entropy(net(torch.randn(12, 1, 9, 9)), torch.randint(3, (12,)))
    opt.zero_grad(); loss.backward(); opt.step()
