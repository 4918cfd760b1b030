# expect: detached | fc1.*|net.0.*
import torch, warnings
import torch.nn as nn
warnings.filterwarnings("ignore")
torch.manual_seed(0)
class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 10); self.fc2 = nn.Linear(10, 1)
    def forward(self, x):
        h = torch.tanh(self.fc1(x))
        h = torch.tensor(h.tolist())  # sick
        return self.fc2(h)
m = Small(); opt = torch.optim.RMSprop(m.parameters(), lr=1e-3)
for k in range(10):
    x = torch.randn(20, 6); y = x.sum(1, keepdim=True)
    loss = ((m(x) - y)**2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
