"""Two half-moons, a network that tells them apart, and a drawing of where it draws the line.

python examples/two_moons.py            # trains, writes two_moons.svg
"""

from __future__ import annotations

import argparse
import math
import random
from pathlib import Path

import retrograde as rg

RANGE, PIXELS = ((-1.5, 2.5), (-1.0, 1.5)), 480


def moons(count: int, noise: float, draw: random.Random) -> list[tuple[list[float], int]]:
    """Points on two interleaved half-circles, each with its side, -1 or 1."""
    points = []
    for at in range(count):
        angle, side = math.pi * draw.random(), 1 if at % 2 else -1
        x, y = math.cos(angle), math.sin(angle)
        if side == 1:
            x, y = 1.0 - x, 0.5 - y
        points.append(([x + draw.gauss(0, noise), y + draw.gauss(0, noise)], side))
    return points


def train(points: list, steps: int, seed: int) -> tuple[rg.nn.MLP, list[float]]:
    """A 2-16-16-1 network, a margin loss, a little weight decay."""
    model = rg.nn.MLP(2, [16, 16, 1], seed=seed)
    optimizer = rg.optim.AdamW(model, lr=0.05, weight_decay=1e-3)
    schedule = rg.optim.CosineAnnealingLR(optimizer, T_max=steps)
    losses = []
    for _ in range(steps):
        loss = rg.nn.hinge([model(x) for x, _ in points], [side for _, side in points])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.data)
    return model, losses


def accuracy(model: rg.nn.MLP, points: list) -> float:
    with rg.no_grad():
        return sum((model(x).data > 0) == (side > 0) for x, side in points) / len(points)


def drawing(model: rg.nn.MLP, points: list, cells: int) -> str:
    """The plane coloured by the score of each cell, the points on top: SVG."""
    (left, right), (low, high) = RANGE
    width, height = PIXELS, int(PIXELS * (high - low) / (right - left))
    down, across = int(cells * height / width), cells
    wide, tall = width / across, height / down
    size = f'viewBox="0 0 {width} {height}" width="{1.5 * width:.0f}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', '<g shape-rendering="crispEdges">']
    with rg.no_grad():
        for i in range(across):
            for j in range(down):
                x = left + (right - left) * (i + 0.5) / across
                y = high - (high - low) * (j + 0.5) / down
                score = math.tanh(model([x, y]).data)
                hue, strength = ("#d9480f", 0.6 * score) if score > 0 else ("#1864ab", -0.6 * score)
                parts.append(
                    f'<rect x="{i * wide:.3f}" y="{j * tall:.3f}" width="{wide:.3f}" '
                    f'height="{tall:.3f}" fill="{hue}" fill-opacity="{strength:.2f}"/>'
                )
    parts.append("</g>")
    for (x, y), side in points:
        parts.append(
            f'<circle cx="{width * (x - left) / (right - left):.1f}" '
            f'cy="{height * (high - y) / (high - low):.1f}" r="4" stroke="white" '
            f'fill="{"#d9480f" if side > 0 else "#1864ab"}"/>'
        )
    return "\n".join([*parts, "</svg>\n"])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--cells", type=int, default=60, help="cells of the drawing, across")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", default="two_moons.svg")
    options = parser.parse_args(arguments)
    points = moons(options.points, 0.1, random.Random(options.seed))
    model, losses = train(points, options.steps, options.seed)
    print(f"loss {losses[0]:.4f} → {losses[-1]:.4f}, accuracy {accuracy(model, points):.0%}")
    Path(options.out).write_text(drawing(model, points, options.cells), encoding="utf-8")
    print(f"the decision boundary is drawn in {options.out}")


if __name__ == "__main__":
    main()
