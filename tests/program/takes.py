"""Functions with takes drawn at random, as plain data: they run eagerly and compiled alike.

Items of a list may be anything made before, also what is NaN or infinite or has such a slope; the
index is an integer column, a number computed from one, or a condition. Custom ops are among the
steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

UNARY = ("sqrt", "log", "tanh", "square", "relu", "abs", "reciprocal", "neg")
BINARY = ("add", "sub", "mul", "div", "maximum")
TOLD = (
    *("detach", "no_grad", "where", "if", "take", "take", "take", "take of lists", "no_grad take"),
    *("custom", "vectorized"),
)
NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, math.inf, -math.inf, math.nan)
LEAVES = 4
"""x and y are rows, u is the same for all, w is captured."""


@dataclass(frozen=True)
class Step:
    """What is done with earlier values, by their place."""

    name: str
    operands: tuple[int, ...]


@dataclass(frozen=True)
class Taking:
    """A function of (i, x, y, u) that captures w, and the rows to call it on."""

    steps: tuple[Step, ...]
    i: tuple[int, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]
    u: float
    w: float

    def arguments(self) -> tuple[Any, ...]:
        """What a compiled function is called on."""
        return np.array(self.i), np.array(self.x), np.array(self.y), self.u

    def function(self, rg: Any, w: Any) -> Callable[..., Any]:
        """The function, on values or numbers."""

        def computed(i: Any, x: Any, y: Any, u: Any) -> Any:
            values = [x, y, u, w]
            for step in self.steps:
                values.append(_done(rg, step.name, [values[k] for k in step.operands], i))
            return values[-1] + 0.0 * w

        return computed


@cache
def _ops(rg: Any) -> dict[str, Any]:
    """Custom ops: in terms of ops, over arrays with a rule in ops, and over arrays altogether."""

    @rg.custom_op
    def custom(x: Any) -> Any:
        return rg.log(x)

    @custom.partials
    def _(x: Any, z: Any) -> Any:
        return rg.where(x > 0.0, rg.div(1.0, x), 0.0) + 0.0 * z

    vectorized = rg.custom_op(np.square, vectorized=True)
    vectorized.vjp(lambda upstream, x: 2.0 * x * upstream)
    arrays = rg.custom_op(lambda x: 1.0 / (1.0 + x * x), vectorized=True)
    arrays.partials(lambda x, z: np.multiply(-2.0 * x, z * z))
    return {"custom": custom, "vectorized": vectorized, "arrays": arrays}


def _done(rg: Any, name: str, v: Sequence[Any], i: Any) -> Any:
    a, b, c = v
    if name in UNARY:
        return rg.div(1.0, a) if name == "reciprocal" else getattr(rg, name)(a)
    if name in BINARY:
        return getattr(rg, name)(a, b)
    if name in _ops(rg):
        return _ops(rg)[name](a)
    if name == "detach":
        return a.detach() * b
    if name == "no_grad":
        with rg.no_grad():
            kept = a * b
        return kept + b
    if name == "where":
        return rg.where(a > b, b, c)
    if name == "if":
        return a * b if a > 0.5 else c
    if name == "take":
        return rg.take([a, b, c], i)
    if name == "take of lists":
        first, second = rg.take([(a, b), (c, a), (b, 2.0)], 2 - i)
        return first + second
    with rg.no_grad():
        kept = rg.take([a, b, c], i)
    return kept * b


@st.composite
def takings(draw: Callable[..., Any], most: int = 7, rows: int = 5, arrays: bool = False) -> Taking:
    """A function in which a take decides what counts; with ``arrays`` it may call NumPy."""
    steps = []
    told = (*TOLD, "arrays") if arrays else TOLD
    names = st.one_of(st.sampled_from(UNARY), st.sampled_from(BINARY), st.sampled_from(told))
    for number in range(draw(st.integers(2, most))):
        place = st.integers(0, LEAVES + number - 1)
        late = st.integers(max(0, LEAVES + number - 3), LEAVES + number - 1)
        operands = draw(late), draw(st.one_of(place, late)), draw(st.one_of(place, late))
        steps.append(Step(draw(names), operands))
    steps.append(Step("take", draw(st.permutations(range(LEAVES + len(steps))))[:3]))
    number = st.one_of(st.sampled_from(NUMBERS), st.floats(-3.0, 3.0).map(lambda x: round(x, 3)))
    column = st.tuples(*[number] * rows)
    finite = st.sampled_from((0.0, 0.5, -1.25, 2.0))
    index = st.tuples(*[st.integers(0, 2)] * rows)
    return Taking(tuple(steps), draw(index), draw(column), draw(column), draw(finite), draw(finite))
