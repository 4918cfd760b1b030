"""Where parameters begin: numbers drawn for a shape, by a generator that a seed decides.

An initialiser is a function of a shape and a generator; the functions here make them. The first
axis of a shape is the outputs, as in a matrix with one row an output; fan-in is the product of the
others, which for a convolution are its inputs and its window.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from math import prod, sqrt
from operator import index
from typing import Any, SupportsIndex, TypeAlias

from .._shared.numerics import np
from ..errors import SettingError
from ..tensor import Tensor
from ..value import Value

Seed: TypeAlias = "SupportsIndex | random.Random | None"
Initialiser: TypeAlias = "Callable[[tuple[int, ...], random.Random], float]"


def generator(seed: Seed) -> random.Random:
    """A generator of its own for an int; a generator as it is; for None, Python's global one.

    >>> generator(3).random() == generator(3).random()
    True
    """
    if isinstance(seed, SupportsIndex):
        return random.Random(index(seed))
    draw: Any = random if seed is None else seed  # the module has its hidden generator's methods
    if not (hasattr(draw, "uniform") and hasattr(draw, "gauss")):
        raise SettingError.of("a seed", seed, "a whole number, a random.Random or None")
    return draw  # type: ignore[no-any-return]


def checked_size(what: str, size: Any) -> int:
    """A size as a whole number from 1 up; anything else raises :class:`SettingError`.

    >>> checked_size("the inputs of Linear", 3)
    3
    """
    if not hasattr(size, "__index__") or index(size) < 1:
        raise SettingError.of(what, size, "a whole number from 1 up")
    return index(size)


def filled(shape: tuple[int, ...], initialiser: Initialiser, seed: Seed = None) -> Any:
    """A nest of values of a shape, drawn in order.

    >>> filled((2, 3), constant(0.5))[1][2]
    Value(data=0.5, grad=0.0)
    """
    draw = generator(seed)
    level: list[Any] = [Value(initialiser(shape, draw)) for _ in range(prod(shape))]
    for size in reversed(shape[1:]):
        level = [level[at : at + size] for at in range(0, len(level), size)] if size else []
    return level if shape else level[0]


def filled_tensor(shape: tuple[int, ...], initialiser: Initialiser, seed: Seed = None) -> Any:
    """The same numbers as one tensor.

    >>> filled_tensor((2,), constant(0.5))
    Tensor([0.5, 0.5])
    """
    draw = generator(seed)
    numbers = [initialiser(shape, draw) for _ in range(prod(shape))]
    return Tensor(np.array(numbers, dtype=float).reshape(shape))


def _fan_in(shape: tuple[int, ...]) -> int:
    return max(1, prod(shape[1:]) if len(shape) > 1 else shape[-1])


def constant(number: float) -> Initialiser:
    """The same number everywhere."""
    return lambda shape, draw: number


def zeros() -> Initialiser:
    """Zero everywhere."""
    return constant(0.0)


def ones() -> Initialiser:
    """One everywhere."""
    return constant(1.0)


def uniform(low: float = -1.0, high: float = 1.0) -> Initialiser:
    """Evenly between two numbers."""
    return lambda shape, draw: draw.uniform(low, high)


def normal(std: float = 1.0, mean: float = 0.0) -> Initialiser:
    """Normally distributed."""
    return lambda shape, draw: draw.gauss(mean, std)


def fan_in_uniform(gain: float = 1.0) -> Initialiser:
    """Evenly between ±gain/√fan-in: what PyTorch gives a linear layer."""

    def draw_one(shape: tuple[int, ...], draw: random.Random) -> float:
        bound = gain / sqrt(_fan_in(shape))
        return draw.uniform(-bound, bound)

    return draw_one


def xavier_uniform(gain: float = 1.0) -> Initialiser:
    """Evenly, the variance 2/(fan-in + fan-out): Glorot and Bengio's, for tanh and sigmoid."""

    def draw_one(shape: tuple[int, ...], draw: random.Random) -> float:
        bound = gain * sqrt(6.0 / (_fan_in(shape) + shape[0] * prod(shape[2:])))
        return draw.uniform(-bound, bound)

    return draw_one


def kaiming_normal(gain: float = sqrt(2.0)) -> Initialiser:
    """Normally, the variance gain²/fan-in: He's, for relu."""
    return lambda shape, draw: draw.gauss(0.0, gain / sqrt(_fan_in(shape)))
