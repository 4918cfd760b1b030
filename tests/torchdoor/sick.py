"""A bank of sick PyTorch scripts: four families of programs, and what can be done to each.

A case is a script as text. The line to blame ends in ``# sick``; a case says the kind of the
verdict and the groups that may be named.
"""

from __future__ import annotations

from dataclasses import dataclass

MLP = """
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 32)
        self.fc2 = nn.Linear(32, 32)
        self.fc3 = nn.Linear(32, 32)
        self.out = nn.Linear(32, 3)

    def forward(self, x):
        h1 = torch.relu(self.fc1(x))  #1
        h2 = torch.relu(self.fc2(h1))  #2
        h3 = torch.tanh(self.fc3(h2))  #3
        return self.out(h3)  #4


model = Net()
#made
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)  #optimizer
x, y = torch.randn(64, 8), torch.randint(0, 3, (64,))  #data
for step in range(9):
    optimizer.zero_grad()  #zero
    logits = model(x)  #model
    loss = F.cross_entropy(logits, y)  #loss
    loss.backward()  #backward
    optimizer.step()  #step
"""

CNN = """
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(16)
        self.head = nn.Linear(16 * 4 * 4, 5)

    def forward(self, x):
        a = F.relu(self.bn1(self.conv1(x)))  #1
        a = F.max_pool2d(a, 2)  #2
        b = F.relu(self.bn2(self.conv2(a)))  #3
        b = F.max_pool2d(b, 2)
        return self.head(b.flatten(1))  #4


model = Net()
#made
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  #optimizer
x, y = torch.randn(16, 1, 16, 16), torch.randint(0, 5, (16,))  #data
for step in range(6):
    optimizer.zero_grad()  #zero
    logits = model(x)  #model
    loss = F.cross_entropy(logits, y)  #loss
    loss.backward()  #backward
    optimizer.step()  #step
"""

RNN = """
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 12)
        self.cell = nn.RNNCell(12, 16)
        self.norm = nn.LayerNorm(16)
        self.out = nn.Linear(16, 11)

    def forward(self, tokens):
        h = torch.zeros(tokens.shape[0], 16)  #0
        losses = []
        for t in range(tokens.shape[1] - 1):
            e = self.embed(tokens[:, t])  #1
            h = self.cell(e, h)  #2
            z = self.norm(h)  #3
            losses.append(F.cross_entropy(self.out(z), tokens[:, t + 1]))  #4
        return torch.stack(losses).mean()


model = Net()
#made
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  #optimizer
tokens = torch.randint(0, 11, (16, 9))  #data
for step in range(6):
    optimizer.zero_grad()  #zero
    loss = model(tokens)  #loss
    loss.backward()  #backward
    optimizer.step()  #step
"""

GPT = """
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.ln_2 = nn.LayerNorm(width)
        self.fc = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.attn(self.ln_1(x)).chunk(3, dim=-1)  #1
        att = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  #2
        mask = torch.ones(x.size(1), x.size(1)).tril() == 0
        att = F.softmax(att.masked_fill(mask, float("-inf")), dim=-1)  #3
        x = x + self.proj(att @ v)  #4
        m = F.gelu(self.fc(self.ln_2(x)))  #5
        return x + self.down(m)  #6


class GPT(nn.Module):
    def __init__(self, vocab=29, width=24, layers=3, context=12):
        super().__init__()
        self.wte = nn.Embedding(vocab, width)
        self.wpe = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)
        self.head.weight = self.wte.weight
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, tokens):
        x = self.wte(tokens)  #7
        x = x + self.wpe(torch.arange(tokens.size(1)))  #8
        for block in self.blocks:
            x = block(x)  #9
        return self.head(self.ln_f(x))  #10


model = GPT()
#made
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)  #optimizer
tokens = torch.randint(0, 29, (8, 13))  #data
for step in range(5):
    optimizer.zero_grad()  #zero
    logits = model(tokens[:, :-1])  #model
    loss = F.cross_entropy(logits.reshape(-1, 29), tokens[:, 1:].reshape(-1))  #loss
    loss.backward()  #backward
    optimizer.step()  #step
"""


