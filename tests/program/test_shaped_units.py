"""Jacobians and Hessians of functions on tensors: those of every row and every number."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

RNG = np.random.default_rng(7)
X = RNG.standard_normal((6, 3))
W = RNG.standard_normal((3, 2))


def _function(rg: ModuleType, w: Any) -> Any:
    def f(x: Any, t: Any) -> Any:
        h = rg.tanh(x @ w) * t
        if x.sum() > 0.0:
            h = h * h
        return {"h": h, "two": [x.max(), (x[:, None] * h).sum(axis=0)]}

    f.__annotations__ = {"x": rg.Tensor}
    return f


def _pulled(rg: ModuleType, f: Any, x: Any, t: float, pick: Any) -> tuple[Any, Any]:
    """The gradients of one number of a result, on tensors."""
    a, b = rg.Tensor(x), rg.Value(t)
    pick(f(a, b)).backward()
    return np.array(a.grad), b.grad


def test_a_jacobian_has_the_gradient_of_every_number(rg: ModuleType) -> None:
    f = _function(rg, rg.Tensor(W))
    compiled = rg.compile(f)
    for x in X:
        found = compiled.jacobian(x, 0.5)
        for pick in (lambda r: r["h"], lambda r: r["two"][1]):
            by_x, by_t = pick(found)
            for index in range(2):
                wanted = _pulled(rg, f, x, 0.5, lambda r, i=index, p=pick: p(r)[i])
                assert np.allclose(by_x[index], wanted[0])
                assert np.isclose(by_t[index], wanted[1])
        assert np.array_equal(found["two"][0][0], np.eye(3)[x.argmax()])
        assert found["two"][0][1] == 0.0


@pytest.mark.parametrize("wrt", ["x", ("x", "t"), ("t",)])
def test_jacobians_of_rows_are_those_of_each(rg: ModuleType, wrt: Any) -> None:
    compiled = rg.compile(_function(rg, rg.Tensor(W)))
    found = compiled.jacobian(rg.rows(X), 0.5, wrt=wrt)
    for row, x in enumerate(X):
        wanted = compiled.jacobian(x, 0.5, wrt=wrt)
        for pick in (lambda r: r["h"], lambda r: r["two"][0], lambda r: r["two"][1]):
            ours, theirs = pick(found), pick(wanted)
            if isinstance(wrt, str):
                ours, theirs = (ours,), (theirs,)
            for one, other in zip(ours, theirs):
                assert np.allclose(one[row], other)


def _single(rg: ModuleType) -> Any:
    def f(x: Any, t: Any) -> Any:
        return (rg.exp(x * t) @ x) * t if x.sum() > 0.0 else (x * x * x).sum() * rg.sin(t)

    f.__annotations__ = {"x": rg.Tensor}
    return f


def test_hessians_are_products_with_unit_vectors(rg: ModuleType) -> None:
    compiled = rg.compile(_single(rg))
    over = compiled.hessian(rg.rows(X), 0.5)
    for row, x in enumerate(X):
        (xx, xt), (tx, tt) = compiled.hessian(x, 0.5)
        for index, unit in enumerate(np.eye(3)):
            by_x, by_t = compiled.hvp(x, 0.5, vector=(unit, 0.0))
            assert np.allclose(xx[index], by_x)
            assert np.isclose(xt[index], by_t)
        by_x, by_t = compiled.hvp(x, 0.5, vector=(np.zeros(3), 1.0))
        assert np.allclose(tx, by_x)
        assert np.isclose(tt, by_t)
        for mine, other in zip(over, ((xx, xt), (tx, tt))):
            for block, wanted in zip(mine, other):
                assert np.allclose(block[row], wanted)


def test_a_long_argument_runs_in_blocks_of_unit_vectors(rg: ModuleType) -> None:
    def f(x: Any) -> Any:
        return (rg.tanh(x[1:] * x[:-1]) ** 2).sum()

    f.__annotations__ = {"x": rg.Tensor}
    x = RNG.standard_normal(60)
    found = rg.compile(f).hessian(x)
    step = 1e-5
    unit = np.eye(60)
    for index in (0, 1, 30, 59):
        ahead = rg.compile(f).grad(x + step * unit[index])
        behind = rg.compile(f).grad(x - step * unit[index])
        assert np.allclose(found[index], (ahead - behind) / (2 * step), atol=1e-6)
    assert np.allclose(found, found.T)


def test_no_rows_and_no_numbers(rg: ModuleType) -> None:
    compiled = rg.compile(_single(rg))
    assert compiled.jacobian(rg.rows(np.zeros((0, 3))), 1.0, wrt="x").shape == (0, 3)
    assert compiled.hessian(rg.rows(np.zeros((0, 3))), 1.0, wrt="x").shape == (0, 3, 3)
    with pytest.raises(rg.errors.CompileError, match="sparse="):
        compiled.hessian(X[0], 1.0, sparse=True)
