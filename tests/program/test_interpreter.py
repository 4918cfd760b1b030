"""The interpreter, the executor in plain Python, against the native one and exact numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrograde.program import replay
from retrograde.program.executor import Native
from retrograde.program.interpreter import Interpreter, _exact_fma, chunk_sum, fma
from retrograde.program.passes import remove_stops

from .support import AWKWARD, CASES, TOLERANCE, execute, flat, numbers, same, steady
from .wild import Wild, wild_programs

FLOATS = st.floats(allow_nan=True) | st.sampled_from(AWKWARD) | st.floats(-8.0, 8.0)


@steady(max_examples=1000)
@given(x=FLOATS, y=FLOATS, z=FLOATS)
def test_fma_rounds_once(x: float, y: float, z: float) -> None:
    assert same(fma(x, y, z), _exact_fma(x, y, z))
    if all(map(math.isfinite, (x, y, z))):
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        if abs(exact) < Fraction(2) ** 1023:
            assert fma(x, y, z) == float(exact)


@steady(max_examples=300)
@given(x=st.floats(0.5, 2.0), y=st.floats(0.5, 2.0), bits=st.integers(-60, 3))
def test_fma_where_the_product_cancels(x: float, y: float, bits: int) -> None:
    z = -x * y + math.ldexp(1.0, bits - 52)
    assert same(fma(x, y, z), _exact_fma(x, y, z))


@pytest.mark.parametrize("reduce", [False, True])
@steady(max_examples=100)
@given(wild=wild_programs(), count=st.integers(1, 20))
def test_both_executors_give_the_same_bits(
    native: Any, reduce: bool, wild: Wild, count: int
) -> None:
    """Wild programs are made of what IEEE 754 settles, guards, takes and scatters among it."""
    rows = wild.rows(count)
    program = remove_stops(wild.program)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for executor in (Native(), Interpreter()):
            failed: list[int] = []
            patch.setattr(replay, "executor", executor)
            try:
                numbers_ = execute(program, rows, reduce=reduce, failed=failed)
            except Exception as error:
                found.append((type(error), []))
                continue
            found.append((numbers_, failed))
    (one, failed_one), (other, failed_other) = found
    assert failed_one == failed_other
    if isinstance(one, type) or isinstance(other, type):
        assert one is other
    elif not reduce:
        kept = [row for row in range(count) if row not in failed_one]
        assert same(one[kept], other[kept])
    elif not failed_one:
        assert same(one, other)


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 1023, 1024, 1025, 3000])
def test_sums_are_added_in_the_same_order(native: Any, reference: Any, rows: int) -> None:
    x = numbers(rows, seed=rows) * 10.0 ** numbers(rows, -8.0, 8.0, seed=rows + 1)
    one, other = (
        rg.compile(lambda x, w: x * w).value_and_grad(x, 3.0, reduce="sum")
        for rg in (native, reference)
    )
    assert one[0] == other[0]
    assert one[1][1] == other[1][1]
    assert same(one[1][0], other[1][0])


def test_a_sum_of_a_uniform_number() -> None:
    assert chunk_sum(0.1, 3) == chunk_sum([0.1, 0.1, 0.1], 3)
    assert math.copysign(1.0, chunk_sum(-0.0, 1)) == 1.0  # as 0 + -0 is


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("rows", [1, 30, 1100])
def test_replays_of_both_cores_agree(native: Any, reference: Any, name: str, rows: int) -> None:
    case = CASES[name]
    columns = case.columns(rows)
    found = [
        flat(rg.compile(case.make(rg)).value_and_grad(**columns)) for rg in (native, reference)
    ]
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=10 * TOLERANCE, atol=10 * TOLERANCE)


def test_the_replay_of_the_reference_core_has_the_bits_of_its_eager_values(reference: Any) -> None:
    case = CASES["black_scholes"]
    columns, price = case.columns(20), case.make(reference)
    replayed = reference.compile(price)(**columns)
    for row, number in enumerate(replayed):
        given = {n: c[row] if isinstance(c, np.ndarray) else c for n, c in columns.items()}
        eager = price(**{name: reference.Value(float(x)) for name, x in given.items()})
        assert number == eager.data
