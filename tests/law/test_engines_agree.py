"""The native engine and the reference give the same numbers: to the bit where IEEE 754 decides,
within two ulps a call where libm does.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from retrograde.ops import OPS, Op

from .expressions import is_exact, libm_calls, same_bits, ulps_apart

SEED = -0.75
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, math.inf, -math.inf, math.nan]
EXTREME = [
    sign * size
    for size in (5e-324, 1e-308, 1e308, 709.0, 710.0, 1e16, 2.0, 3.0, 1e-9)
    for sign in (1.0, -1.0)
]

every_row = pytest.mark.parametrize("op", OPS.values(), ids=OPS)
DIFFERENTIABLE = [op for op in OPS.values() if not op.absent]
every_differentiable_row = pytest.mark.parametrize(
    "op", DIFFERENTIABLE, ids=[op.name for op in DIFFERENTIABLE]
)


def awkward_points(op: Op) -> Iterator[tuple[float, ...]]:
    """Every combination of awkward and random numbers; fewer of them the more inputs there are."""
    rng = random.Random(op.name)
    numbers = SPECIAL + EXTREME if op.arity < 3 else SPECIAL + EXTREME[:6]
    count = {1: 200, 2: 4}.get(op.arity, 2)
    numbers += [rng.uniform(-5.0, 5.0) for _ in range(count)]
    numbers += [rng.choice((-1.0, 1.0)) * 2.0 ** rng.uniform(-60.0, 60.0) for _ in range(count)]
    yield from product(numbers, repeat=op.arity)
    for _ in range(100):
        yield tuple(rng.uniform(*bounds) for bounds in op.domain)


def tolerances(op: Op) -> tuple[int, ...]:
    """How many ulps the engines may differ by in a row's value and each of its partials.

    Two for each result of libm that goes into it; none, to the bit, where none does.
    """
    return tuple(2 * libm_calls(node, op) for node in (op.value, *op.partials))


def agree(left: float, right: float, tolerance: int) -> bool:
    return ulps_apart(left, right) <= tolerance if tolerance else same_bits(left, right)


def disagreements(
    native: Any, reference: Any, op: Op, as_value: tuple[bool, ...]
) -> list[tuple[Any, ...]]:
    """The points where the engines differ, some operands being values and the others numbers."""
    found = []
    for point in awkward_points(op):
        seen = []
        for rg in (native, reference):
            operands = [rg.Value(n) if wrap else n for n, wrap in zip(point, as_value)]
            result = getattr(rg, op.name)(*operands)
            seen.append((result.data, *result.partials))
        if len(seen[0]) != len(seen[1]) or not all(map(agree, *seen, tolerances(op))):
            found.append((point, *seen))
    return found


@every_row
def test_values_and_partials_agree(native: Any, reference: Any, op: Op) -> None:
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
    for point in awkward_points(op):
        got, expected = (getattr(rg, op.name)(*point) for rg in (native, reference))
        assert type(got) is type(expected) is float
        assert agree(got, expected, tolerances(op)[0]), (point, got, expected)


@every_differentiable_row
def test_a_contribution_is_partial_times_upstream_to_the_bit(rg: Any, op: Op) -> None:
    for point in awkward_points(op):
        inputs = [rg.Value(number) for number in point]
        result = getattr(rg, op.name)(*inputs)
        result.backward(SEED)
        expected = [0.0 + partial * SEED for partial in result.partials]
        assert all(map(same_bits, (v.grad for v in inputs), expected)), (point, expected)


@every_differentiable_row
def test_contributions_to_one_value_add_up_in_order(rg: Any, op: Op) -> None:
    for number in SPECIAL + EXTREME:
        x = rg.Value(number)
        result = getattr(rg, op.name)(*(x,) * op.arity)
        result.backward(SEED)
        expected = 0.0
        for partial in result.partials:
            expected += partial * SEED
        assert same_bits(x.grad, expected), (number, result.partials)


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
