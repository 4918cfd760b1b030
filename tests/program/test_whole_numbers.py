"""Integer columns: every argument has its place among the gradients; that of an index is 0."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

X = np.array([1.0, 2.0, 3.0])
INDEX = np.array([0, 1, 1])


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint16, bool])
@pytest.mark.parametrize("reduce", [None, "sum", "mean"])
def test_an_index_keeps_its_place_with_zeros(rg: Any, dtype: Any, reduce: Any) -> None:
    f = rg.compile(lambda i, x, a: rg.take([x, a * x * x], i))
    by_i, by_x, by_a = f.grad(INDEX.astype(dtype), X, 3.0, reduce=reduce)
    scale = 3.0 if reduce == "mean" else 1.0
    assert by_i.tolist() == [0.0, 0.0, 0.0]
    assert by_i.dtype == np.float64
    assert by_x.tolist() == [1.0 / scale, 12.0 / scale, 18.0 / scale]
    assert np.sum(by_a) == pytest.approx(13.0 / scale)


def test_positions_match_in_every_kind_of_derivative(rg: Any) -> None:
    f = rg.compile(lambda i, x: rg.take([x, x * x], 1 - i))
    assert [part.tolist() for part in f.jacobian(INDEX, X)] == [[0.0] * 3, [2.0, 1.0, 1.0]]
    (ii, ix), (xi, xx) = f.hessian(INDEX, X)
    assert [part.tolist() for part in (ii, ix, xi, xx)] == [[0.0] * 3] * 3 + [[2.0, 0.0, 0.0]]
    by_i, by_x = f.hvp(INDEX, X, vector=(np.zeros(3), np.ones(3)))
    assert (by_i.tolist(), by_x.tolist()) == ([0.0] * 3, [2.0, 0.0, 0.0])
    out = (np.empty(3), (np.empty(3), np.empty(3)))
    assert f.value_and_grad(INDEX, X, out=out)[1][0] is out[1][0]


def test_a_nest_with_an_index_keeps_its_other_gradients(rg: Any) -> None:
    """It was once left out of the tuple with everything in it."""
    f = rg.compile(lambda p, y: rg.take([p["x"], y], p["i"]))
    nest, by_y = f.grad({"x": X, "i": INDEX}, 2.0)
    assert nest["x"].tolist() == [1.0, 0.0, 0.0]
    assert nest["i"].tolist() == [0.0, 0.0, 0.0]
    assert by_y.tolist() == [0.0, 1.0, 1.0]


def test_an_integer_column_alone_is_bare(rg: Any) -> None:
    f = rg.compile(lambda i: rg.take([1.0, 2.0], i))
    assert f.grad(INDEX).tolist() == [0.0, 0.0, 0.0]
    table = rg.compile(lambda i: rg.take([1.0, 2.0], i[0]) * rg.take([3.0, 4.0], i[1]))
    assert table.grad(np.stack([INDEX, INDEX], axis=1)).tolist() == np.zeros((3, 2)).tolist()


def test_a_condition_or_a_stop_does_not_make_it_a_number(rg: Any) -> None:
    def f(i: Any, x: Any) -> Any:
        if i > 5:
            return x
        return rg.where(i == 1, x, 2.0 * x) + rg.take([x, 1.0], i) + i.detach()

    by_i, by_x = rg.compile(f).grad(INDEX, X)
    assert (by_i.tolist(), by_x.tolist()) == ([0.0] * 3, [3.0, 1.0, 1.0])


def test_used_as_a_number_it_is_differentiated_only_by_name(rg: Any) -> None:
    f = rg.compile(lambda n, x: x * n)
    for derivative in (f.grad, f.value_and_grad, f.jacobian, f.hessian):
        with pytest.raises(rg.errors.CompileError) as caught:
            derivative(INDEX, X)
        said = str(caught.value)
        assert said.startswith("n is an array of integers and is used as a number, so it has a ")
        assert "Pass n.astype(float), or name the arguments to differentiate" in said
        assert "rg.compile(lambda n, x: x * n)" in said
    assert f.grad(INDEX, X, wrt="x").tolist() == [0.0, 1.0, 1.0]
    assert f.grad(INDEX, X, wrt="n").tolist() == X.tolist()
    by_n, by_x = f.grad(INDEX.astype(float), X)
    assert (by_n.tolist(), by_x.tolist()) == (X.tolist(), [0.0, 1.0, 1.0])


def test_a_branch_that_uses_it_as_a_number_is_found_where_rows_take_it(rg: Any) -> None:
    f = rg.compile(lambda n, x: x * n if x > 2.0 else x)
    assert f.grad(INDEX[:2], X[:2])[1].tolist() == [1.0, 1.0]
    with pytest.raises(rg.errors.CompileError, match="n is an array of integers"):
        f.grad(INDEX, X)


# ---- no rows, and memory to write into -----------------------------------------------------------


def test_the_mean_of_no_rows_is_refused(rg: Any) -> None:
    w = rg.Value(2.0)
    f = rg.compile(lambda x, a: w * a * x)
    none = np.empty(0)
    for call in (f.value_and_grad, f.grad, f.backward):
        with pytest.raises(rg.errors.RowsError) as caught:
            call(none, 1.0, reduce="mean")
        assert str(caught.value) == (
            "<lambda>: x has no rows, and the mean of nothing is no number. Leave the call out "
            "where there are no rows, or use reduce='sum', which is 0."
        )
    assert w.grad == 0.0
    value, (by_x, by_a) = f.value_and_grad(none, 1.0, reduce="sum")
    assert (value, by_x.shape, by_a) == (0.0, (0,), 0.0)


@pytest.mark.parametrize("make", [
    lambda: np.lib.stride_tricks.as_strided(np.zeros(1), (3,), (0,)),
    lambda: np.lib.stride_tricks.as_strided(np.zeros(3), (3,), (4,)),
    lambda: np.lib.stride_tricks.as_strided(np.zeros(3), (3,), (-0,)),
])  # fmt: skip
def test_results_are_not_written_over_each_other(rg: Any, make: Any) -> None:
    f = rg.compile(lambda x: x * x)
    with pytest.raises(rg.errors.RowsError, match="out: its entries share memory with each other"):
        f(X, out=make())


@pytest.mark.parametrize("strides", [(8, 8), (0, 8), (8, 0), (16, 16), (8, 16), (12, 32), (24, 8)])
def test_nor_are_columns(rg: Any, strides: Any) -> None:
    f = rg.compile(lambda v: v[0] * v[1])
    out = np.lib.stride_tricks.as_strided(np.zeros(16), (3, 2), strides)
    points = np.arange(6.0).reshape(3, 2)
    places = sorted(i * strides[0] + j * strides[1] for i in range(3) for j in range(2))
    if all(b - a >= 8 for a, b in pairwise(places)):
        assert f.grad(points, out=out).tolist() == points[:, ::-1].tolist()
        return
    with pytest.raises(rg.errors.RowsError, match="its entries share memory"):
        f.grad(points, out=out)


def test_nor_over_the_weights(rg: Any) -> None:
    f = rg.compile(lambda x: x * x)
    weights = np.ones(3)
    with pytest.raises(rg.errors.RowsError, match="shares memory with an argument"):
        f.grad(X, weights=weights, out=weights)
