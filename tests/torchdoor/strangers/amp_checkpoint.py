import torch, contextlib
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
torch.manual_seed(8)
class Block(nn.Module):
    def __init__(self, d): super().__init__(); self.n = nn.LayerNorm(d); self.a = nn.MultiheadAttention(d, 2, batch_first=True); self.f = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.GELU(approximate="tanh"), nn.Dropout(0.1), nn.Linear(2 * d, d))
    def forward(self, x):
        y = self.n(x); x = x + self.a(y, y, y, need_weights=False)[0]
        return x + self.f(x)
class Net(nn.Module):
    def __init__(self, use_reentrant): super().__init__(); self.inp = nn.Linear(6, 16); self.bs = nn.ModuleList(Block(16) for _ in range(3)); self.out = nn.Linear(16, 2); self.r = use_reentrant
    def forward(self, x):
        x = self.inp(x)
        for b in self.bs: x = checkpoint(b, x, use_reentrant=self.r)
        return self.out(x.mean(1))
history = []
nets = []
for r in (False, True):
    net = Net(r); opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu")
    x, y = torch.randn(12, 5, 6), torch.randint(0, 2, (12,))
    for i in range(9):
        opt.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(opt); scaler.update()
        history.append(loss.item())
    nets.append(net)
netA, netB = nets
