"""A GPT that learns to make up names, one scalar at a time: every number below is a Value.

    python examples/microgpt.py                     # a thousand steps on given names
    python examples/microgpt.py poems.txt --steps 5000

Nothing is hidden: the tokenizer, the model, the loss, Adam and sampling are all in this file. The
engine is one import. The packaged form, with checkpoints and fused nodes, is `retrograde train`.
"""

from __future__ import annotations

import argparse
import math
import random
from dataclasses import dataclass
from importlib import resources
from itertools import chain
from pathlib import Path

from retrograde import Value

Vector = list  # of values
Matrix = list  # of vectors, one an output


@dataclass
class Size:
    """How large the model is."""

    vocabulary: int
    embedding: int = 16
    heads: int = 4
    layers: int = 1
    context: int = 16


@dataclass
class Block:
    """The matrices of one layer: four of attention, two of the perceptron."""

    query: Matrix
    key: Matrix
    value: Matrix
    output: Matrix
    up: Matrix
    down: Matrix


@dataclass
class Weights:
    """All parameters. What a block adds begins at zero, so it starts as a plain residual."""

    size: Size
    token: Matrix
    position: Matrix
    blocks: list[Block]
    head: Matrix

    @classmethod
    def drawn(cls, size: Size, draw: random.Random) -> Weights:
        def normal(rows: int, columns: int) -> Matrix:
            return [[Value(draw.gauss(0.0, 0.02)) for _ in range(columns)] for _ in range(rows)]

        def zero(rows: int, columns: int) -> Matrix:
            return [[Value(0.0) for _ in range(columns)] for _ in range(rows)]

        n = size.embedding
        shapes = [(n, n)] * 4 + [(4 * n, n), (n, 4 * n)]
        makers = (normal, normal, normal, zero, normal, zero)
        token, position = normal(size.vocabulary, n), normal(size.context, n)
        blocks = [Block(*(f(*s) for f, s in zip(makers, shapes))) for _ in range(size.layers)]
        return cls(size, token, position, blocks, normal(size.vocabulary, n))

    def parameters(self) -> list:
        inner = [matrix for block in self.blocks for matrix in vars(block).values()]
        matrices = [self.token, self.position, *inner, self.head]
        return list(chain.from_iterable(chain.from_iterable(matrices)))


def linear(matrix: Matrix, x: Vector) -> Vector:
    return [sum(w * xi for w, xi in zip(row, x)) for row in matrix]


def normed(x: Vector) -> Vector:
    """Scaled to a mean square of one."""
    scale = (sum(xi * xi for xi in x) / len(x) + 1e-5) ** -0.5
    return [xi * scale for xi in x]


def shares(scores: Vector) -> Vector:
    """Softmax: positive, adding up to one. The largest score is taken off against overflow."""
    top = max(score.data for score in scores)
    powers = [(score - top).exp() for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def attend(block: Block, x: Vector, past: list, heads: int) -> Vector:
    """Ask every earlier position, and this one, what it holds; each head looks its own way."""
    past.append((linear(block.key, x), linear(block.value, x)))
    query, width, mixed = linear(block.query, x), len(x) // heads, []
    for head in range(0, len(x), width):
        here = range(head, head + width)
        scores = [sum(query[i] * key[i] for i in here) / width**0.5 for key, _ in past]
        weights = shares(scores)
        mixed += [sum(w * value[i] for w, (_, value) in zip(weights, past)) for i in here]
    return linear(block.output, mixed)


def next_scores(weights: Weights, token: int, position: int, pasts: list[list]) -> Vector:
    """How likely each token comes next, as logits; this one joins the pasts."""
    x = normed([t + p for t, p in zip(weights.token[token], weights.position[position])])
    for block, past in zip(weights.blocks, pasts):
        x = [a + b for a, b in zip(attend(block, normed(x), past, weights.size.heads), x)]
        hidden = [h.relu() ** 2 for h in linear(block.up, normed(x))]
        x = [a + b for a, b in zip(linear(block.down, hidden), x)]
    return linear(weights.head, x)


def loss_of(weights: Weights, tokens: list[int]) -> Value:
    """The mean surprise at each next token: -log of the share it was given."""
    pasts: list[list] = [[] for _ in weights.blocks]
    count = min(len(tokens) - 1, weights.size.context)
    surprises = []
    for position in range(count):
        scores = next_scores(weights, tokens[position], position, pasts)
        surprises.append(-shares(scores)[tokens[position + 1]].log())
    return sum(surprises) * (1 / count)


@dataclass
class Adam:
    """Steps in the direction of the mean gradient, divided by the root of its mean square."""

    parameters: list
    beta1: float = 0.85
    beta2: float = 0.99
    steps: int = 0

    def __post_init__(self) -> None:
        self.mean, self.square = ([0.0] * len(self.parameters) for _ in range(2))

    def step(self, rate: float) -> None:
        self.steps += 1
        for i, p in enumerate(self.parameters):
            self.mean[i] = self.beta1 * self.mean[i] + (1 - self.beta1) * p.grad
            self.square[i] = self.beta2 * self.square[i] + (1 - self.beta2) * p.grad**2
            mean = self.mean[i] / (1 - self.beta1**self.steps)
            square = self.square[i] / (1 - self.beta2**self.steps)
            p.data -= rate * mean / (square**0.5 + 1e-8)
            p.grad = 0.0


def sample(weights: Weights, edge: int, draw: random.Random, temperature: float) -> list[int]:
    """Tokens until the edge of a document, or the end of the context."""
    tokens, pasts = [edge], [[] for _ in weights.blocks]
    for position in range(weights.size.context):
        scores = next_scores(weights, tokens[-1], position, pasts)
        likely = [math.exp((s.data - max(scores).data) / temperature) for s in scores]
        tokens.append(draw.choices(range(len(likely)), likely)[0])
        if tokens[-1] == edge:
            break
    return [token for token in tokens if token != edge]


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a GPT, scalar by scalar.")
    parser.add_argument("file", nargs="?", help="text, one document a line (default: given names)")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=42)
    options = parser.parse_args()

    names = resources.files("retrograde.models") / "names.txt"
    text = (Path(options.file) if options.file else names).read_text(encoding="utf-8")
    documents = [line.strip() for line in text.splitlines() if line.strip()]
    if not documents:
        parser.error("the file has no documents: it needs one on each line")
    characters = sorted(set("".join(documents)))
    edge = len(characters)

    draw = random.Random(options.seed)
    weights = Weights.drawn(Size(vocabulary=edge + 1), draw)
    draw.shuffle(documents)
    optimizer = Adam(weights.parameters())
    print(f"{len(documents)} documents, {len(optimizer.parameters)} parameters")
    for step in range(options.steps):
        document = documents[step % len(documents)]
        loss = loss_of(weights, [edge, *map(characters.index, document), edge])
        loss.backward()
        optimizer.step(rate=0.01 * (1 - step / options.steps))
        if step == 0 or (step + 1) % 50 == 0:
            print(f"step {step + 1:5}  loss {loss.data:.4f}", flush=True)
    for _ in range(10):
        print("  " + "".join(characters[token] for token in sample(weights, edge, draw, 0.7)))


if __name__ == "__main__":
    main()
