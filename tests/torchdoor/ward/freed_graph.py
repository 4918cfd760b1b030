# expect: freed graph | .*
import torch, torch.nn as nn
torch.manual_seed(0)
rnn = nn.RNN(3, 8); head = nn.Linear(8, 1)
opt = torch.optim.Adam([*rnn.parameters(), *head.parameters()], 1e-3)
hidden = torch.zeros(1, 4, 8)
for chunk in range(5):
    x = torch.randn(6, 4, 3)
    y, hidden = rnn(x, hidden)
    loss = head(y).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
