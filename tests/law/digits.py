"""How many digits a number has right: points over the whole range of an op, the exact values and
partials there, and how far off a core is.
"""

from __future__ import annotations

import math
import random
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain, product
from typing import Any

from retrograde.ops import OPS, Op
from retrograde.ops.expr import Compare, Num, walk

from . import exact
from .exact import Undefined, difference, mp, settled

Point = tuple[float, ...]

MAX, SMALLEST, TINY = sys.float_info.max, sys.float_info.min, 5e-324
LAST = 0x7FEF_FFFF_FFFF_FFFF
"""The bits of the largest double."""


# ---- points --------------------------------------------------------------------------------------

RANGES = (1.0, 4.0, 10.0, 40.0, 800.0)
LANDMARKS = (0.5, 1.0, 2.0, math.pi / 2, math.pi)
BESIDE = (0.0, 2.0**-52, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3)
ENDS = (0.0, TINY, 1e-310, SMALLEST, 1e-160, 1e-154, 1e154, 1e160, 1e300, MAX)
CROSSED = (
    0.0, TINY, 3e-320, 1e-315, 1e-308, 1e-200, 1e-100, 1e-20, 1e-8, 0.3, 0.5, 1.0, 1.0 + 2.0**-52,
    1.7, 2.0, 3.0, 10.0, 41.0, 700.0, 1e5, 1e20, 1e100, 1e200, 1e308, MAX,
)  # fmt: skip


def spread(rng: random.Random) -> float:
    """A positive double whose bits are uniform: every exponent alike, denormals included."""
    (number,) = struct.unpack("d", struct.pack("q", rng.randint(1, LAST)))
    return float(number)


def thresholds(op: Op, seen: tuple[str, ...] = ()) -> Iterator[float]:
    """Numbers a row, or a row it calls, compares something with: its formula may change there."""
    for node in chain.from_iterable(map(walk, (op.value, *op.partials))):
        if isinstance(node, Compare):
            for side in (node.left, node.right):
                if isinstance(side, Num) and math.isfinite(side.value):
                    yield abs(side.value)
    for name in op.calls & OPS.keys():
        if name not in seen and name != op.name:
            yield from thresholds(OPS[name], (*seen, op.name))


def one_input(op: Op, dense: int) -> Iterator[float]:
    """The line: every magnitude, the everyday ranges, and what lies around landmarks."""
    rng = random.Random(op.name)
    for size in ENDS:
        yield from (size, -size)
    for _ in range(10 * dense):
        yield rng.choice((-1.0, 1.0)) * spread(rng)
        yield rng.choice((-1.0, 1.0)) * 10.0 ** rng.uniform(-20.0, 5.0)
    for width in RANGES:
        for _ in range(5 * dense):
            yield rng.uniform(-width, width)
    for _ in range(20 * dense):
        yield rng.uniform(*op.domain[0])
    for mark in {*LANDMARKS, *thresholds(op)}:
        for off in BESIDE:
            for sign, side in product((1.0, -1.0), repeat=2):
                yield sign * (mark + side * off * max(mark, 1.0) * rng.uniform(0.5, 1.0))


def several_inputs(op: Op, dense: int) -> Iterator[Point]:
    """Crossed points, those of the domain, and pairs whose sizes belong together."""
    rng = random.Random(op.name)
    crossed = [*product(CROSSED, repeat=op.arity)]
    for sizes in rng.sample(crossed, min(len(crossed), 200 * dense)):
        for _ in range(min(dense, 4)):
            yield tuple(rng.choice((-1.0, 1.0)) * size for size in sizes)
    for _ in range(20 * dense):
        yield tuple(rng.uniform(*bounds) for bounds in op.domain)
        yield tuple(rng.choice((-1.0, 1.0)) * spread(rng) for _ in op.inputs)
        first = rng.choice((-1.0, 1.0)) * spread(rng)
        yield (first, *(first * rng.uniform(-2.0, 2.0) for _ in op.inputs[1:]))
        near_one = 1.0 + rng.choice((-1.0, 1.0)) * 10.0 ** rng.uniform(-16.0, -1.0)
        yield (near_one, *(10.0 ** rng.uniform(-3.0, 12.0) for _ in op.inputs[1:]))


def points(op: Op, dense: int = 1) -> list[Point]:
    """Points over the whole range of a row, the same ones every time."""
    single = op.arity == 1
    found = ((x,) for x in one_input(op, dense)) if single else several_inputs(op, dense)
    unsigned = (tuple(x + 0.0 for x in point) for point in found)  # mpmath has no -0
    return [point for point in dict.fromkeys(unsigned) if all(map(math.isfinite, point))]


# ---- what is right there -------------------------------------------------------------------------


CLOSE = 60
"""Bits that two points share whose difference is a slope: for a unit, a rough one will do."""


@dataclass(frozen=True)
class Truth:
    """A number in many digits, and what an error of it is counted in."""

    number: Any
    unit: Any


def truth(function: Callable[..., Any], point: Point) -> Truth | None:
    """A function at a point. Errors count in ulps of max(|f|, |x·f′|) over the inputs.

    Of a denormal x in what its last bit makes of f: it has fewer digits to hand on. None where the
    function has no real number.
    """
    inputs = tuple(map(mp.mpf, point))
    try:
        number, bits = settled(function, inputs)
    except Undefined:
        return None
    units = [ulp(number)]
    with mp.workprec(bits + 2 * CLOSE):
        for index, x in enumerate(inputs):
            with suppress(Undefined):
                change = difference(function, index, inputs, mp.ldexp(x, -CLOSE))
                size = abs(mp.ldexp(change, CLOSE))
                units.append(ulp(size) if abs(x) >= SMALLEST or not x else size * ulp(x) / abs(x))
    return Truth(number, max(units))


@cache
def truths(name: str, dense: int = 1) -> list[tuple[Point, list[Truth | None]]]:
    """The points where a row has a value, with that and its partials."""
    op = OPS[name]

    def value(*inputs: Any) -> Any:
        return exact.value(op, inputs)

    def slope(index: int) -> Callable[..., Any]:
        return lambda *inputs: exact.partial(op, index, inputs)

    found = []
    for point in points(op, dense):
        right = truth(value, point)
        if right is not None:
            found.append((point, [right, *(truth(slope(i), point) for i in range(op.arity))]))
    return found


# ---- how far off a number is ---------------------------------------------------------------------


def ulp(size: Any) -> Any:
    """The unit in the last place of a number of that size; of the largest, beyond it."""
    return mp.ldexp(1, max(int(mp.mag(size)) - 53, -1074)) if size else mp.ldexp(1, -1074)


def ulps_off(got: float, right: Truth) -> float:
    """By how many of its units a number is wrong; infinity stands for 2^1024."""
    if math.isnan(got):
        return math.inf
    end = mp.ldexp(1, 1024)
    number = max(-end, min(end, right.number))
    given = mp.mpf(got) if math.isfinite(got) else math.copysign(1, got) * end
    return float(abs(given - number) / right.unit)
