"""Summaries: native and by NumPy alike, at every length, for every kind of number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from retrograde.passes.summary import EMPTY, Summary, joined, place_of
from retrograde.value import core_name

FLOATS = st.floats(width=32, allow_nan=True, allow_infinity=True)
native_only = pytest.mark.skipif(core_name != "native", reason="reads memory by address")


def same(found, exact):
    assert (found.count, found.zeros, found.nans, found.infs, found.first) == (
        exact.count, exact.zeros, exact.nans, exact.infs, exact.first,
    )  # fmt: skip
    assert (found.low, found.high) == (exact.low, exact.high)
    assert found.norm == pytest.approx(exact.norm, rel=1e-5, abs=1e-38)
    assert found.mean == pytest.approx(exact.mean, rel=1e-3, abs=1e-6 * exact.norm + 1e-38)


@native_only
@settings(max_examples=150, deadline=None)
@given(arrays(np.float32, st.integers(1, 300), elements=FLOATS))
def test_float32_is_read_as_numpy_does(array):
    same(
        Summary.at(array.ctypes.data, "float32", array.size),
        Summary._by_numpy(array.astype(np.float64)),
    )


@native_only
@pytest.mark.parametrize("count", [1, 7, 8, 9, 15, 16, 17, 2047, 2048, 2049, 5000])
@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16", "float64"])
def test_every_length_and_kind(kind, count):
    rng = np.random.default_rng(count)
    numbers = rng.standard_normal(count).astype(np.float32)
    numbers[rng.random(count) < 0.2] = 0.0
    numbers[rng.random(count) < 0.01] = np.nan
    numbers[rng.random(count) < 0.01] = -np.inf
    if kind == "bfloat16":
        stored = (numbers.view(np.uint32) >> 16).astype(np.uint16)
        exact = (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    else:
        stored = numbers.astype(kind)
        exact = stored.astype(np.float64)
    same(Summary.at(stored.ctypes.data, kind, count), Summary._by_numpy(exact))


@native_only
@pytest.mark.parametrize("size", [1e-40, 1e-30, 1e-22, 1e18, 1e30, 3e38])
def test_squares_neither_overflow_nor_vanish(size):
    array = np.full(100, size, np.float32)
    exact = float(array[0]) * 10.0
    assert Summary.at(array.ctypes.data, "float32", 100).norm == pytest.approx(exact, rel=1e-6)


def test_a_number_is_the_array_of_one():
    for x in (2.0, -0.5, 0.0, float("nan"), float("inf")):
        number, array = Summary.number(x), Summary._by_numpy(np.array([x]))
        fields = ("count", "norm", "zeros", "nans", "infs", "first")
        assert [getattr(number, name) for name in fields] == [
            getattr(array, name) for name in fields
        ]


@given(st.lists(st.lists(FLOATS, min_size=1, max_size=9), min_size=1, max_size=5))
def test_parts_joined_are_the_whole(parts):
    whole = np.array([x for part in parts for x in part])
    with np.errstate(all="ignore"):
        found = joined([Summary._by_numpy(np.array(part)) for part in parts])
        same(found, Summary._by_numpy(whole))


def test_nothing_is_empty():
    assert Summary.of([]) == EMPTY
    assert joined([EMPTY, EMPTY]) == EMPTY
    assert str(EMPTY) == "empty"


def test_a_flat_index_has_one_index_an_axis():
    shape = (3, 4, 5)
    assert [place_of(k, shape) for k in (0, 59)] == [(0, 0, 0), (2, 3, 4)]
