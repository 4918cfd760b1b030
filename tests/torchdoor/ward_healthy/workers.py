import torch, torch.nn as nn
from torch.utils.data import Dataset, DataLoader
class D(Dataset):
    def __len__(s): return 64
    def __getitem__(s, i):
        g = torch.Generator().manual_seed(i); x = torch.randn(6, generator=g); return x, x.sum() + torch.rand(())
if __name__ == "__main__":
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1)); o = torch.optim.SGD(m.parameters(), .01); ls = []
    dl = DataLoader(D(), batch_size=16, shuffle=True, num_workers=2)
    for ep in range(2):
        for x, y in dl:
            l = (m(x).squeeze() - y).pow(2).mean(); o.zero_grad(); l.backward(); o.step(); ls.append(l.item())
    LEFT = ("workers", m, ls)
