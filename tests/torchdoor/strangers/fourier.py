import torch
torch.manual_seed(17)
f = torch.nn.Parameter(torch.randn(9, dtype=torch.cfloat) * 0.3); x = torch.randn(8, 16); y = torch.roll(x, 1, 1); o = torch.optim.Adam([f], lr=0.02); history = []
for _ in range(12):
    o.zero_grad(); l = (torch.fft.irfft(torch.fft.rfft(x) * f, n=16) - y).pow(2).mean(); l.backward(); o.step(); history.append(l.item())
