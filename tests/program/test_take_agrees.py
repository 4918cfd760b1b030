"""take: compiled and eager agree, whatever the items that were not chosen are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from .support import steady
from .takes import Taking, takings


def agree(got: Any, wanted: Any) -> bool:
    """NaN and infinities in the same places; the rest up to rounding."""
    got, wanted = np.asarray(got, dtype=float), np.asarray(wanted, dtype=float)
    with np.errstate(all="ignore"):
        return bool(np.allclose(got, wanted, rtol=1e-9, atol=1e-12, equal_nan=True))


def eagerly(rg: Any, drawn: Taking) -> tuple[list[float], list[list[float]]]:
    values, grads = [], []
    for i, x, y in zip(drawn.i, drawn.x, drawn.y):
        leaves = [rg.Value(n) for n in (x, y, drawn.u, drawn.w)]
        root = drawn.function(rg, leaves[3])(i, *leaves[:3])
        if isinstance(root, rg.Value):
            root.backward()
        values.append(root.data if isinstance(root, rg.Value) else root)
        grads.append([leaf.grad for leaf in leaves])
    return values, grads


@pytest.mark.bank
@steady(max_examples=120)
@given(takings(arrays=True))
def test_values_and_gradients(rg: Any, drawn: Taking) -> None:
    w = rg.Value(drawn.w)
    f = rg.compile(drawn.function(rg, w))
    values, grads = eagerly(rg, drawn)
    got, (by_x, by_y, by_u) = f.value_and_grad(*drawn.arguments(), wrt=("x", "y", "u"))
    assert agree(got, values)
    assert agree(np.stack([by_x, by_y, by_u], axis=1), [row[:3] for row in grads])
    for number in range(len(drawn.i)):
        w.grad = 0.0
        i, x, y, u = drawn.arguments()
        f.backward(i[number : number + 1], x[number : number + 1], y[number : number + 1], u)
        assert agree(w.grad, grads[number][3])


@pytest.mark.bank
@steady(max_examples=80)
@given(takings(most=5))
def test_second_derivatives(rg: Any, drawn: Taking) -> None:
    w = rg.Value(drawn.w, requires_grad=False)
    function = drawn.function(rg, w)
    got = rg.compile(function).hessian(*drawn.arguments(), wrt=("x", "y"))
    for row, (i, x, y) in enumerate(zip(drawn.i, drawn.x, drawn.y)):

        def one(v: Any, i: int = i) -> Any:
            return function(i, v[0], v[1], rg.Value(drawn.u, requires_grad=False))

        wanted = rg.jacobian(rg.grad(one))([x, y])
        assert agree([[part[row] for part in line] for line in got], wanted)


@pytest.mark.bank
@steady(max_examples=60)
@given(takings(most=5))
def test_gradients_inside_a_compiled_function(rg: Any, drawn: Taking) -> None:
    w = rg.Value(drawn.w, requires_grad=False)
    function = drawn.function(rg, w)

    def slope(i: Any, x: Any, y: Any, u: Any) -> Any:
        return rg.grad(lambda v: function(i, v, y, u))(x)

    def row(i: int, x: float, y: float) -> Any:
        values = [rg.Value(n, requires_grad=False) for n in (x, y, drawn.u)]
        return slope(i, *values) + 0.0 * x

    got = rg.compile(lambda i, x, y, u: slope(i, x, y, u) + 0.0 * x)(*drawn.arguments())
    wanted = [row(i, x, y) for i, x, y in zip(drawn.i, drawn.x, drawn.y)]
    assert agree(got, wanted)


# ---- each way by itself --------------------------------------------------------------------------

INDEX = np.array([0, 1, 1, 0])
X = np.array([4.0, 0.0, -1.0, 0.0])


@pytest.mark.parametrize(
    "item", ["sqrt(x)", "log(x)", "1.0 / x", "x / 0.0", "x * inf", "x * nan", "sqrt(x - 10.0)"]
)
def test_what_is_not_chosen_contributes_nothing(rg: Any, item: str) -> None:
    names = {"sqrt": rg.sqrt, "log": rg.log, "inf": math.inf, "nan": math.nan}

    def f(i: Any, x: Any) -> Any:
        return rg.take([2.0 * x, eval(item, names, {"x": x})], 0 * i)

    value, slope = rg.compile(f).value_and_grad(INDEX, X, wrt="x")
    assert value.tolist() == (2.0 * X).tolist()
    assert slope.tolist() == [2.0] * 4
    assert rg.compile(f).hessian(INDEX, X, wrt="x").tolist() == [0.0] * 4


def test_what_another_use_reaches_still_counts(rg: Any) -> None:
    def f(i: Any, x: Any) -> Any:
        root = rg.sqrt(x)
        return rg.take([x, root], i) + 0.0 * root

    slopes = rg.compile(f).grad(INDEX, X, wrt="x")
    wanted = []
    for i, x in zip(INDEX, X):
        leaf = rg.Value(x)
        f(int(i), leaf).backward()
        wanted.append(leaf.grad)
    assert agree(slopes, wanted)
    assert not np.isfinite(slopes[1:]).any()


def test_no_grad_holds_eagerly_and_compiled(rg: Any) -> None:
    def f(i: Any, x: Any) -> Any:
        with rg.no_grad():
            one = rg.take([x, x * x], i)
            (other,) = rg.take([[x], [2.0 * x]], i)
            third = rg.take([x, 3.0 * x], 1)
        return (one + other + third) * x

    slopes = rg.compile(f).grad(INDEX, X, wrt="x")
    assert agree(slopes, [rg.grad(lambda x, i=i: f(int(i), x))(float(x)) for i, x in zip(INDEX, X)])
    table = [rg.Value(1.0), [rg.Value(2.0)], {"a": rg.Value(3.0)}, np.array([4.0])]
    with rg.no_grad():
        taken = [rg.take(table, k) for k in range(4)]
    assert not taken[0].requires_grad
    assert not taken[1][0].requires_grad
    assert not taken[2]["a"].requires_grad
    assert taken[3] is table[3]


def test_items_keep_their_kind(rg: Any) -> None:
    from collections import namedtuple

    Pair = namedtuple("Pair", "a b")

    def f(i: Any, x: Any) -> Any:
        pair = rg.take([Pair(x, 1.0), Pair(2.0, x)], i)
        entry = rg.take([{"a": x, "b": [x]}, {"a": 1.0, "b": [2.0]}], i)
        row = rg.take(np.array([[1.0, 2.0], [3.0, 4.0]]), i)
        flag = rg.take([x > 0.0, x < 0.0], i)
        assert (type(pair), type(entry["b"]), row.shape) == (Pair, list, (2,))
        return pair.a + entry["a"] * entry["b"][0] + row[1] + rg.where(flag, 1.0, 0.0)

    assert agree(
        rg.compile(f)(INDEX, X),
        [rg.value_and_grad(lambda x, i=i: f(int(i), x) + 0.0 * x)(x)[0] for i, x in zip(INDEX, X)],
    )


def test_a_condition_is_an_index(rg: Any) -> None:
    f = rg.compile(lambda x: rg.take([-x, x], x > 0.0))
    assert f(X).tolist() == np.abs(X).tolist()
    assert len(f.traces) == 1


def test_a_custom_op_named_take_is_not_one(rg: Any) -> None:
    f = rg.compile(lambda x: rg.Value(3.0, (x, x), (1.0, 1.0), _op="take"))
    with pytest.raises(rg.errors.RecordingError, match="'take' has its rule"):
        f(1.0)


def test_gradients_inside_go_through_stops(rg: Any) -> None:
    w = rg.Value(3.0)

    def held(v: Any) -> Any:
        with rg.no_grad():
            k = v * v
        return k * v + v.detach() * v

    f = rg.compile(lambda x: rg.grad(held)((x * x).detach()) * x + rg.grad(held)(w.detach()))
    for w.data in (3.0, 4.0):
        assert agree(f(X), [x**5 + x**3 + w.data**2 + w.data for x in X])
        assert agree(f.grad(X), [x**4 + x**2 for x in X])


def test_numbers_computed_from_captured_leaves_cannot_leave(rg: Any) -> None:
    w = rg.Value(3.0)
    for f in (
        lambda x: x * (w * 2.0).data,
        lambda x: x * w.detach().data,
        lambda x: x * rg.data([w * 2.0])[0],
    ):
        with pytest.raises(rg.errors.RecordingError, match="was read while recording"):
            rg.compile(f)(2.0)
    assert rg.compile(lambda x: x * (rg.Value(2.0) * 3.0).data)(2.0) == 12.0
