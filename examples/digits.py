"""Handwritten digits read by a network on tensors: layers of numbers, or a small convolution.

python examples/digits.py               # 64-64-10, a minute of training
python examples/digits.py --conv        # two convolutions
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_digits

import retrograde as rg


class Layers(rg.nn.Module):
    """Every pixel meets every unit."""

    def __init__(self, hidden: int, seed: int) -> None:
        self.first = rg.nn.Linear(64, hidden, seed=seed)
        self.last = rg.nn.Linear(hidden, 10, seed=seed + 1)

    def __call__(self, images: np.ndarray) -> rg.Tensor:
        return self.last(self.first(images.reshape(-1, 64)).relu())


class Windows(rg.nn.Module):
    """Small windows moved over the picture, twice, each time at half the size."""

    def __init__(self, channels: int, seed: int) -> None:
        self.first = rg.nn.Conv2d(1, channels, 3, padding=1, seed=seed)
        self.norm = rg.nn.BatchNorm(channels)
        self.second = rg.nn.Conv2d(channels, 2 * channels, 3, padding=1, seed=seed + 1)
        self.last = rg.nn.Linear(2 * channels * 4, 10, seed=seed + 2)

    def __call__(self, images: np.ndarray) -> rg.Tensor:
        x = rg.max_pool(self.norm(self.first(images)).relu(), (2, 2))
        x = rg.max_pool(self.second(x).relu(), (2, 2))
        return self.last(x.reshape(len(images), -1))


def pictures(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The digits in a random order, a fifth kept for the test: images and what they show."""
    found = load_digits()
    order = np.random.default_rng(seed).permutation(len(found.target))
    images, shown = found.images[order, None] / 16.0, found.target[order]
    kept = len(order) // 5
    return images[kept:], shown[kept:], images[:kept], shown[:kept]


def accuracy(model: rg.nn.Module, images: np.ndarray, shown: np.ndarray) -> float:
    model.eval()
    with rg.no_grad():
        right = model(images).argmax(axis=1) == shown
    model.train()
    return float(right.mean())


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--conv", action="store_true", help="convolutions instead of layers")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    images, shown, test_images, test_shown = pictures(given.seed)
    model = (Windows(8, given.seed) if given.conv else Layers(64, given.seed)).tensors()
    print(model)
    optimizer = rg.optim.Adam(model, lr=3e-3)
    draw = np.random.default_rng(given.seed)
    for epoch in range(1, given.epochs + 1):
        losses = []
        order = draw.permutation(len(shown))
        for batch in np.split(order, range(given.batch, len(order), given.batch)):
            loss = rg.cross_entropy(model(images[batch]), shown[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.data)
        found = accuracy(model, test_images, test_shown)
        print(
            f"epoch {epoch:2d}  loss {np.mean(losses):.4f}  right {found:.1%} of {len(test_shown)}"
        )


if __name__ == "__main__":
    main()
