"""Random healthy networks: MLPs, CNNs, recurrent ones and transformers in many styles, as loops."""

from __future__ import annotations

import random

import torch
import torch.nn.functional as F
from torch import nn

ACTIVATIONS = (nn.ReLU, nn.GELU, nn.SiLU, nn.Tanh, nn.ELU, nn.LeakyReLU)


class Residual(nn.Module):
    def __init__(self, width, norm, act):
        super().__init__()
        self.norm, self.act = norm(width), act()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        if random.random() < 0.3:
            nn.init.zeros_(self.down.weight)  # a residual branch that begins as nothing

    def forward(self, x):
        return x + self.down(self.act(self.up(self.norm(x))))


class Recurrent(nn.Module):
    def __init__(self, kind, width, layers):
        super().__init__()
        self.embed = nn.Embedding(13, width)
        self.cell = kind(width, width, num_layers=layers, batch_first=True)
        self.out = nn.Linear(width, 13)

    def forward(self, tokens):
        h, _ = self.cell(self.embed(tokens))
        return self.out(h)


class Transformer(nn.Module):
    def __init__(self, width, layers, tied):
        super().__init__()
        self.embed, self.place = nn.Embedding(17, width), nn.Embedding(10, width)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, 2, 2 * width, batch_first=True, dropout=random.choice((0.0, 0.1)),
                norm_first=random.random() < 0.5,
            )
            for _ in range(layers)
        )  # fmt: skip
        self.out = nn.Linear(width, 17, bias=False)
        if tied:
            self.out.weight = self.embed.weight
            nn.init.normal_(self.embed.weight, std=0.05)

    def forward(self, tokens):
        x = self.embed(tokens) + self.place(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.out(x)


def mlp():
    act = random.choice(ACTIVATIONS)
    width, depth = random.choice((16, 32, 64)), random.randint(1, 6)
    layers = [nn.Linear(10, width), act()]
    for _ in range(depth - 1):
        choice = random.random()
        if choice < 0.3:
            layers.append(Residual(width, nn.LayerNorm, act))
        else:
            layers += [nn.Linear(width, width), act()]
            if choice > 0.8:
                layers.append(nn.BatchNorm1d(width))
            elif choice > 0.7:
                layers.append(nn.Dropout(0.1))
    classes = random.randint(2, 5)
    model = nn.Sequential(*layers, nn.Linear(width, classes))
    x, y = torch.randn(48, 10), torch.randint(0, classes, (48,))
    if random.random() < 0.4:
        y = torch.randn(48, classes)
        return model, lambda: F.mse_loss(model(x), y)
    return model, lambda: F.cross_entropy(model(x), y)


def cnn():
    act, channels = random.choice((nn.ReLU, nn.GELU, nn.SiLU)), random.choice((8, 12))
    parts, size, inside = [], 16, 1
    for _ in range(random.randint(1, 3)):
        parts += [nn.Conv2d(inside, channels, 3, padding=1), nn.BatchNorm2d(channels), act()]
        if size > 4:
            parts.append(random.choice((nn.MaxPool2d, nn.AvgPool2d))(2))
            size //= 2
        inside, channels = channels, channels * 2
    model = nn.Sequential(*parts, nn.Flatten(), nn.Linear(inside * size * size, 4))
    x, y = torch.randn(12, 1, 16, 16), torch.randint(0, 4, (12,))
    return model, lambda: F.cross_entropy(model(x), y)


def recurrent():
    kind = random.choice((nn.RNN, nn.LSTM, nn.GRU))
    model = Recurrent(kind, random.choice((12, 24)), random.randint(1, 2))
    tokens = torch.randint(0, 13, (8, random.randint(5, 20)))
    return model, lambda: F.cross_entropy(
        model(tokens[:, :-1]).reshape(-1, 13), tokens[:, 1:].reshape(-1)
    )


def transformer():
    model = Transformer(random.choice((16, 24)), random.randint(1, 3), random.random() < 0.5)
    tokens = torch.randint(0, 17, (6, 9))
    return model, lambda: F.cross_entropy(
        model(tokens[:, :-1]).reshape(-1, 17), tokens[:, 1:].reshape(-1)
    )


def network(seed):
    """A model, and one training step of it."""
    random.seed(seed)
    torch.manual_seed(seed)
    model, loss_of = random.choice((mlp, mlp, cnn, recurrent, transformer))()
    kinds = (
        lambda p: torch.optim.SGD(p, lr=random.choice((0.01, 0.05))),
        lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9),
        lambda p: torch.optim.Adam(p, lr=random.choice((3e-4, 1e-3, 3e-3))),
        lambda p: torch.optim.AdamW(p, lr=1e-3),
        lambda p: torch.optim.RMSprop(p, lr=3e-4),
    )
    optimizer = random.choice(kinds)(model.parameters())
    clips, accumulates = random.random() < 0.3, random.random() < 0.2

    def step():
        optimizer.zero_grad(set_to_none=random.random() < 0.7)
        for _ in range(2 if accumulates else 1):
            loss = loss_of()
            loss.backward()
        if clips:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return model, step
