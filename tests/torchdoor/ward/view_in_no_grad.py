# expect: detached | .*enc.*
import torch, torch.nn as nn
torch.manual_seed(0)
class N(nn.Module):
    def __init__(s): super().__init__(); s.enc = nn.Conv1d(2, 8, 3, padding=1); s.head = nn.Linear(8, 3)
    def forward(s, x):
        h = s.enc(x).relu()
        with torch.no_grad():
            last = h[:, :, -1]  # sick
        return s.head(last)
m = N(); opt = torch.optim.Adam(m.parameters())
for i in range(6):
    l = nn.functional.cross_entropy(m(torch.randn(8, 2, 12)), torch.randint(3, (8,))); opt.zero_grad(); l.backward(); opt.step()
