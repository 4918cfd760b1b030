# expect: strangers, no optimizer, no step | .*
import copy, torch, torch.nn as nn
torch.manual_seed(0)
proto = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 1))
opt = torch.optim.Adam(proto.parameters(), lr=1e-3)
model = copy.deepcopy(proto)
for i in range(8):
    x = torch.randn(30, 6)
    loss = nn.functional.smooth_l1_loss(model(x), x.sum(1, keepdim=True))
    opt.zero_grad(); model.zero_grad()
    loss.backward(); opt.step()
