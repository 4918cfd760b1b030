import torch, copy
from torch import nn
import torch.nn.functional as F
class LightningModule(nn.Module):
    def training_step(self, batch, i): raise NotImplementedError
    def configure_optimizers(self): raise NotImplementedError
    def log(self, name, value): self.logged.setdefault(name, []).append(float(value))
class Trainer:
    def __init__(self, max_epochs, accumulate=1, clip=None): self.max_epochs, self.acc, self.clip = max_epochs, accumulate, clip
    def fit(self, module, loader, val):
        module.logged = {}
        (opt,), (sch,) = module.configure_optimizers()
        n = 0
        for epoch in range(self.max_epochs):
            module.train()
            for i, batch in enumerate(loader):
                loss = module.training_step(batch, i) / self.acc
                loss.backward()
                n += 1
                if n % self.acc == 0:
                    if self.clip: nn.utils.clip_grad_value_(module.parameters(), self.clip)
                    opt.step()
                    opt.zero_grad()
            sch.step()
            module.eval()
            with torch.no_grad():
                for batch in val: module.validation_step(batch)
class Classifier(LightningModule):
    def __init__(self, lr=0.02):
        super().__init__()
        self.lr = lr
        self.encoder = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Conv2d(8, 12, 3), nn.BatchNorm2d(12), nn.LeakyReLU(0.1, inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(12, 4))
    def forward(self, x): return self.head(self.encoder(x))
    def training_step(self, batch, i):
        x, y = batch
        logits = self(x)
        loss = F.cross_entropy(logits, y, label_smoothing=0.1)
        self.log("loss", loss.detach()); self.log("acc", (logits.argmax(1) == y).float().mean())
        return loss
    def validation_step(self, batch):
        x, y = batch; self.log("val", F.cross_entropy(self(x), y))
    def configure_optimizers(self):
        o = torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.9, nesterov=True)
        return [o], [torch.optim.lr_scheduler.CosineAnnealingLR(o, 5)]
torch.manual_seed(5)
data = torch.utils.data.TensorDataset(torch.randn(96, 1, 14, 14), torch.randint(0, 4, (96,)))
loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True, num_workers=2)
module = Classifier()
Trainer(3, accumulate=2, clip=0.5).fit(module, loader, torch.utils.data.DataLoader(data, batch_size=48))
history = module.logged["loss"] + module.logged["val"]
