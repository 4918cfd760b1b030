"""The programs that are timed, each written once and run unchanged on every engine.

A workload is prepared with a maker: whatever turns a float into a value and knows its engine's
`relu` and `dot`. Preparing makes the leaves and is never timed; running the
prepared program is one forward pass. What an engine is belongs in engines.py.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, Protocol

from microgpt_class import Value, count_operations

SEED = 1337
POINTS = 100
WIDTHS = (2, 16, 16, 1)
ALPHA = 1e-4
WEIGHTS = 1_000


class Maker(Protocol):
    """What a workload asks of an engine."""

    make: Callable[[float], Any]
    relu: Callable[[Any], Any]
    dot: Callable[[Sequence[Any], Sequence[Any]], Any]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A program with its leaves made: `run()` is one forward pass and returns the root."""

    leaves: list[Any]
    run: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Workload:
    """A named program and the number of operations by which its time is divided."""

    name: str
    prepare: Callable[[Maker], Prepared]
    operations: int


def mlp() -> Workload:
    """One full pass of a small classifier, scalar by scalar, in micrograd's style."""
    return Workload("mlp", _prepare_mlp, _counted(_prepare_mlp))


def mlp_through_dot() -> Workload:
    """The same classifier and the same gradients, one node for each dot product.

    Its time is divided by the operations of the scalar version, so that the two compare.
    """
    return Workload("mlp through dot", _prepare_mlp_through_dot, _counted(_prepare_mlp))


def weighted_sum() -> Workload:
    """A thousand values times a thousand floats, added up by a generator."""
    return Workload("weighted sum", _prepare_weighted_sum, _counted(_prepare_weighted_sum))


def chain(operations: int) -> Workload:
    """One long line of operations of one value and one number each."""
    steps = operations // 2

    def prepare(maker: Maker) -> Prepared:
        leaf = maker.make(1.0)

        def run() -> Any:
            x = leaf
            for _ in range(steps):
                x = x * 1.0000001 + 1e-9
            return x

        return Prepared([leaf], run)

    return Workload("chain", prepare, 2 * steps)


def chain_of_pairs(operations: int) -> Workload:
    """The same line, but every operation takes two values: what a two-input node weighs."""
    steps = operations // 2

    def prepare(maker: Maker) -> Prepared:
        leaf, factor, term = (maker.make(number) for number in (1.0, 1.0000001, 1e-9))

        def run() -> Any:
            x = leaf
            for _ in range(steps):
                x = x * factor + term
            return x

        return Prepared([leaf, factor, term], run)

    return Workload("chain of pairs", prepare, 2 * steps)


Neuron = tuple[list[Any], Any]
Activation = Callable[[list[Any], Any, list[Any]], Any]


def _prepare_mlp(maker: Maker) -> Prepared:
    layers, parameters = _parameters(maker.make)

    def activation(ws: list[Any], b: Any, xs: list[Any]) -> Any:
        return sum((w * x for w, x in zip(ws, xs)), b)

    def squares() -> Any:
        return sum(p * p for p in parameters)

    return Prepared(parameters, _loss(layers, activation, squares, maker.relu))


def _prepare_mlp_through_dot(maker: Maker) -> Prepared:
    layers, parameters = _parameters(maker.make)
    dot = maker.dot

    def activation(ws: list[Any], b: Any, xs: list[Any]) -> Any:
        return dot(ws, xs) + b

    def squares() -> Any:
        return dot(parameters, parameters)

    return Prepared(parameters, _loss(layers, activation, squares, maker.relu))


def _prepare_weighted_sum(maker: Maker) -> Prepared:
    source = random.Random(SEED)
    ws = [maker.make(source.uniform(-1, 1)) for _ in range(WEIGHTS)]
    xs = [source.uniform(-1, 1) for _ in range(WEIGHTS)]

    def run() -> Any:
        return sum(w * x for w, x in zip(ws, xs))

    return Prepared(ws, run)


def _loss(
    layers: list[list[Neuron]],
    activation: Activation,
    squares: Callable[[], Any],
    relu: Callable[[Any], Any],
) -> Callable[[], Any]:
    """The max-margin loss over all points plus the weight penalty, as a program."""
    points, labels = two_moons()
    *hidden, [(output_ws, output_b)] = layers

    def score(xs: list[Any]) -> Any:
        for layer in hidden:
            xs = [relu(activation(ws, b, xs)) for ws, b in layer]
        return activation(output_ws, output_b, xs)

    def run() -> Any:
        losses = [relu(1 + -label * score(point)) for point, label in zip(points, labels)]
        return sum(losses) * (1.0 / len(losses)) + ALPHA * squares()

    return run


def _parameters(make: Callable[[float], Any]) -> tuple[list[list[Neuron]], list[Any]]:
    """The layers, and all their weights and biases in one list."""
    source = random.Random(SEED)
    layers = [
        [
            ([make(source.uniform(-1, 1)) for _ in range(inputs)], make(source.uniform(-0.1, 0.1)))
            for _ in range(outputs)
        ]
        for inputs, outputs in pairwise(WIDTHS)
    ]
    return layers, [p for layer in layers for ws, b in layer for p in (*ws, b)]


def scalar_dot(ws: Sequence[Any], xs: Sequence[Any]) -> Any:
    """The dot product of an engine that has none of its own."""
    return sum(w * x for w, x in zip(ws, xs))


def two_moons() -> tuple[list[list[float]], list[float]]:
    """Points on two interleaving half circles with a little noise, and their labels, ±1."""
    source = random.Random(SEED)
    points: list[list[float]] = []
    labels: list[float] = []
    for index in range(POINTS):
        angle = math.pi * source.random()
        upper = index % 2 == 0
        x = math.cos(angle) if upper else 1.0 - math.cos(angle)
        y = math.sin(angle) if upper else 0.5 - math.sin(angle)
        points.append([x + source.gauss(0.0, 0.1), y + source.gauss(0.0, 0.1)])
        labels.append(1.0 if upper else -1.0)
    return points, labels


def _counted(prepare: Callable[[Maker], Prepared]) -> int:
    pure_python = SimpleNamespace(make=Value, relu=Value.relu, dot=scalar_dot)
    return count_operations(prepare(pure_python).run())