@dataclass(frozen=True)
class Case:
    """One sick script: its text, the kind of its alarm, the groups that may be named, and whether
    there is a line to name."""

    name: str
    text: str
    kind: str
    groups: tuple[str, ...]

    @property
    def line(self) -> int:
        """The line to blame; 0 where there is none."""
        for number, line in enumerate(self.text.splitlines(), start=1):
            if line.rstrip().endswith("# sick"):
                return number
        return 0


def changed(base: str, *changes: tuple[str, str]) -> str:
    """A script with the lines at some anchors replaced; the others lose their anchors."""
    lines = []
    todo = dict(changes)
    for line in base.splitlines():
        code, mark, anchor = line.rpartition("#")
        if mark and anchor.strip() in todo:
            indent = " " * (len(code) - len(code.lstrip())) if code.strip() else ""
            for new in todo.pop(anchor.strip()).splitlines():
                lines.append(indent + new)
        elif mark and " " not in anchor.strip():
            lines.append(code.rstrip())
        else:
            lines.append(line)
    assert not todo, f"no such anchor: {sorted(todo)}"
    return "\n".join(lines) + "\n"


def bank() -> list[Case]:
    """Every case."""
    found: list[Case] = []

    def case(name, base, kind, groups, *changes):
        found.append(Case(name, changed(base, *changes), kind, tuple(groups.split())))

    # ---- cuts: each kind, at several depths
    mlp = "fc1 fc2 fc3 out"
    case("mlp detach low", MLP, "detached", "fc1", ("1", "h1 = torch.relu(self.fc1(x)).detach()  # sick"))
    case("mlp detach middle", MLP, "detached", "fc1 fc2", ("2", "h2 = torch.relu(self.fc2(h1)).detach()  # sick"))
    case("mlp detach high", MLP, "detached", "fc1 fc2 fc3", ("4", "h3 = h3.detach()  # sick\nreturn self.out(h3)"))
    case("mlp data", MLP, "detached", "fc1 fc2", ("3", "h2 = h2.data  # sick\nh3 = torch.tanh(self.fc3(h2))"))
    case("mlp no_grad", MLP, "detached", "fc1 fc2", ("2", "with torch.no_grad():\n    h2 = torch.relu(self.fc2(h1))  # sick"))
    case("mlp item", MLP, "detached", "fc1", ("2", "h1 = torch.tensor([[v.item() for v in row] for row in h1])  # sick\nh2 = torch.relu(self.fc2(h1))"))
    case("mlp numpy", MLP, "detached", "fc1 fc2", ("3", "h2 = torch.from_numpy(h2.detach().numpy())  # sick\nh3 = torch.tanh(self.fc3(h2))"))
    case("mlp tolist", MLP, "detached", "fc1", ("2", "h1 = torch.tensor(h1.tolist())  # sick\nh2 = torch.relu(self.fc2(h1))"))
    case("mlp argmax", MLP, "detached", "fc1", ("2", "h1 = F.one_hot(h1.argmax(1), 32).float()  # sick\nh2 = torch.relu(self.fc2(h1))"))
    case("mlp clone of data", MLP, "detached", "fc1 fc2", ("3", "h2 = h2.data.clone()  # sick\nh3 = torch.tanh(self.fc3(h2))"))
    case("cnn detach", CNN, "detached", "conv1 bn1", ("2", "a = F.max_pool2d(a.detach(), 2)  # sick"))
    case("cnn no_grad", CNN, "detached", "conv1 bn1", ("1", "with torch.no_grad():\n    a = F.relu(self.bn1(self.conv1(x)))  # sick"))
    case("cnn data high", CNN, "detached", "conv1 bn1 conv2 bn2", ("4", "b = b.data  # sick\nreturn self.head(b.flatten(1))"))
    case("cnn numpy", CNN, "detached", "conv1 bn1", ("2", "a = torch.tensor(F.max_pool2d(a, 2).detach().numpy())  # sick"))
    case("rnn detach embedding", RNN, "detached", "embed", ("2", "h = self.cell(e.detach(), h)  # sick"))
    case("rnn detach state", RNN, "detached", "embed cell", ("3", "z = self.norm(h.detach())  # sick"))
    case("rnn data", RNN, "detached", "embed", ("1", "e = self.embed(tokens[:, t]).data  # sick"))
    case("rnn no_grad", RNN, "detached", "embed cell", ("2", "with torch.no_grad():\n    h = self.cell(e, h)  # sick"))
    case("gpt detach block", GPT, "detached", "wpe blocks", ("10", "x = x.detach()  # sick\nreturn self.head(self.ln_f(x))"))
    case("gpt detach attention", GPT, "detached", "blocks.0.attn blocks.0.ln_1 blocks.1.attn blocks.2.attn", ("4", "x = x + self.proj((att @ v).detach())  # sick"))
    case("gpt detach mlp", GPT, "detached", "blocks.0.fc blocks.0.ln_2 blocks.1.fc blocks.2.fc", ("5", "m = F.gelu(self.fc(self.ln_2(x))).data  # sick"))
    case("gpt no_grad positions", GPT, "detached", "wpe", ("8", "with torch.no_grad():\n    p = self.wpe(torch.arange(tokens.size(1)))  # sick\nx = x + p"))
    # ---- births
    case("mlp log of relu", MLP, "birth forward", "", ("4", "h3 = torch.log(torch.relu(h3))  # sick\nreturn self.out(h3)"))
    case("mlp sqrt of negative", MLP, "birth forward", "", ("2", "h2 = torch.sqrt(self.fc2(h1))  # sick"))
    case("mlp zero over zero", MLP, "birth forward", "", ("2", "h1 = h1 / h1.sum(0)  # sick\nh2 = torch.relu(self.fc2(h1))"), ("1", "h1 = torch.relu(self.fc1(x) - 50.0)"))
    case("mlp exp overflows", MLP, "birth forward", "", ("loss", "p = torch.exp(100 * logits)  # sick\np = p / p.sum(1, keepdim=True)\nloss = F.nll_loss(torch.log(p + 1e-9), y)"), ("4", "return 50 * self.out(h3)"))
    case("mlp log of softmax", MLP, "birth forward", "", ("loss", "p = torch.softmax(1000 * logits, 1)\nloss = F.nll_loss(torch.log(p), y)  # sick"))
    case("mlp NaN in the data", MLP, "birth forward", "fc1", ("data", "x, y = torch.randn(64, 8), torch.randint(0, 3, (64,))\nx[3, 4] = float('nan')"), ("1", "h1 = torch.relu(self.fc1(x))  # sick"))
    case("cnn log", CNN, "birth forward", "", ("4", "b = torch.log(b)  # sick\nreturn self.head(b.flatten(1))"))
    case("cnn division", CNN, "birth forward", "", ("2", "a = F.max_pool2d(a / (a - a), 2)  # sick"))
    case("rnn log", RNN, "birth forward", "", ("3", "z = torch.log(self.norm(h))  # sick"))
    case("gpt masked row", GPT, "birth forward", "", ("3", "mask[0] = True\natt = F.softmax(att.masked_fill(mask, float('-inf')), dim=-1)  # sick"))
    case("gpt sqrt", GPT, "birth forward", "", ("5", "m = torch.sqrt(self.fc(self.ln_2(x)))  # sick"))
    case("mlp sqrt at zero", MLP, "birth backward", "", ("3", "h2 = torch.sqrt(h2 * (h2 > 0.7))  # sick\nh3 = torch.tanh(self.fc3(h2))"), ("2", "h2 = F.softplus(self.fc2(h1))"))
    case("mlp norm at zero", MLP, "birth backward", "", ("4", "d = torch.sqrt(((h3 - h3) ** 2).sum(1, keepdim=True))  # sick\nreturn self.out(h3) + d"))
    case("mlp where over sqrt", MLP, "birth backward", "", ("3", "z = self.fc3(h2)\nr = torch.sqrt(z)  # sick\nh3 = torch.where(z > 0, r, torch.zeros_like(z))"))
    case("cnn sqrt at zero", CNN, "birth backward", "", ("4", "b = torch.sqrt(torch.abs(b) * 0.5)  # sick\nreturn self.head(b.flatten(1))"), ("3", "b = self.bn2(self.conv2(a))\nb = b * (b > 0)"))
    case("mlp power at zero", MLP, "birth backward", "", ("3", "h2 = (h2 * (h2 > 0.7)) ** 0.5  # sick\nh3 = torch.tanh(self.fc3(h2))"), ("2", "h2 = F.softplus(self.fc2(h1))"))
    # ---- writes in place
    case("mlp overwritten", MLP, "overwritten", "", ("4", "h4 = torch.exp(h3)\nr = self.out(h4)\nh4 += 1  # sick\nreturn r"))
    case("cnn overwritten", CNN, "overwritten", "", ("4", "c = torch.sigmoid(b)\nd = self.head(c.flatten(1))\nc.mul_(2)  # sick\nreturn d"))
    case("rnn overwritten", RNN, "overwritten", "", ("2", "h = torch.tanh(self.cell(e, h))\nh[:, 0] = 0  # sick"))
    # ---- gradients nobody resets
    for base, label in ((MLP, "mlp"), (CNN, "cnn"), (RNN, "rnn"), (GPT, "gpt")):
        first = {"mlp": "fc1", "cnn": "conv1", "rnn": "embed", "gpt": "wte"}[label]
        case(f"{label} stale", base, "stale", first, ("zero", "pass"), ("backward", "loss.backward()  # sick"))
    case("mlp stale, clipped", MLP, "stale", "fc1", ("zero", "pass"), ("backward", "loss.backward()  # sick\nnn.utils.clip_grad_norm_(model.parameters(), 1.0)"))
    # ---- not used, not held
    case("mlp unused layer", MLP, "unreachable", "spare", ("made", "model.spare = nn.Linear(32, 32)\noptimizer = None"))
    case("cnn unused norm", CNN, "unreachable", "bn1", ("1", "a = F.relu(self.conv1(x))"))
    case("gpt unused norm", GPT, "unreachable", "ln_f", ("10", "return self.head(x)"))
    case("mlp forgotten by the optimizer", MLP, "no optimizer", "fc2", ("optimizer", "optimizer = torch.optim.SGD([p for n, p in model.named_parameters() if 'fc2' not in n], lr=0.05)"))
    case("cnn head forgotten", CNN, "no optimizer", "head", ("optimizer", "optimizer = torch.optim.Adam([*model.conv1.parameters(), *model.bn1.parameters(), *model.conv2.parameters(), *model.bn2.parameters()], lr=1e-3)"))
    case("gpt positions forgotten", GPT, "no optimizer", "wpe", ("optimizer", "optimizer = torch.optim.AdamW([p for n, p in model.named_parameters() if n != 'wpe.weight'], lr=3e-4)"))
    case("mlp replaced layer", MLP, "strangers", "", ("optimizer", "optimizer = torch.optim.SGD(model.parameters(), lr=0.05)\nmodel.out = nn.Linear(32, 3)"))
    case("rnn replaced layer", RNN, "strangers", "", ("optimizer", "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\nmodel.out = nn.Linear(16, 11)"))
    # ---- units
    case("mlp dead layer", MLP, "dead units", "fc2", ("made", "nn.init.constant_(model.fc2.bias, -100.0)"), ("2", "h2 = torch.relu(self.fc2(h1))  # sick"))
    case("mlp dead first layer", MLP, "dead units", "fc1", ("made", "nn.init.constant_(model.fc1.bias, -100.0)"), ("1", "h1 = torch.relu(self.fc1(x))  # sick"))
    case("cnn dead channels", CNN, "dead units", "conv2 bn2", ("made", "nn.init.constant_(model.bn2.bias, -50.0)"), ("3", "b = F.relu(self.bn2(self.conv2(a)))  # sick"))
    case("mlp saturated", MLP, "saturated units", "fc3", ("made", "with torch.no_grad():\n    model.fc3.bias.fill_(50.0)"), ("3", "h3 = torch.tanh(self.fc3(h2))  # sick"))
    case("mlp saturated inputs", MLP, "saturated units", "fc1", ("data", "x, y = 1000 * torch.randn(64, 8), torch.randint(0, 3, (64,))"), ("1", "h1 = torch.sigmoid(self.fc1(x))  # sick"))
    # ---- vanishing and exploding
    deep = "x = torch.sigmoid(layer(x))"
    case("mlp vanishing", MLP, "vanishing", "", ("made", "model = nn.Sequential(nn.Linear(8, 32), *[m for _ in range(12) for m in (nn.Sigmoid(), nn.Linear(32, 32))], nn.Linear(32, 3))"))
    case("mlp small weights", MLP, "vanishing", "", ("made", "model = nn.Sequential(nn.Linear(8, 32), *[m for _ in range(10) for m in (nn.Tanh(), nn.Linear(32, 32))], nn.Linear(32, 3))\nfor p in model.parameters():\n    if p.dim() > 1:\n        nn.init.normal_(p, std=0.01)"))
    case("rnn vanishing", RNN, "vanishing", "", ("made", "nn.init.normal_(model.cell.weight_hh, std=0.001)"), ("4", "pass"), ("1", "e = self.embed(tokens[:, 0]) if t == 0 else torch.zeros(16, 12)"), ("loss", "model.last = True\nlogits = None\nh = torch.zeros(16, 16)\nfor t in range(12):\n    h = model.cell(model.embed(tokens[:, 0]) if t == 0 else torch.zeros(16, 12), h)\nloss = F.cross_entropy(model.out(model.norm(h)), tokens[:, 1])"))
    case("mlp exploding", MLP, "exploding", "", ("made", "model = nn.Sequential(nn.Linear(8, 32), *[m for _ in range(14) for m in (nn.ReLU(), nn.Linear(32, 32))], nn.Linear(32, 3))\nfor p in model.parameters():\n    if p.dim() > 1:\n        nn.init.normal_(p, std=2.0)"), ("optimizer", "optimizer = torch.optim.SGD(model.parameters(), lr=1e-30)"))
    # ---- ties, steps, losses
    case("gpt tied and detached", GPT, "tied", "wte", ("10", "return F.linear(self.ln_f(x), self.wte.weight.detach())  # sick"))
    case("gpt tied and data", GPT, "tied", "wte", ("10", "return F.linear(self.ln_f(x), self.wte.weight.data)  # sick"))
    case("mlp learning rate too high", MLP, "learning rate", "", ("optimizer", "optimizer = torch.optim.Adam(model.parameters(), lr=10.0)"))
    case("mlp learning rate too low", MLP, "learning rate", "", ("optimizer", "optimizer = torch.optim.SGD(model.parameters(), lr=1e-12)"))
    case("cnn learning rate too low", CNN, "learning rate", "", ("optimizer", "optimizer = torch.optim.SGD(model.parameters(), lr=1e-13)"))
    case("gpt learning rate too high", GPT, "learning rate", "", ("optimizer", "optimizer = torch.optim.AdamW(model.parameters(), lr=3.0)"))
    case("mlp diverging", MLP, "learning rate", "", ("loss", "loss = ((logits - 3.0) ** 2).mean()"), ("optimizer", "optimizer = torch.optim.SGD(model.parameters(), lr=3.0)"), ("1", "h1 = self.fc1(x)"), ("2", "h2 = self.fc2(h1)"), ("3", "h3 = self.fc3(h2)"))
    case("mlp exploding loss", MLP, "exploding loss", "", ("loss", "x = x * 8\nloss = ((logits - 3.0) ** 2).mean()"), ("optimizer", "optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)"), ("1", "h1 = self.fc1(x)"), ("2", "h2 = self.fc2(h1)"), ("3", "h3 = self.fc3(h2)"))
    case("mlp uphill", MLP, "ascent", "", ("optimizer", "optimizer = torch.optim.SGD(model.parameters(), lr=0.05, maximize=True)"))
    # ---- a loss without history
    case("mlp loss without history", MLP, "no history", "", ("loss", "loss = F.cross_entropy(logits, y).detach().requires_grad_(False)  # sick"))
    case("mlp accuracy as loss", MLP, "no history", "", ("loss", "loss = (logits.argmax(1) != y).float().mean()  # sick"))
    case("gpt loss of numpy", GPT, "no history", "", ("loss", "loss = torch.tensor(logits.detach().numpy().mean())  # sick"))
    del mlp, deep
    return found
