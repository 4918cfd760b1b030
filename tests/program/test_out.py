"""Results written into arrays of the caller's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .support import numbers, same


def branchy(x: Any, y: Any) -> Any:
    return x * y if x > 0 else x - y


def test_values_go_into_the_array_given(rg: Any) -> None:
    f = rg.compile(branchy)
    x, y = numbers(3000), numbers(3000, seed=1)
    expected = f(x, y)
    out = np.full(3000, np.nan)
    assert f(x, y, out=out) is out
    assert same(out, expected)


def test_gradients_go_where_told_and_none_is_a_new_array(rg: Any) -> None:
    f = rg.compile(branchy)
    x, y = numbers(500), numbers(500, seed=1)
    value, (dx, dy) = f.value_and_grad(x, y)
    mine = np.empty(500)
    got_value, (got_dx, got_dy) = f.value_and_grad(x, y, out=(None, (mine, None)))
    assert got_dx is mine
    assert same(got_value, value)
    assert same(got_dx, dx)
    assert same(got_dy, dy)
    bare = np.empty(500)
    assert f.grad(x, y, wrt="y", out=bare) is bare
    assert same(bare, dy)


@pytest.mark.parametrize("make", [
    lambda rows: np.empty((rows, 2)), lambda rows: np.empty((2, rows)).T,
    lambda rows: np.empty((2 * rows, 6))[::2, 1::3], lambda rows: np.empty((rows, 2))[::-1],
])  # fmt: skip
def test_arrays_of_any_strides(rg: Any, make: Any) -> None:
    f = rg.compile(lambda v: v[0] ** 2 * v[1])
    v = numbers(200).reshape(100, 2)
    out = make(100)
    assert f.grad(v, out=out) is out
    assert same(out, f.grad(v))


def test_columns_of_one_array_are_separate(rg: Any) -> None:
    f = rg.compile(branchy)
    x, y = numbers(50), numbers(50, seed=1)
    table = np.empty((50, 3))
    f.value_and_grad(x, y, out=(table[:, 0], (table[:, 1], table[:, 2])))
    value, (dx, dy) = f.value_and_grad(x, y)
    assert same(table, np.column_stack([value, dx, dy]))


def test_nests_of_results(rg: Any) -> None:
    f = rg.compile(lambda x: {"a": x * 2, "b": [x, x + 1]})
    x = numbers(20)
    a, b = np.empty(20), np.empty(20)
    got = f(x, out={"a": a, "b": [None, b]})
    assert got["a"] is a
    assert got["b"][1] is b
    assert same(a, x * 2)
    assert same(b, x + 1)
    assert same(got["b"][0], x)
    g = rg.compile(lambda p: p["u"] * p["v"][1])
    u, v = np.empty(20), np.empty((20, 2))
    point = {"u": x, "v": np.column_stack([x, x * x])}
    assert g.grad(point, out={"u": u, "v": v})["v"] is v
    assert same(u, x * x)
    assert same(v, np.column_stack([np.zeros(20), x]))


def test_uniform_arrays_get_an_axis_of_rows(rg: Any) -> None:
    f = rg.compile(lambda x, w: rg.dot(w[0], [x, 2 * x]))
    x = numbers(9)
    out = np.empty((9, 1, 2))
    assert f.grad(x, rg.uniform(np.ones((1, 2))), wrt="w", out=out) is out
    assert same(out[:, 0], np.column_stack([x, 2 * x]))


X = np.ones(4)
READ_ONLY = np.empty(4)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("out", "text"),
    [
        (np.empty(3), r"out: it must be a float64 array of shape \(4,\)"),
        (np.empty((4, 1)), "out: it must be a float64 array"),
        (np.empty(4, dtype=np.float32), "out: it must be a float64 array"),
        ([0.0] * 4, "out: it must be a float64 array"),
        (READ_ONLY, "out: it is read-only"),
        (X, "out: it shares memory with an argument"),
    ],
)
def test_what_cannot_be_written_to_is_refused(rg: Any, out: Any, text: str) -> None:
    f = rg.compile(lambda x: x * 2)
    with pytest.raises(rg.errors.RowsError, match=text):
        f(X, out=out)
    assert same(X, np.ones(4))


def test_results_may_not_share_memory(rg: Any) -> None:
    f = rg.compile(branchy)
    one = np.empty(4)
    with pytest.raises(rg.errors.RowsError, match=r"out\[1\]\[1\]: it shares memory with another"):
        f.value_and_grad(X, X, out=(None, (one, one)))


def test_the_gradients_alone_are_called_out(rg: Any) -> None:
    f = rg.compile(branchy)
    for wrt, out, text in [
        ("x", np.empty(3), r"^out: it must be a float64 array"),
        (None, (np.empty(4), np.empty(3)), r"^out\[1\]: it must be a float64 array"),
    ]:
        with pytest.raises(rg.errors.RowsError, match=text):
            f.grad(X, X, wrt=wrt, out=out)
    with pytest.raises(rg.errors.RowsError, match=r"^out\[1\]: it must be a float64 array"):
        f.value_and_grad(X, X, wrt="x", out=(None, np.empty(3)))
    with pytest.raises(rg.errors.CompileError, match=r"out\[1\] must be a tuple of 2 entries"):
        f.value_and_grad(X, X, out=(None, np.empty(4)))


def test_wrong_nests_are_refused(rg: Any) -> None:
    f = rg.compile(branchy)
    with pytest.raises(rg.errors.CompileError, match="out must be a tuple of 2 entries"):
        f.value_and_grad(X, X, out=np.empty(4))
    with pytest.raises(rg.errors.CompileError, match="out= does not go with reduce="):
        f.value_and_grad(X, X, out=(None, None), reduce="sum")
    two = rg.compile(lambda x: [x, x])
    with pytest.raises(rg.errors.CompileError, match=r"out must be a nest like the result"):
        two(X, out=[np.empty(4)])
    with pytest.raises(rg.errors.RowsError, match="there are no rows"):
        rg.compile(lambda x: x * 2)(1.0, out=np.empty(1))
