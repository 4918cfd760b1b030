"""The law to the last digits: every row's value and partials, over the whole range, in every core.

A row's own expressions in many digits say what is right: its value, and its partials in the plain
form it shows, not in the form that is computed. That those are the slopes of the value is checked
beside it, from values alone. New rows need no edit here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from retrograde.ops import OPS, Op
from retrograde.ops.expr import Absent, Num

from ..program.support import LEVELS, kernels, same
from . import exact
from .digits import Point, Truth, points, truth, truths, ulp, ulps_off
from .exact import Undefined, mp

DENSE = 60

Numbers = list[tuple[float, ...]]
"""For each point the value, and the partials."""

every_row = pytest.mark.parametrize("name", OPS, scope="module")  # truths are computed once
WHOLE = [power for power in range(-8, 9) if power not in (0, 1)]


# ---- the cores -----------------------------------------------------------------------------------


def eagerly(rg: Any, function: Callable[..., Any], where: list[Point]) -> Numbers:
    """Value and gradients of each point, one after the other."""
    found = []
    for point in where:
        inputs = [rg.Value(number) for number in point]
        result = function(*inputs)
        with suppress(rg.errors.NotDifferentiable):
            result.backward()
        found.append((result.data, *(x.grad for x in inputs)))
    return found


def replayed(rg: Any, function: Callable[..., Any], where: list[Point], level: str) -> Numbers:
    """The same by a compiled function, the points being its rows."""
    compiled = rg.compile(lambda xs: function(*xs))
    with kernels(level):
        try:
            values, gradients = compiled.value_and_grad(np.array(where))
        except rg.errors.NotDifferentiable:
            values, gradients = compiled(np.array(where)), np.zeros_like(where)
    return [(value, *slopes) for value, slopes in zip(values.tolist(), gradients.tolist())]


def in_every_core(
    native: Any, reference: Any, function: Callable[[Any], Callable[..., Any]], where: list[Point]
) -> Iterator[tuple[str, Numbers]]:
    """The numbers of the eager cores, and of the replay at every SIMD level, which are the same."""
    for rg in (native, reference):
        yield rg.__name__, eagerly(rg, function(rg), where)
    replays = [replayed(native, function(native), where, level) for level in LEVELS]
    for level, found in zip(LEVELS, replays):
        assert same(np.array(found), np.array(replays[0])), f"{level} and {LEVELS[0]} differ"
    yield "replay", replays[0]


def wrong(
    known: list[tuple[Point, list[Truth | None]]], found: Numbers, bound: float, core: str
) -> list[str]:
    """The numbers that are further off than the bound, worst first, in words."""
    reports = []
    for (point, rights), numbers in zip(known, found):
        for index, (right, got) in enumerate(zip(rights, numbers)):
            if right is None:
                continue
            off = ulps_off(got, right)
            if not off <= bound:
                what = "value" if index == 0 else f"partial {index - 1}"
                said = f"{core} at {point}: the {what} is {got!r}, not {float(right.number)!r}"
                reports.append((off, f"{said}: {off:.3g} ulps off"))
    return [text for _, text in sorted(reports, reverse=True)]


def assert_digits(
    native: Any,
    reference: Any,
    function: Callable[[Any], Callable[..., Any]],
    known: list[tuple[Point, list[Truth | None]]],
    bound: float,
) -> None:
    where = [point for point, _ in known]
    for core, found in in_every_core(native, reference, function, where):
        reports = wrong(known, found, bound, core)
        assert not reports, f"{len(reports)} numbers beyond {bound} ulps: {reports[:3]}"


# ---- digits --------------------------------------------------------------------------------------


@every_row
def test_value_and_partials_have_their_digits_over_the_whole_range(
    native: Any, reference: Any, name: str
) -> None:
    known = truths(name)
    assert_digits(native, reference, lambda rg: getattr(rg, name), known, OPS[name].ulps)


@pytest.mark.slow
@pytest.mark.sweep
@every_row
def test_value_and_partials_have_their_digits_at_many_points(
    native: Any, reference: Any, name: str
) -> None:
    known = truths(name, DENSE)
    assert_digits(native, reference, lambda rg: getattr(rg, name), known, OPS[name].ulps)


@pytest.mark.parametrize("power", WHOLE)
def test_whole_powers_have_their_digits(native: Any, reference: Any, power: int) -> None:
    """Those made of several rows are measured as one."""

    def value(x: Any) -> Any:
        return exact.call("pow", x, mp.mpf(power))

    def partial(x: Any) -> Any:
        return power * exact.call("pow", x, mp.mpf(power - 1))

    row = OPS["square"]
    known = [
        (point, [truth(value, point), truth(partial, point)])
        for point in [*points(row), (3.086e20,), (1e80,), (-1e80,), (1e-40,)]
    ]
    assert_digits(native, reference, lambda rg: lambda x: x**power, known, row.ulps)


# ---- mathematics ---------------------------------------------------------------------------------


def is_slope(op: Op, index: int, point: Point, claimed: Truth) -> bool | None:
    """Whether the exact partial is the slope of the exact value; None where that cannot be told:
    at a kink, or where the number is below or above all doubles.
    """
    if not exact.TINIEST < mp.mag(claimed.number) < exact.HUGEST:
        return None
    inputs = tuple(map(mp.mpf, point))
    try:
        found = exact.slope(lambda *at: exact.value(op, at), index, inputs, claimed.number)
    except Undefined:
        return None
    return bool(abs(found - claimed.number) <= claimed.unit * 2**15)


@every_row
def test_partials_are_the_slopes_of_the_value_over_the_whole_range(name: str) -> None:
    op = OPS[name]
    tried = 0
    for point, (_, *partials) in truths(name)[::2]:
        for index, claimed in enumerate(partials):
            if claimed is not None and claimed.number:
                verdict = is_slope(op, index, point, claimed)
                tried += verdict is not None
                assert verdict is not False, (point, op.inputs[index])
    assert tried >= 20 or all(partial in (Num(0), Absent()) for partial in op.partials)


# ---- the measure itself --------------------------------------------------------------------------


@every_row
def test_a_partial_wrong_in_the_ninth_digit_is_found(name: str) -> None:
    op, known = OPS[name], truths(name)
    for index, right in enumerate(op.partials):
        if right == Absent():
            continue
        bent = right + 1e-9 if right == Num(0) else right * (1 + 1e-9)
        row = replace(op, partials=(*op.partials[:index], bent, *op.partials[index + 1 :]))
        found = [(value := row.evaluate(*point), *row.evaluate_partials(*point, value))
                 for point, _ in known]  # fmt: skip
        assert wrong(known, found, op.ulps, "bent"), op.inputs[index]


def test_digits_are_counted_in_units_of_the_last_place() -> None:
    right = Truth(mp.mpf(1), mp.mpf(2) ** -52)
    assert ulps_off(1.0, right) == 0.0
    assert ulps_off(math.nextafter(1.0, 2.0), right) == 1.0
    assert ulps_off(math.nan, right) == math.inf
    assert ulps_off(math.inf, Truth(mp.mpf(2) ** 2000, mp.mpf(1))) == 0.0
    assert ulps_off(5e-324, Truth(mp.mpf(0), ulp(mp.zero))) == 1.0
