"""The native engine and the reference give the same numbers: to the bit where IEEE 754 decides,
within two ulps where libm does.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest

from retrograde.ops import OPS, Op

from .expressions import is_exact, same_bits, ulps_apart

SEED = -0.75
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, math.inf, -math.inf, math.nan]
EXTREME = [
    sign * size
    for size in (5e-324, 1e-308, 1e308, 709.0, 710.0, 1e16, 2.0, 3.0, 1e-9)
    for sign in (1.0, -1.0)
]

every_row = pytest.mark.parametrize("op", OPS.values(), ids=OPS)


def awkward_points(op: Op) -> Iterator[tuple[float, ...]]:
    """Every combination of awkward and random numbers; fewer of them the more inputs there are."""
    rng = random.Random(op.name)
    numbers = SPECIAL + EXTREME if op.arity < 3 else SPECIAL + EXTREME[:6]
    count = {1: 200, 2: 8}.get(op.arity, 2)
    numbers += [rng.uniform(-5.0, 5.0) for _ in range(count)]
    numbers += [rng.choice((-1.0, 1.0)) * 2.0 ** rng.uniform(-60.0, 60.0) for _ in range(count)]
    yield from product(numbers, repeat=op.arity)
    for _ in range(100):
        yield tuple(rng.uniform(*bounds) for bounds in op.domain)


def agree_on(op: Op) -> Callable[[float, float], bool]:
    """How closely two engines' numbers for a row must agree."""
    return same_bits if is_exact(op) else lambda left, right: ulps_apart(left, right) <= 2


def numbers_of(rg: Any, op: Op, operands: tuple[Any, ...]) -> tuple[float, ...]:
    """Everything a row makes of its operands: value, partials, contributions."""
    result = getattr(rg, op.name)(*operands)
    result.backward(SEED)
    return (result.data, *result.partials, *(v.grad for v in operands if isinstance(v, rg.Value)))


def disagreements(
    native: Any, reference: Any, op: Op, as_value: tuple[bool, ...]
) -> list[tuple[Any, ...]]:
    """The points where the engines differ, some operands being values and the others numbers."""
    agree = agree_on(op)
    found = []
    for point in awkward_points(op):
        got, expected = (
            numbers_of(
                rg, op, tuple(rg.Value(n) if wrap else n for n, wrap in zip(point, as_value))
            )
            for rg in (native, reference)
        )
        if len(got) != len(expected) or not all(map(agree, got, expected)):
            found.append((point, got, expected))
    return found


@every_row
def test_values_partials_and_contributions_agree(native: Any, reference: Any, op: Op) -> None:
    assert disagreements(native, reference, op, (True,) * op.arity) == []


@pytest.mark.parametrize(
    ("op", "position"),
    [(op, i) for op in OPS.values() if op.arity > 1 for i in range(op.arity)],
    ids=[f"{op.name}-{name}" for op in OPS.values() if op.arity > 1 for name in op.inputs],
)
def test_they_agree_with_one_value_among_numbers(
    native: Any, reference: Any, op: Op, position: int
) -> None:
    as_value = tuple(index == position for index in range(op.arity))
    assert disagreements(native, reference, op, as_value) == []


@every_row
def test_they_agree_on_numbers_alone(native: Any, reference: Any, op: Op) -> None:
    agree = agree_on(op)
    for point in awkward_points(op):
        got, expected = (getattr(rg, op.name)(*point) for rg in (native, reference))
        assert type(got) is type(expected) is float
        assert agree(got, expected), (point, got, expected)


@every_row
def test_the_same_value_may_be_every_input(native: Any, reference: Any, op: Op) -> None:
    agree = agree_on(op)
    for number in SPECIAL + EXTREME:
        results = []
        for rg in (native, reference):
            x = rg.Value(number)
            result = getattr(rg, op.name)(*(x,) * op.arity)
            result.backward(SEED)
            results.append((result.data, *result.partials, x.grad))
        assert all(map(agree, *results)), (number, results)


@every_row
def test_the_reference_computes_what_the_row_says(reference: Any, op: Op) -> None:
    for point in awkward_points(op):
        result = getattr(reference, op.name)(*map(reference.Value, point))
        assert same_bits(result.data, op.evaluate(*point))
        expected = op.evaluate_partials(*point, result.data)
        assert all(map(same_bits, result.partials, expected))


@pytest.mark.parametrize(
    ("op", "exact"),
    [("mul", True), ("abs", True), ("clip", True), ("sqrt", True), ("exp", False),
     ("softplus", False), ("gelu", False), ("hypot", False), ("pow", False)],
)  # fmt: skip
def test_a_row_counts_as_exact_only_without_libm(op: str, exact: bool) -> None:
    assert is_exact(OPS[op]) is exact
