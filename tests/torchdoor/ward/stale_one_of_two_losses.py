# expect: stale | .*
import torch, torch.nn as nn
torch.manual_seed(0)
class E(nn.Module):
    def __init__(s): super().__init__(); s.enc = nn.LSTM(3, 8, batch_first=True); s.dec = nn.Linear(8, 3)
    def forward(s, x): return s.dec(s.enc(x)[0])
m = E(); o = torch.optim.Adam(m.parameters(), 1e-3)
for epoch in range(3):
    o.zero_grad()
    for b in range(5):
        x = torch.randn(4, 6, 3)
        (m(x) - x).abs().mean().backward()
        o.step()
