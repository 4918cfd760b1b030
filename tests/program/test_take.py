"""take: an element of a list chosen row by row, eagerly and compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from .support import LEVELS, eager, flat, kernels, numbers, same

ROWS = 2100
INDEX = np.random.default_rng(0).integers(0, 4, ROWS)
X = numbers(ROWS, seed=1)
Y = numbers(ROWS, seed=2)


# ---- eagerly -------------------------------------------------------------------------------------


def test_eagerly_it_is_the_element_itself(rg: Any) -> None:
    table = [rg.Value(1.0), rg.Value(2.0)]
    assert rg.take(table, 1) is table[1]
    assert rg.take(table, rg.Value(0.0)) is table[0]
    assert rg.take(tuple(table), np.int64(1)) is table[1]
    assert rg.take([1.0, 2.0], rg.Value(1.0)) == 2.0
    nested = [[table[0], 1.0], [table[1], 2.0]]
    assert rg.take(nested, rg.Value(1.0)) is nested[1]
    rg.take(table, 1).backward()
    assert [v.grad for v in table] == [0.0, 1.0]


@pytest.mark.parametrize("index", [2.0, -1.0, 0.5, math.nan, math.inf, 1e300])
def test_eagerly_an_index_outside_the_list_raises(rg: Any, index: float) -> None:
    with pytest.raises(rg.errors.TakeError) as caught:
        rg.take([1.0, 2.0], rg.Value(index))
    assert isinstance(caught.value, IndexError)
    assert str(caught.value) == (
        f"take: index {index!r} in a list of 2; it must be a whole number from 0 to 1."
    )


# ---- compiled ------------------------------------------------------------------------------------


def test_the_choice_is_made_row_by_row(rg: Any) -> None:
    table = [10.0, 20.0, 30.0, 40.0]
    f = rg.compile(lambda i: rg.take(table, i))
    assert same(f(INDEX), np.array(table)[INDEX])
    assert f(2) == 30.0
    assert f(np.array([3]))[0] == 40.0


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint32, np.float64, np.float32, bool])
def test_indices_of_any_type(rg: Any, dtype: Any) -> None:
    f = rg.compile(lambda i: rg.take([10.0, 20.0], i))
    index = (INDEX > 1).astype(dtype)
    assert same(f(index), np.where(INDEX > 1, 20.0, 10.0))


def build(rg: Any) -> Any:
    def f(i: Any, x: Any, y: Any, us: Any) -> Any:
        first = rg.take([x, x * y, 2.0, us[0]], i)
        second = rg.take([x, x * y, 2.0, us[0]], 3.0 - i)
        row = rg.take([[x, y], [y, us[1]], [1.0, x], [us[0], us[1]]], i)
        return first * second + rg.dot(row, [x, y]) + rg.take(us, 1)

    return f


@pytest.mark.parametrize("index", ["rows", "uniform"])
def test_values_and_gradients_are_those_of_eager_take(rg: Any, index: str) -> None:
    rows = 60
    arguments = {
        "i": INDEX[:rows].astype(float) if index == "rows" else 2.0,
        "x": X[:rows], "y": Y[:rows], "us": [0.3, -0.8],
    }  # fmt: skip
    values, grads = rg.compile(build(rg)).value_and_grad(**arguments, wrt=("x", "y", "us"))
    expected = eager(rg, build(rg), arguments, rows)
    assert np.allclose(values, expected.values, rtol=1e-15)
    assert np.allclose(np.array(flat(grads)).T, expected.grads[:, 1:], rtol=1e-14, atol=1e-15)


def test_integer_columns_are_differentiated_as_numbers_where_they_are_named(rg: Any) -> None:
    f = rg.compile(lambda i, x: rg.take([x, x * x], i) * i)
    gradient = f.grad(INDEX % 2, X, wrt="x")
    assert same(gradient, np.where(INDEX % 2 == 1, 2 * X, 0.0))
    by_index, by_x = f.grad(INDEX % 2, X, wrt=("i", "x"))
    assert same(by_index, np.where(INDEX % 2 == 1, X * X, X))
    assert same(by_x, gradient)


@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_gradients_scatter_into_captured_tables(rg: Any, reduce: str) -> None:
    table = [rg.Value(float(k + 1)) for k in range(4)]
    step = rg.compile(lambda i, x: (rg.take(table, i) - x) ** 2)
    got = step.backward(INDEX, X, reduce=reduce)
    data = np.arange(1.0, 5.0)
    losses = (data[INDEX] - X) ** 2
    scale = 1 / ROWS if reduce == "mean" else 1.0
    assert math.isclose(got, losses.sum() * scale, rel_tol=1e-13)
    for k, value in enumerate(table):
        wanted = 2 * (data[k] - X[k == INDEX]).sum() * scale
        assert math.isclose(value.grad, wanted, rel_tol=1e-12, abs_tol=1e-12)


def test_a_table_of_rows_as_for_embeddings(rg: Any) -> None:
    table = [[rg.Value(float(10 * k + j)) for j in range(3)] for k in range(4)]
    step = rg.compile(lambda i, j: rg.dot(rg.take(table, i), rg.take(table, j)))
    other = (INDEX + 1) % 4
    numbers_of = np.array([[10.0 * k + j for j in range(3)] for k in range(4)])
    assert same(step(INDEX, other), (numbers_of[INDEX] * numbers_of[other]).sum(axis=1))
    step.backward(INDEX, other)
    grads = rg.grads(table)
    wanted = np.zeros((4, 3))
    np.add.at(wanted, INDEX, numbers_of[other])
    np.add.at(wanted, other, numbers_of[INDEX])
    assert np.allclose(grads, wanted, rtol=1e-14)


def test_takes_of_takes(rg: Any) -> None:
    f = rg.compile(lambda i, x: rg.take([x, 2 * x, 3 * x, 4 * x], rg.take([3.0, 2.0, 1.0, 0.0], i)))
    values, (_, grads) = f.value_and_grad(INDEX, X)
    assert same(values, (4.0 - INDEX) * X)
    assert same(grads, 4.0 - INDEX)


def test_a_computed_index(rg: Any) -> None:
    f = rg.compile(lambda x: rg.take([-1.0, 0.0, 1.0], rg.floor(x) + 1.0) * x)
    x = np.array([-0.5, 0.5, 1.5, 0.0, 1.0])
    assert same(f(x), np.floor(x) * x)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rows", [1, 7, 8, 9, 1024, 1025, ROWS])
def test_padding_lanes_take_nothing(native: Any, level: str, rows: int) -> None:
    f = native.compile(lambda i, x: native.take([x, 10.0 * x, 100.0 * x, x * x], i))
    with kernels(level):
        values, grads = f.value_and_grad(INDEX[:rows], X[:rows], wrt="x")
    powers = np.stack([X, 10 * X, 100 * X, X * X])
    slopes = np.stack([1 + 0 * X, 10 + 0 * X, 100 + 0 * X, 2 * X])
    assert same(values, powers[INDEX, np.arange(ROWS)][:rows])
    assert same(grads, slopes[INDEX, np.arange(ROWS)][:rows])


def test_infinities_and_nans_stay_in_the_rows_that_take_them(rg: Any) -> None:
    f = rg.compile(lambda i, x: rg.take([x, math.nan, math.inf, -0.0], i))
    rows = np.array([0, 1, 2, 3, 0]), np.array([1.0, 2, 3, 4, 5])
    values, grads = f.value_and_grad(*rows, wrt="x")
    assert same(values, [1.0, math.nan, math.inf, -0.0, 5.0])
    assert same(grads, [1.0, 0.0, 0.0, 0.0, 1.0])


# ---- indices that are none -----------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [4.0, -1.0, 0.5, math.nan, math.inf, -math.inf, 1e300])
@pytest.mark.parametrize("where", [1, 8, 1023, 1024, ROWS - 1])
def test_a_row_outside_the_list_raises_wherever_it_is(rg: Any, wrong: float, where: int) -> None:
    f = rg.compile(lambda i, x: rg.take([x, 2.0, 3.0, 4.0], i))
    index = INDEX.astype(float)
    f(index, X)
    index[where] = wrong
    for call in (f, f.grad):
        with pytest.raises(rg.errors.TakeError) as caught:
            call(index, X)
        assert "an index that is not a whole number inside the list" in str(caught.value)
    index[where] = 0.0
    assert same(f(index, X)[where], X[where])


def test_a_recorded_row_outside_the_list_raises_with_the_index(rg: Any) -> None:
    f = rg.compile(lambda i: rg.take([1.0, 2.0], i))
    with pytest.raises(rg.errors.TakeError, match=r"index 2\.0 in a list of 2"):
        f(np.array([2.0, 0.0]))
    with pytest.raises(rg.errors.TakeError, match=r"index 5\.0 in a list of 2"):
        f(5)
    assert f(1) == 2.0
    with pytest.raises(rg.errors.TakeError):
        f(7)


def test_lists_of_different_lengths_and_empty_ones_raise(rg: Any) -> None:
    with pytest.raises(rg.errors.ShapeError, match="item 0 is list of 2, item 1 is list of 1"):
        rg.compile(lambda i, x: rg.take([[x, x], [x]], i)[0])(INDEX % 2, X)
    with pytest.raises(rg.errors.TakeError, match="in a list of 0"):
        rg.compile(lambda i: rg.take([], i))(INDEX)


def test_no_rows_need_no_index(rg: Any) -> None:
    f = rg.compile(lambda i, x: rg.take([x], i))
    assert f(np.empty(0, dtype=int), np.empty(0)).shape == (0,)


def test_a_take_knows_its_line(rg: Any) -> None:
    f = rg.compile(lambda i: rg.take([1.0, 2.0], i))
    f(INDEX % 2)
    (trace,) = f.traces
    (take,) = trace.program.instructions
    assert trace.program.site(take.site).file == __file__
