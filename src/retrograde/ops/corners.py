"""Where an op has no one slope: kinks, jumps, and the edges of its domain, found from its row.

A row is evaluated a hair to either side of a point. Nothing is listed by name, so a new row of the
law needs no edit here; the words of the convention come from its edges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from .expr import Num, Where, calls, walk
from .op import PRIMITIVES, Edge, Op
from .scalar import OPS

_LEAST = 2.0**-340
"""The step at 0: its square and its cube are still numbers."""

_BENT = frozenset(("abs", "floor", "fmod", "hypot", "atan2"))
"""The primitives that are not smooth wherever they have a value."""

_SAME = 1e-6
"""Slopes that differ by less than this share of the larger one are the same slope."""


class Side(NamedTuple):
    """What lies a hair to one side along one input: the slope, infinite where the value jumps and
    NaN where there is no value; and the value there."""

    slope: float
    value: float
    jumps: bool = False


@dataclass(frozen=True)
class Corner:
    """A point where an op has two slopes, or none, along an input.

    ``sides`` has one pair an input, (below, above), or None where that input has one slope.
    ``why`` is the convention that chose, in the words of the law.
    """

    op: str
    sides: tuple[tuple[Side, Side] | None, ...]
    why: str

    @property
    def kind(self) -> str:
        """Whether it is a "jump", an "edge" of the domain, or a "kink"."""
        found = [side for pair in self.sides if pair for side in pair]
        if any(side.jumps for side in found):
            return "jump"
        return "edge" if any(math.isnan(side.slope) for side in found) else "kink"


def corner(
    op: str, inputs: Sequence[float], partials: Sequence[float] | None = None
) -> Corner | None:
    """The corner of an op at its inputs; None where it is smooth, or not finite anyway.

    ``partials``, where they are at hand, spare working them out.

    >>> found = corner("relu", (0.0,))
    >>> [[side.slope for side in pair] for pair in found.sides], found.why
    ([[0.0, 1.0]], "relu'(0) = 0, as in PyTorch and JAX")
    >>> corner("relu", (1.0,)), corner("tanh", (0.0,)), corner("floor", (2.0,)).kind
    (None, None, 'jump')
    """
    row = OPS.get(op)
    if row is None or row.absent:
        return None
    if partials is not None and not _bends(op) and all(map(math.isfinite, partials)):
        return None
    if not all(map(math.isfinite, inputs)):
        return None
    value = row.evaluate(*inputs)
    if math.isnan(value):
        return None
    partials = row.evaluate_partials(*inputs, value)
    if not _bends(op) and all(map(math.isfinite, partials)):
        return None
    sides = _all_sides(row, inputs, value, partials)
    return Corner(op, sides, _why(row, inputs, sides)) if any(sides) else None


def _all_sides(
    row: Op, inputs: Sequence[float], value: float, partials: Sequence[float]
) -> tuple[tuple[Side, Side] | None, ...]:
    return tuple(
        None if switch else _sides(row, inputs, place, value, partials[place])
        for place, switch in enumerate(_switches(row.name))
    )


@cache
def _bends(op: str) -> bool:
    """Whether the value of a row may have a corner where its partials are finite."""
    row = OPS[op]
    if any(isinstance(part, Where) for part in walk(row.value)):
        return True
    called = calls(row.value)
    return bool(called & _BENT) or any(_bends(name) for name in called & OPS.keys() - PRIMITIVES)


@cache
def _switches(op: str) -> tuple[bool, ...]:
    """By input: whether it only decides, as the condition of ``where``: it is not moved a hair."""
    row = OPS[op]
    flat = [partial == Num(0) for partial in row.partials]
    return tuple(each and not all(flat) for each in flat)


def step_at(number: float) -> float:
    """The smallest move of a number that still tells."""
    return math.ulp(number) if number else _LEAST


def beside(row: Op, inputs: Sequence[float], moves: Sequence[float]) -> tuple[float, list[float]]:
    """The value and the partials of a row, its inputs moved."""
    there = [number + move for number, move in zip(inputs, moves)]
    value = row.evaluate(*there)
    return value, list(row.evaluate_partials(*there, value))


def _sides(
    row: Op, inputs: Sequence[float], place: int, value: float, slope: float
) -> tuple[Side, Side] | None:
    below, above = (
        _side(row, inputs, place, value, slope, way * step_at(inputs[place])) for way in (-1, 1)
    )
    if below.jumps or above.jumps or math.isnan(below.slope) or math.isnan(above.slope):
        return below, above
    gap = abs(above.slope - below.slope)
    return (below, above) if gap > _SAME * max(abs(above.slope), abs(below.slope)) else None


def _side(
    row: Op, inputs: Sequence[float], place: int, value: float, slope: float, move: float
) -> Side:
    moves = [0.0] * len(inputs)
    moves[place] = move
    near, near_slopes = beside(row, inputs, moves)
    moves[place] = 2.0 * move
    far, far_slopes = beside(row, inputs, moves)
    if math.isnan(near) or math.isinf(near) > math.isinf(value):
        return Side(math.nan, near)
    step, first, second = near - value, near_slopes[place], far_slopes[place]
    expected = (abs(first) + (abs(slope) if math.isfinite(slope) else 0.0)) * abs(move)
    if abs(step) > 64.0 * (math.ulp(value) + expected) and abs(far - near) < 1e-3 * abs(step):
        return Side(math.copysign(math.inf, step * move), near, True)
    if not math.isfinite(slope):
        return Side(slope, near)  # steep: the slopes beside it only grow towards it
    settled = abs(second - first) <= 1e-3 * abs(first - slope)
    return Side(first if settled else slope, near)


def _why(row: Op, inputs: Sequence[float], sides: tuple[tuple[Side, Side] | None, ...]) -> str:
    """The convention at a corner: of the edge that is this point, or of one like it."""
    found = Corner(row.name, sides, "")
    for edge in row.edges:
        if edge.at == tuple(inputs):
            return edge.why
    for edge in row.edges:
        if not all(map(math.isfinite, (*edge.at, edge.value))):
            continue
        there = Corner(row.name, _all_sides(row, edge.at, edge.value, edge.partials), "")
        if any(there.sides) and there.kind == found.kind:
            bent = [[pair is not None for pair in each.sides] for each in (found, there)]
            if found.kind == "kink" or bent[0] == bent[1]:
                return edge.why
    return ""


def reason(op: str, inputs: Sequence[float], result: float) -> str:
    """Why an op made what is not finite, in the words of the law; '' where it has none.

    >>> reason("log", (-1.0,), math.nan), reason("log", (-7.0,), math.nan)
    ('no real logarithm below 0', 'no real logarithm below 0')
    """
    row = OPS.get(op)
    if row is None:
        return ""

    def alike(edge: Edge) -> bool:
        if math.isnan(edge.value) != math.isnan(result):
            return False
        return math.isnan(result) or edge.value == result

    def signs(numbers: Sequence[float]) -> list[float]:
        return [math.copysign(1.0, x) if x and x == x else x for x in numbers]

    found = [edge for edge in row.edges if alike(edge)]
    exact = [edge for edge in found if edge.at == tuple(inputs)]
    same = [edge for edge in found if signs(edge.at) == signs(inputs)]
    return (exact or same or [Edge((), 0.0, (), "")])[0].why
