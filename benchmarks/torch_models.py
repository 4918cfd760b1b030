"""Four ordinary PyTorch programs: a tiny MLP, an MLP, a CNN with batch norm, a GPT of ten million
parameters. None of them knows that anybody is looking."""

from __future__ import annotations

import math
from itertools import pairwise

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn


class Perceptron(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(sizes))

    def forward(self, x, y):
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return F.cross_entropy(self.layers[-1](x), y)


class Convolutional(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32)
        self.conv2, self.bn2 = nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64)
        self.conv3, self.bn3 = nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64)
        self.head = nn.Linear(64 * 4 * 4, 10)

    def forward(self, x, y):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        x = x + F.relu(self.bn3(self.conv3(x)))
        return F.cross_entropy(self.head(F.max_pool2d(x, 2).flatten(1)), y)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.attn(x).split(width, dim=2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        mask = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
        weights = F.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.ln_1(x))
        return x + self.down(F.gelu(self.fc(self.ln_2(x))))


class Gpt(nn.Module):
    def __init__(self, vocab=256, context=256, width=384, layers=6, heads=6):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)
        self.head.weight = self.wte.weight
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, tokens, targets):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.ln_f(x))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def workload(name, device="cpu"):
    """A model, its batch, and one plain training step; larger on a GPU, so that it is one."""
    torch.manual_seed(0)
    large = device != "cpu"
    if name in ("tiny", "mlp"):
        sizes = (16, 32, 32, 4) if name == "tiny" else (784, 512, 512, 10)
        rows = 16 if name == "tiny" else 1024 if large else 512
        model = Perceptron(sizes)
        batch = torch.randn(rows, sizes[0]), torch.randint(0, sizes[-1], (rows,))
    elif name == "cnn":
        rows = 256 if large else 32
        model, batch = (
            Convolutional(),
            (torch.randn(rows, 3, 32, 32), torch.randint(0, 10, (rows,))),
        )
    else:
        rows, length = (16, 256) if large else (4, 128)
        model = Gpt()
        batch = torch.randint(0, 256, (rows, length)), torch.randint(0, 256, (rows, length))
    model = model.to(device)
    batch = tuple(part.to(device) for part in batch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = model(*batch)
        loss.backward()
        optimizer.step()
        return loss

    return model, batch, step
