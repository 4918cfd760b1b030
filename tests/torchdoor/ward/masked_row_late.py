# expect: birth forward | .*
import torch, torch.nn as nn
torch.manual_seed(0)
emb, q, k, v, o = nn.Embedding(20, 8, padding_idx=0), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 20)
mods = nn.ModuleList([emb, q, k, v, o]); opt = torch.optim.Adam(mods.parameters())
for i in range(5):
    x = torch.randint(1, 20, (4, 6))
    if i == 2: x[1] = 0
    e = emb(x); s = q(e) @ k(e).mT / 8 ** .5
    s = s.masked_fill((x == 0)[:, None, :], float("-inf"))
    a = torch.softmax(s, -1)  # sick
    loss = nn.functional.cross_entropy(o(a @ v(e)).flatten(0, 1), x.flatten(), ignore_index=0); opt.zero_grad(); loss.backward(); opt.step()
