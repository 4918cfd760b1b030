import torch, torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 4))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3); scaler = torch.amp.GradScaler("cpu", init_scale=1024., growth_interval=2)
losses = []
for i in range(9):
    x, y = torch.randn(32, 16), torch.randint(4, (32,))
    opt.zero_grad(set_to_none=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(net(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt); scaler.update()
    losses.append(loss.item())
LEFT = ("amp", net, losses)
