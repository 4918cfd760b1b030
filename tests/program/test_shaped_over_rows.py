"""Rows of tensors: a compiled function on many entries does what a loop over them does."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from retrograde.ops.array import ARRAYS

from .shaped_programs import Drawn
from .test_shaped_rows import _do, _given

COUNT = 5
X = np.random.default_rng(3).standard_normal((COUNT, 3))


def _close(found: Any, wanted: Any, what: str = "") -> None:
    wanted = np.asarray(wanted)
    scale = 1e-11 * (1.0 + np.abs(wanted).max(initial=0.0))
    assert np.shape(found) == wanted.shape, what
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=scale, err_msg=what)


def _rows_of(rng: Any, array: Any) -> Any:
    """As many entries like an array, apart a little."""
    if np.asarray(array).dtype.kind == "i":
        return np.stack([rng.permutation(array.reshape(-1)).reshape(array.shape)] * COUNT)
    return np.stack([array * (1.0 + 0.1 * k) for k in rng.uniform(-1.0, 1.0, COUNT)])


class OverRows:
    """A random function, some of whose arguments have an entry a row."""

    def __init__(self, rg: ModuleType, seed: int) -> None:
        self.drawn = Drawn(rg, seed)
        rng = np.random.default_rng(seed + 2)
        self.varies = rng.permutation([True, *(rng.random(3) < 0.5)]).tolist()
        plain = [self.drawn.x, self.drawn.y, self.drawn.n, self.drawn.t]
        self.given: list[Any] = []
        for varies, it in zip(self.varies, plain):
            self.given.append(_rows_of(rng, np.asarray(it)) if varies else it)
        self.rg, self.function = rg, self.drawn.function()

    def arguments(self) -> list[Any]:
        return [self.rg.rows(it) if varies else it for varies, it in zip(self.varies, self.given)]

    def one(self, row: int) -> tuple[float, list[Any], list[Any]]:
        """Value, gradients by x, y, t, and those of captured leaves, of one row on tensors."""
        rg, captured = self.rg, [self.drawn.w, self.drawn.v]
        for leaf in captured:
            leaf.zero_grad()
        x, y, n, t = (it[row] if v else it for v, it in zip(self.varies, self.given))
        nodes = [rg.Tensor(x), rg.Tensor(y), rg.Value(float(t))]
        result = self.function(nodes[0], nodes[1], n, nodes[2])
        result.backward()
        grads = [np.array(node.grad) for node in nodes]
        return float(result.data), grads, [np.array(leaf.grad) for leaf in captured]


def _check(rg: ModuleType, seed: int) -> None:
    case = OverRows(rg, seed)
    compiled = rg.compile(case.function)
    arguments = case.arguments()
    wanted = [case.one(row) for row in range(COUNT)]
    values = [it[0] for it in wanted]
    _close(compiled(*arguments), values, "value")
    value, found = compiled.value_and_grad(*arguments, wrt=("x", "y", "t"))
    _close(value, values, "value")
    for place, gradient in enumerate(found):
        _close(gradient, np.stack([it[1][place] for it in wanted]), f"gradient {place} a row")
    total, found = compiled.value_and_grad(*arguments, wrt=("x", "y", "t"), reduce="sum")
    _close(total, np.sum(values), "total")
    for place, (argument, gradient) in enumerate(zip((0, 1, 3), found)):
        each = np.stack([it[1][place] for it in wanted])
        own = case.varies[argument]
        _close(gradient, each if own else each.sum(axis=0), f"gradient {place} reduced")
    captured = [case.drawn.w, case.drawn.v]
    for leaf in captured:
        leaf.zero_grad()
    _close(compiled.backward(*arguments, reduce="mean"), np.mean(values), "backward")
    for place, leaf in enumerate(captured):
        _close(leaf.grad, np.mean([it[2][place] for it in wanted], axis=0), leaf.label)


@pytest.mark.parametrize("seed", range(25))
def test_a_random_function_over_rows_is_a_loop_over_them(rg: ModuleType, seed: int) -> None:
    _check(rg, seed)


@pytest.mark.sweep
@pytest.mark.parametrize("block", range(10))
def test_many_random_functions_over_rows(rg: ModuleType, block: int) -> None:
    for seed in range(1000 + 30 * block, 1030 + 30 * block):
        _check(rg, seed)


@pytest.mark.parametrize("name", list(ARRAYS))
def test_every_row_of_the_law_over_rows(rg: ModuleType, name: str) -> None:
    do = _do(rg)
    operands, wholes, arguments = _given(name)
    if set(wholes) - set(ARRAYS[name].wholes) or name in ("put", "add_at", "put_at", "index"):
        pytest.skip("through the methods of tensors")

    def f(xs: list[rg.Tensor]) -> Any:  # type: ignore[name-defined]
        result = do(name, *xs, **wholes, **arguments)
        parts = result if isinstance(result, list) else [result]
        return sum((part * (1.0 + 0.5 * k)).sum() if part.shape else part * (1.0 + k)
                   for k, part in enumerate(parts))  # fmt: skip

    f.__annotations__["xs"] = list[rg.Tensor]
    compiled = rg.compile(f)
    for varying in ([True] * len(operands), [k == 0 for k in range(len(operands))]):
        rng = np.random.default_rng(5)
        given = [_rows_of(rng, it) if own else it for own, it in zip(varying, operands)]
        wrapped = [rg.rows(it) if own else it for own, it in zip(varying, given)]
        each = []
        for row in range(COUNT):
            one = [it[row] if own else it for own, it in zip(varying, given)]
            nodes = [rg.Tensor(it) if np.ndim(it) else rg.Value(float(it)) for it in one]
            result = f(nodes)
            try:
                result.backward()
            except rg.errors.NotDifferentiable:
                return
            each.append((float(result.data), [np.array(node.grad) for node in nodes]))
        _close(compiled(wrapped), [it[0] for it in each], "value")
        gradients = compiled.grad(wrapped)
        for place, gradient in enumerate(gradients):
            _close(gradient, np.stack([it[1][place] for it in each]), "gradient")
        for place, gradient in enumerate(compiled.grad(wrapped, reduce="sum")):
            wanted = np.stack([it[1][place] for it in each])
            _close(gradient, wanted if varying[place] else wanted.sum(axis=0), "gradient, reduced")


def test_arrays_of_one_and_two_axes_are_rows_without_a_word(rg: ModuleType) -> None:
    w = rg.Tensor(np.arange(6.0).reshape(3, 2) / 5.0)

    @rg.compile
    def f(x: Any, t: Any) -> Any:
        a, b = rg.tanh(x @ w) * t
        return {"both": [a * b, x[1:]], "t": t}

    found = f(X, np.arange(5.0))
    h = np.tanh(X @ w.data) * np.arange(5.0)[:, None]
    _close(found["both"][0], h[:, 0] * h[:, 1])
    _close(found["both"][1], X[:, 1:])
    _close(found["t"], np.arange(5.0))


def test_rows_go_their_own_ways(rg: ModuleType) -> None:
    w = rg.Tensor([1.0, -1.0, 0.5])

    def f(x: Any) -> Any:
        total = (x * w).sum()
        if total > 0.0:
            return total * total
        while total < -0.5:
            total = total * 0.5
        return total + x.sum() if (x > 0).any() else total

    compiled = rg.compile(f)
    x = np.random.default_rng(0).standard_normal((60, 3)) * 2.0
    value, gradient = compiled.value_and_grad(x)
    totals = np.zeros(3)
    for row in range(60):
        w.grad = None
        one = rg.Tensor(x[row])
        result = f(one)
        result.backward()
        _close(value[row], result.data)
        _close(gradient[row], one.grad)
        totals += w.grad
    w.grad = None
    _close(compiled.backward(x), value.sum())
    _close(w.grad, totals)
    _close(compiled(x[::-1].copy()), value[::-1])
    _close(compiled.hvp(x, vector=x, wrt="x"), compiled.hvp(rg.rows(x), vector=x, wrt="x"))


def test_guards_behind_a_system_are_asked_one_by_one(rg: ModuleType) -> None:
    def f(a: rg.Tensor) -> Any:  # type: ignore[name-defined]
        if rg.diag(a).sum() < 0.0:
            return rg.diag(a).sum()
        factor = rg.cholesky(a)
        return rg.diag(factor).sum() if factor[0, 0] > 1.0 else factor[0, 0]

    given = np.array([np.eye(2), -np.eye(2), 4.0 * np.eye(2)])
    f.__annotations__["a"] = rg.Tensor
    _close(rg.compile(f)(rg.rows(given)), [1.0, -2.0, 4.0])
    with pytest.raises(rg.errors.FitError, match="cholesky: Matrix is not positive definite"):
        rg.compile(f)(rg.rows(np.array([np.eye(2), [[1.0, 2.0], [2.0, 1.0]]])))


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 700, 2100])
def test_blocks_and_threads_change_nothing(rg: ModuleType, count: int) -> None:
    w = rg.Tensor(np.linspace(-1.0, 1.0, 12).reshape(3, 4))
    f = rg.compile(lambda x: rg.logsumexp(rg.tanh(x @ w)))
    x = np.random.default_rng(count).standard_normal((count, 3))
    value, gradient = f.value_and_grad(x, threads=1)
    h = np.tanh(x @ w.data)
    _close(value, np.log(np.exp(h).sum(axis=1)))
    for threads in (2, 3):
        again, other = f.value_and_grad(x, threads=threads)
        assert np.array_equal(again, value)
        assert np.array_equal(other, gradient)
    sums = [f.value_and_grad(x, reduce="sum", threads=n)[0] for n in (1, 2, 3)]
    assert sums[0] == sums[1] == sums[2]


def test_weights_seed_each_row(rg: ModuleType) -> None:
    w = rg.Tensor([1.0, 2.0, 3.0])
    f = rg.compile(lambda x: (x * x * w).sum())
    weights = np.arange(5.0)
    value, gradient = f.value_and_grad(X, weights=weights)
    _close(value, (X * X * w.data).sum(axis=1))
    _close(gradient, 2.0 * X * w.data * weights[:, None])
    f.backward(X, weights=weights)
    _close(w.grad, (X * X * weights[:, None]).sum(axis=0))
    with pytest.raises(rg.errors.CompileError, match="there are 5 rows"):
        f.value_and_grad(X, weights=np.ones(4))


def test_no_rows(rg: ModuleType) -> None:
    w = rg.Tensor([1.0, 2.0, 3.0])
    f = rg.compile(lambda x, t: (x * w).sum() * t if x[0] > 0.0 else x.sum())
    none = np.zeros((0, 3))
    assert f(none, 2.0).shape == (0,)
    value, (x, t) = f.value_and_grad(none, 2.0)
    assert (value.shape, x.shape, t.shape) == ((0,), (0, 3), (0,))
    assert f.value_and_grad(none, 2.0, reduce="sum")[0] == 0.0
    assert f.backward(none, 2.0) == 0.0
    with pytest.raises(rg.errors.RowsError, match="the mean of nothing"):
        f.value_and_grad(none, 2.0, reduce="mean")
    _close(f(X, 1.0), [(r * w.data).sum() if r[0] > 0 else r.sum() for r in X])


def test_nan_in_one_row_stays_there(rg: ModuleType) -> None:
    w = rg.Tensor(np.eye(3))
    f = rg.compile(lambda x: rg.tanh(w @ x).sum())
    x = X.copy()
    x[2, 1] = np.nan
    value, gradient = f.value_and_grad(x)
    assert np.isnan(value[2])
    assert np.isfinite(np.delete(value, 2)).all()
    assert np.isfinite(np.delete(gradient, 2, axis=0)).all()


def test_rows_that_do_not_fit(rg: ModuleType) -> None:
    w = rg.Tensor([1.0, 2.0, 3.0])
    f = rg.compile(lambda x, y: (x * w).sum() + y.sum())
    with pytest.raises(rg.errors.RowsError, match="x has 5 rows but y has 4"):
        f(X, np.zeros((4, 2)))
    with pytest.raises(rg.errors.RowsError, match=r"rg\.rows\(y\) if it is, rg\.uniform\(y\)"):
        f(X, np.zeros((5, 2, 2)))
    _close(f(X, rg.uniform(np.ones((5, 2, 2)))), (X * w.data).sum(axis=1) + 20.0)
    _close(f(X, rg.rows(np.ones((5, 2, 2)))), (X * w.data).sum(axis=1) + 4.0)
    with pytest.raises(rg.errors.RowsError, match="different lengths"):
        rg.rows([[1.0, 2.0], [3.0]])
    with pytest.raises(rg.errors.RowsError, match="no rows"):
        rg.rows(2.0)


def test_one_recording_serves_any_number_of_rows(rg: ModuleType) -> None:
    calls = [0]
    w = rg.Tensor([1.0, 2.0, 3.0])

    def f(x: Any) -> Any:
        calls[0] += 1
        return (x * w).sum()

    compiled = rg.compile(f)
    compiled(X)
    before = calls[0]
    for count in (1, 2, 3, 40, 41):
        _close(compiled(np.ones((count, 3))), np.full(count, 6.0))
    assert calls[0] == before
    assert "rows" in compiled.explain()


def test_rows_of_whole_numbers(rg: ModuleType) -> None:
    table = rg.Tensor(np.arange(12.0).reshape(4, 3))

    def f(n: Any) -> Any:
        return (table[n[:-1]] * table[n[1:]]).sum()

    f.__annotations__ = {"n": np.ndarray}
    compiled = rg.compile(f)
    n = np.array([[0, 1, 3], [2, 2, -1], [1, 0, 0]])
    wanted = [float(f(row).data) for row in n]
    _close(compiled(rg.rows(n)), wanted)
    _close(compiled(n[0]), wanted[0])
    compiled.backward(rg.rows(n))
    found, table.grad = np.array(table.grad), None
    for row in n:
        f(row).backward()
    _close(found, table.grad)
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        compiled(rg.rows(n + 1))


def test_hooks_see_the_sum_over_rows(rg: ModuleType) -> None:
    w = rg.Tensor([1.0, 2.0, 3.0])
    f = rg.compile(lambda x: (x * w).sum())
    w.register_hook(lambda gradient: 10.0 * gradient)
    f.backward(X)
    _close(w.grad, 10.0 * X.sum(axis=0))


def test_calls_made_before_read_what_is_there_now(rg: ModuleType) -> None:
    w, scale = rg.Tensor([1.0, 2.0, 3.0]), [2.0]

    @rg.compile
    def f(x: Any, t: Any, u: Any) -> Any:
        return (x * w).sum() * t * scale[0] + u

    for round_ in range(4):
        x, t = X + round_, np.arange(5.0) - round_
        rg.assign(w, np.array([1.0, 2.0, 3.0 + round_]))
        scale[0] = 2.0 + (round_ > 2)
        for _ in range(3):
            _close(f(x, t, 0.5), (x * w.data).sum(axis=1) * t * scale[0] + 0.5)
            value, (gx, gt, gu) = f.value_and_grad(x, t, 0.5)
            _close(value, f(x, t, 0.5))
            _close(gx, t[:, None] * w.data * scale[0])
            _close(gt, (x * w.data).sum(axis=1) * scale[0])
            _close(gu, np.ones(5))
            _close(f.grad(x, t, 0.5, wrt="t", reduce="sum"), (x * w.data).sum(axis=1) * scale[0])
    _close(f(X, np.array(2.0), 0.5), (X * w.data).sum(axis=1) * 2.0 * scale[0] + 0.5)
    _close(f(X, np.array(3.0), 0.5), (X * w.data).sum(axis=1) * 3.0 * scale[0] + 0.5)
    _close(f(X[:2], t[:2], 0.5), (X[:2] * w.data).sum(axis=1) * t[:2] * scale[0] + 0.5)
