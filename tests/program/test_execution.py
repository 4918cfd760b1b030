"""Replays against eager runs: values, gradients, jacobians, weights and reductions, any rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from .support import CASES, LEVELS, assert_within, eager, flat, kernels, numbers, same

ROWS = 40
COUNTS = [*range(1, 41), 1023, 1024, 1025, 2047, 2048, 2049, 3072, 5000]


def firsts(nest: Any, rows: int) -> Any:
    """The first rows of every array of a nest."""
    if isinstance(nest, dict):
        return {key: firsts(part, rows) for key, part in nest.items()}
    if isinstance(nest, (list, tuple)):
        return type(nest)(firsts(part, rows) for part in nest)
    return nest[:rows] if isinstance(nest, np.ndarray) else nest


@pytest.fixture(scope="module")
def expectations(native: Any) -> dict[str, Any]:
    return {
        name: eager(native, case.make(native), case.columns(ROWS), ROWS)
        for name, case in CASES.items()
    }


# ---- against eager -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_values(rg: Any, expectations: Any, name: str) -> None:
    case, expected = CASES[name], expectations[name]
    got = rg.compile(case.make(rg))(**case.columns(ROWS))
    assert_within(got, expected.values, expected.value_scales)


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(rg: Any, expectations: Any, name: str) -> None:
    case, expected = CASES[name], expectations[name]
    compiled = rg.compile(case.make(rg))
    values, grads = compiled.value_and_grad(**case.columns(ROWS))
    assert_within(values, expected.values, expected.value_scales)
    assert_within(np.array(flat(grads)).T, expected.grads, expected.grad_scales)
    assert same(np.array(flat(compiled.grad(**case.columns(ROWS)))), np.array(flat(grads)))
    assert same(compiled(**case.columns(ROWS)), values)


@pytest.mark.parametrize("name", CASES)
def test_a_single_call_is_the_row_by_itself(rg: Any, expectations: Any, name: str) -> None:
    case, expected = CASES[name], expectations[name]
    compiled = rg.compile(case.make(rg))
    columns = case.columns(ROWS)
    values, grads = compiled.value_and_grad(**columns)
    for row in (0, 7, ROWS - 1):
        given = {
            key: part[row].tolist() if isinstance(part, np.ndarray) else part
            for key, part in columns.items()
        }
        value, grad = compiled.value_and_grad(**given)
        assert type(value) is float
        assert same(value, values[row])
        assert same(np.array(flat(grad)), np.array(flat(grads))[:, row])
        assert_within(value, expected.values[row], expected.value_scales[row])


@pytest.mark.parametrize("reduce", ["sum", "mean"])
@pytest.mark.parametrize("name", CASES)
def test_reductions(rg: Any, expectations: Any, name: str, reduce: str) -> None:
    case, expected = CASES[name], expectations[name]
    columns = case.columns(ROWS)
    total, grads = rg.compile(case.make(rg)).value_and_grad(**columns, reduce=reduce)
    scale = 1 / ROWS if reduce == "mean" else 1.0
    assert type(total) is float
    assert_within(total, expected.values.sum() * scale, expected.value_scales.sum() * scale)
    for place, (given, got) in enumerate(zip(flat(columns), flat(grads), strict=True)):
        wanted, sizes = expected.grads[:, place], expected.grad_scales[:, place]
        if isinstance(given, np.ndarray):
            assert_within(got, wanted * scale, sizes * scale)
        else:
            assert type(got) is float
            assert_within(got, wanted.sum() * scale, sizes.sum() * scale)


@pytest.mark.parametrize("reduce", [None, "sum", "mean"])
@pytest.mark.parametrize("name", CASES)
def test_weights_seed_each_row(rg: Any, expectations: Any, name: str, reduce: Any) -> None:
    case, expected = CASES[name], expectations[name]
    columns = case.columns(ROWS)
    seeds = numbers(ROWS, seed=20)
    seeds[3] = 0.0
    compiled = rg.compile(case.make(rg))
    value, grads = compiled.value_and_grad(**columns, weights=seeds, reduce=reduce)
    plain, _ = compiled.value_and_grad(**columns, reduce=reduce)
    assert same(value, plain)  # weights are seeds of the gradient, not factors of the value
    scale = 1 / ROWS if reduce == "mean" else 1.0
    for place, (given, got) in enumerate(zip(flat(columns), flat(grads), strict=True)):
        wanted = expected.grads[:, place] * seeds * scale
        sizes = expected.grad_scales[:, place] * abs(seeds) * scale
        if reduce and not isinstance(given, np.ndarray):
            wanted, sizes = wanted.sum(), sizes.sum()
        assert_within(got, wanted, sizes)


@pytest.mark.parametrize("weights", [[1, 2, 3], (1.0, 2.0, 3.0), np.arange(1, 4, dtype=np.int8)])
def test_weights_of_any_numbers(rg: Any, weights: Any) -> None:
    f = rg.compile(lambda x: x * x)
    assert same(f.grad(np.ones(3), weights=weights), [2.0, 4.0, 6.0])
    strided = np.arange(6.0)[::-2]
    assert same(f.grad(np.ones(3), weights=strided), 2 * strided)
    assert f.grad(3.0, weights=2.0) == 12.0


def outputs_of(rg: Any) -> Any:
    def several(x: Any, y: Any) -> Any:
        return {"sum": [x + y, rg.exp(x) * y], "first": x, "constant": rg.Value(1.0)}

    return several


def test_jacobians_have_the_gradients_of_every_output(rg: Any) -> None:
    x, y = numbers(ROWS, seed=1), numbers(ROWS, seed=2)
    jacobian = rg.compile(outputs_of(rg)).jacobian(x, y)
    assert list(jacobian) == ["sum", "first", "constant"]
    for pick in (lambda r: r["sum"][0], lambda r: r["sum"][1], lambda r: r["first"]):
        expected = eager(
            rg, lambda x, y, pick=pick: pick(outputs_of(rg)(x, y)), {"x": x, "y": y}, ROWS
        )
        got = np.array(pick(jacobian)).T
        assert_within(got, expected.grads, expected.grad_scales + 1e-300)
    assert same(jacobian["constant"], np.zeros((2, ROWS)))


def many_outputs(rg: Any) -> Any:
    def chain(x: Any, rate: Any) -> Any:
        found = []
        for _ in range(12):
            x = rg.sin(x) * rate + 0.1 * x
            found.append(x * x if x > 0.2 else rg.exp(x))
        return [*found, rate, 3.0]

    return chain


def test_jacobians_of_many_outputs_go_argument_by_argument(rg: Any) -> None:
    x = numbers(ROWS, seed=1)
    compiled = rg.compile(many_outputs(rg), choices=False)
    jacobian = compiled.jacobian(x, 0.9)
    for place in range(12):
        expected = eager(
            rg,
            lambda x, rate, place=place: many_outputs(rg)(x, rate)[place],
            {"x": x, "rate": 0.9},
            ROWS,
        )
        got = np.array(jacobian[place]).T
        assert_within(got, expected.grads, expected.grad_scales + 1e-300)
    assert same(jacobian[12], [np.zeros(ROWS), np.ones(ROWS)])
    assert same(jacobian[13], np.zeros((2, ROWS)))
    (forward,) = [p for p in compiled.traces[0].plans if p[0].kind == "jacobian forward"]
    small = len(compiled.traces[0].plans[forward].program.instructions)
    assert small < 5 * len(compiled.traces[0].program.instructions)


def test_jacobians_of_chosen_arguments(rg: Any) -> None:
    f = rg.compile(lambda x, y: (x * y, x + y))
    x = np.array([2.0, 3.0])
    by_x, by_y = f.jacobian(x, 5.0, wrt="x")
    assert same(by_x, [5.0, 5.0])
    assert same(by_y, [1.0, 1.0])
    assert same(f.jacobian(x, 5.0, wrt=("y",))[0], [x])
    assert f.jacobian(2.0, 5.0) == ((5.0, 2.0), (1.0, 1.0))
    assert same(rg.compile(lambda x: x * x).jacobian(x), 2 * x)


# ---- any number of rows --------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_every_row_count_gives_the_same_rows(rg: Any, name: str) -> None:
    case = CASES[name]
    compiled = rg.compile(case.make(rg))
    columns = case.columns(max(COUNTS))
    whole = compiled.value_and_grad(**columns)
    for rows in COUNTS:
        values, grads = compiled.value_and_grad(**firsts(columns, rows))
        assert same(values, whole[0][:rows])
        for got, all_of_it in zip(flat(grads), flat(whole[1]), strict=True):
            assert same(got, all_of_it[:rows])


@pytest.mark.parametrize("rows", COUNTS)
def test_reductions_of_every_row_count(rg: Any, rows: int) -> None:
    x = numbers(rows)
    f = rg.compile(lambda x, a: a * x * x)
    total, (_, by_a) = f.value_and_grad(x, 2.0, reduce="sum")
    assert math.isclose(total, math.fsum(2.0 * x * x), rel_tol=1e-13)
    assert math.isclose(by_a, math.fsum(x * x), rel_tol=1e-13)
    mean, (by_x, by_a) = f.value_and_grad(x, 2.0, reduce="mean")
    assert math.isclose(mean, math.fsum(2.0 * x * x) / rows, rel_tol=1e-13)
    assert math.isclose(by_a, math.fsum(x * x) / rows, rel_tol=1e-13)
    assert np.allclose(by_x, 4.0 * x / rows, rtol=1e-15)


def test_no_rows_give_empty_results(rg: Any) -> None:
    f = rg.compile(lambda x, xs, a: x * xs[0] * a)
    none, wide = np.empty(0), np.empty((0, 3))
    assert f(none, wide, 2.0).shape == (0,)
    value, (by_x, by_xs, by_a) = f.value_and_grad(none, wide, 2.0)
    assert (value.shape, by_x.shape, by_xs.shape, by_a.shape) == ((0,), (0,), (0, 3), (0,))
    value, (by_x, by_xs, by_a) = f.value_and_grad(none, wide, 2.0, reduce="sum")
    assert (value, by_a) == (0.0, 0.0)
    assert (by_x.shape, by_xs.shape) == ((0,), (0, 3))
    assert f.grad(none, wide, 2.0, weights=[])[0].shape == (0,)
    w = rg.Value(1.0)
    assert rg.compile(lambda x: w * x).backward(none) == 0.0
    assert w.grad == 0.0


def test_no_rows_run_no_guards(rg: Any) -> None:
    f = rg.compile(lambda x, a: x if a > 0 else -x)
    f(np.ones(2), 1.0)
    assert f(np.empty(0), -1.0).shape == (0,)


# ---- rows keep to themselves ---------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", CASES)
def test_nans_and_infinities_stay_in_their_row(rg: Any, name: str, level: str) -> None:
    case = CASES[name]
    compiled = rg.compile(case.make(rg))
    columns = case.columns(50)
    with kernels(level):
        clean = compiled.value_and_grad(**columns)
        dirty = {
            key: part.copy() if isinstance(part, np.ndarray) else part
            for key, part in columns.items()
        }
        rows = np.array([0, 9, 17, 33, 49])
        bad = np.array([math.nan, math.inf, -math.inf, 0.0, -1e300])
        for part in dirty.values():
            if isinstance(part, np.ndarray):
                part[rows] = bad if part.ndim == 1 else bad[:, None]
        got = compiled.value_and_grad(**dirty)
    others = np.setdiff1d(np.arange(50), rows)
    assert np.isnan(got[0][0])
    assert same(got[0][others], clean[0][others])
    for one, other in zip(flat(got[1]), flat(clean[1]), strict=True):
        assert same(one[others], other[others])


def test_nan_rows_flow_through_as_they_do_eagerly(rg: Any) -> None:
    f = rg.compile(lambda x: rg.maximum(x, 0.0) + rg.relu(x) * rg.sign(x))
    ends = np.array([math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324])
    values, grads = f.value_and_grad(ends)
    for end, value, grad in zip(ends, values, grads):
        x = rg.Value(end)
        root = f(x)
        root.backward()
        assert same(value, root.data)
        assert same(grad, x.grad)


def test_arguments_and_results_are_not_shared(rg: Any) -> None:
    f = rg.compile(lambda x: (x, x * 2))
    x = np.arange(5.0)
    first, _ = f(x)
    x[:] = 100.0
    assert same(first, np.arange(5.0))
    again, _ = f(x)
    again[:] = -1.0
    assert same(x, np.full(5, 100.0))
    assert same(first, np.arange(5.0))


def test_inputs_may_be_read_only(rg: Any) -> None:
    x = np.arange(5.0)
    x.flags.writeable = False
    values, grads = rg.compile(lambda x: x * x).value_and_grad(x, weights=x)
    assert same(values, x * x)
    assert same(grads, 2 * x * x)


def test_the_same_array_may_be_given_twice(rg: Any) -> None:
    x = np.arange(5.0)
    by_x, by_y = rg.compile(lambda x, y: x * y).grad(x, x)
    assert same(by_x, x)
    assert same(by_y, x)


def test_a_thousand_outputs_and_inputs(rg: Any) -> None:
    rows = np.arange(3000.0).reshape(3, 1000)
    f = rg.compile(lambda xs: [x * 2 for x in xs])
    assert same(np.stack(f(rows), axis=1), rows * 2)
    g = rg.compile(lambda xs: rg.dot(xs, xs))
    values, grads = g.value_and_grad(rows)
    assert np.allclose(values, (rows**2).sum(axis=1), rtol=1e-13)
    assert same(grads, 2 * rows)


def test_a_long_function_of_many_live_values(rg: Any) -> None:
    """More slots than any cache holds."""

    def f(x: Any) -> Any:
        kept = [x * (k + 1.0) for k in range(5000)]
        total = x
        for value in reversed(kept):
            total = total * 0.5 + value
        return total

    x = numbers(20)
    values, grads = rg.compile(f).value_and_grad(x)
    factor = 1.0
    for k in reversed(range(5000)):
        factor = factor * 0.5 + (k + 1.0)
    assert np.allclose(values, x * factor, rtol=1e-12)
    assert np.allclose(grads, factor, rtol=1e-12)
