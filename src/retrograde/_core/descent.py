"""The steps of optimizers in plain Python: what ``native/optim.c`` does, bit for bit.

Each takes leaves, arrays of state with one item a leaf, and settings; a leaf that takes no gradient
is passed over. ``steps`` counts how often each leaf was moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, isnan, sqrt
from typing import Any

from .._shared.lending import refuse_lent
from ..errors import NotAValueError
from .recording import refuse
from .reference import Node


def _checked(values: Sequence[Any], refused: str = "grad") -> Sequence[Node]:
    """The values; ``refused`` is what a recording would miss if it did this to one of its own."""
    for index, value in enumerate(values):
        if not isinstance(value, Node):
            raise NotAValueError.at("an optimizer", index, value)
    refuse(values, refused)
    return values


def _moving(leaves: Sequence[Any]) -> Iterator[tuple[int, Node]]:
    """The leaves that take gradients, each with its place."""
    checked = _checked(leaves, "assignment")
    return ((i, leaf) for i, leaf in enumerate(checked) if leaf._requires_grad)


def _root(number: float) -> float:
    """The square root as IEEE has it: of a negative number, NaN."""
    return sqrt(number) if number >= 0.0 else float("nan")


def _ratio(numerator: float, denominator: float) -> float:
    """The quotient as IEEE has it: by zero, an infinity or NaN."""
    if denominator != 0.0:
        return numerator / denominator
    return numerator * inf if numerator else float("nan")


def _power(number: float, exponent: float) -> float:
    """A power as IEEE has it: too large, an infinity."""
    try:
        return float(number**exponent)
    except OverflowError:
        return inf


def sgd(
    leaves: Sequence[Any],
    steps: Any,
    velocity: Any,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: float,
    /,
) -> None:
    """One step of stochastic gradient descent over leaves."""
    for i, leaf in _moving(leaves):
        gradient = leaf._grad
        if weight_decay != 0.0:
            gradient = gradient + weight_decay * leaf._data
        if momentum != 0.0:
            kept = momentum * float(velocity[i]) + (1.0 - dampening) * gradient
            velocity[i] = now = gradient if steps[i] == 0.0 else kept
            gradient = gradient + momentum * now if nesterov else now
        steps[i] += 1.0
        leaf._data = leaf._data - lr * gradient


def adam(
    leaves: Sequence[Any],
    steps: Any,
    mean: Any,
    square: Any,
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
    decoupled: float,
    /,
) -> None:
    """One step of Adam or AdamW over leaves."""
    for i, leaf in _moving(leaves):
        steps[i] += 1.0
        size = lr / (1.0 - beta1 ** float(steps[i]))
        root = sqrt(1.0 - beta2 ** float(steps[i]))
        data, gradient = leaf._data, leaf._grad
        if weight_decay != 0.0 and decoupled:
            data = data * (1.0 - lr * weight_decay)
        elif weight_decay != 0.0:
            gradient = gradient + weight_decay * data
        mean[i] = m = float(mean[i]) + (gradient - float(mean[i])) * (1.0 - beta1)
        square[i] = s = beta2 * float(square[i]) + (1.0 - beta2) * gradient * gradient
        leaf._data = data - _ratio(size * m, _root(s) / root + epsilon)


def rmsprop(
    leaves: Sequence[Any],
    steps: Any,
    square: Any,
    mean: Any,
    velocity: Any,
    lr: float,
    alpha: float,
    epsilon: float,
    weight_decay: float,
    momentum: float,
    centered: float,
    /,
) -> None:
    """One step of RMSprop over leaves."""
    for i, leaf in _moving(leaves):
        gradient = leaf._grad
        if weight_decay != 0.0:
            gradient = gradient + weight_decay * leaf._data
        square[i] = spread = alpha * float(square[i]) + (1.0 - alpha) * gradient * gradient
        if centered:
            mean[i] = m = float(mean[i]) + (gradient - float(mean[i])) * (1.0 - alpha)
            spread = spread - m * m
        root = _root(spread) + epsilon
        step = _ratio(lr * gradient, root)
        if momentum != 0.0:
            velocity[i] = now = momentum * float(velocity[i]) + _ratio(gradient, root)
            step = lr * now
        steps[i] += 1.0
        leaf._data = leaf._data - step


def grad_norm(values: Sequence[Any], kind: float, /) -> float:
    """The length of the gradients of values, by the sum of their powers, in order."""
    sizes = [abs(value._grad) for value in _checked(values)]
    if any(isnan(size) for size in sizes):
        return float("nan")
    if kind == inf:
        return max(sizes, default=0.0)
    total = 0.0
    for size in sizes:
        total += size * size if kind == 2.0 else _power(size, kind)
    return sqrt(total) if kind == 2.0 else _power(total, 1.0 / kind)


def scale_grad(values: Sequence[Any], factor: float, /) -> None:
    """Multiply the gradients of values."""
    refuse_lent(_checked(values))
    for value in values:
        value._grad *= factor


def clip_grad(values: Sequence[Any], limit: float, /) -> None:
    """Clip the gradients of values into a range; NaN stays."""
    refuse_lent(_checked(values))
    for value in values:
        if abs(value._grad) > limit:
            value._grad = limit if value._grad > 0.0 else -limit
