import copy, torch, torch.nn as nn
torch.manual_seed(0)
online = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8)); pred = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
target = copy.deepcopy(online)
for p in target.parameters(): p.requires_grad_(False)
opt = torch.optim.SGD([*online.parameters(), *pred.parameters()], .05, momentum=.9, nesterov=True); ls = []
def apart(p, z): return 2 - 2 * nn.functional.cosine_similarity(p, z.detach(), dim=-1).mean()
for i in range(12):
    x = torch.randn(32, 8); a, b = x + .1 * torch.randn_like(x), x + .1 * torch.randn_like(x)
    loss = apart(pred(online(a)), target(b)) + apart(pred(online(b)), target(a)); ls.append(loss.item())
    opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        for p, q in zip(target.parameters(), online.parameters()): p.mul_(.99).add_(q, alpha=.01)
LEFT = ("ema", online, pred, target, ls)
