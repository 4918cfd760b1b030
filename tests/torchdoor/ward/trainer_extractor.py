# expect: detached | (model\.)?(features|backbone).*
import torch, torch.nn as nn
torch.manual_seed(0)
class Extractor(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
    def forward(self, x):
        return self.c(x).mean((2, 3))
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = Extractor(); self.cls = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
        self.train_features = False
    def forward(self, x):
        with torch.set_grad_enabled(self.train_features):
            f = self.features(x)  # sick
        return self.cls(f)
class Trainer:
    def __init__(self, model, lr):
        self.model = model; self.opt = torch.optim.AdamW(model.parameters(), lr=lr); self.loss_fn = nn.CrossEntropyLoss()
    def step(self, x, y):
        self.opt.zero_grad()
        loss = self.loss_fn(self.model(x), y); loss.backward(); self.opt.step()
        return loss.item()
    def fit(self, n):
        for _ in range(n): self.step(torch.randn(8, 3, 6, 6), torch.randint(3, (8,)))
Trainer(Model(), 1e-3).fit(9)
