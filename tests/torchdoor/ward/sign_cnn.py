# expect: flat | .*(conv1|bn1).*
import torch, torch.nn as nn
torch.manual_seed(0)
class B(nn.Module):
    def __init__(s): super().__init__(); s.conv1 = nn.Conv2d(1, 6, 3); s.bn1 = nn.BatchNorm2d(6); s.conv2 = nn.Conv2d(6, 6, 3); s.bn2 = nn.BatchNorm2d(6); s.fc = nn.Linear(6, 3)
    def forward(s, x):
        x = torch.sign(s.bn1(s.conv1(x)))  # sick
        return s.fc(s.bn2(s.conv2(x)).relu().amax((2, 3)))
m = B(); o = torch.optim.SGD(m.parameters(), .01)
for i in range(8):
    l = nn.functional.cross_entropy(m(torch.randn(16, 1, 7, 7)), torch.randint(3, (16,))); o.zero_grad(); l.backward(); o.step()
