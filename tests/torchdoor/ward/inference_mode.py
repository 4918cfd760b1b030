# expect: detached | .*(base|backbone|features).*
import torch, torch.nn as nn
torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
head = nn.Linear(16, 3)
@torch.no_grad()
def features(x):
    return backbone(x)  # sick
opt = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.1)
for epoch in range(5):
    x, y = torch.randn(40, 20), torch.randint(3, (40,))
    opt.zero_grad()
    nn.functional.cross_entropy(head(features(x)), y).backward()
    opt.step()
