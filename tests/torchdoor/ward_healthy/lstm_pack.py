import torch, torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
torch.manual_seed(0)
class M(nn.Module):
    def __init__(s):
        super().__init__(); s.e = nn.Embedding(20, 8, padding_idx=0, sparse=True); s.l = nn.LSTM(8, 12, 2, batch_first=True, dropout=.2, bidirectional=True); s.o = nn.Linear(24, 4)
    def forward(s, t, n):
        h, _ = s.l(pack_padded_sequence(s.e(t), n, batch_first=True, enforce_sorted=False)); h, _ = pad_packed_sequence(h, batch_first=True)
        return s.o(h.mean(1))
m = M(); a = torch.optim.SparseAdam(m.e.parameters(), 1e-3); b = torch.optim.Adam([p for n, p in m.named_parameters() if not n.startswith("e.")], 1e-3); ls = []
for i in range(6):
    n = torch.randint(2, 9, (10,)); t = torch.randint(1, 20, (10, 8)); t[torch.arange(8) >= n[:, None]] = 0
    l = nn.functional.cross_entropy(m(t, n), torch.randint(4, (10,))); a.zero_grad(); b.zero_grad(); l.backward(); a.step(); b.step(); ls.append(l.item())
LEFT = ("lstm", m, ls)
