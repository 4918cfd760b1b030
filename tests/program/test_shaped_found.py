"""Functions on tensors that look for places, choose among items and take derivatives inside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ROW = np.arange(4.0)


def _turned(x: Any) -> Any:
    """A matrix without symmetry, whose determinant changes its sign."""
    return np.outer(x, x) * 3.0 - np.eye(4) + np.triu(np.outer(x, x + 1.0))


def largest(rg: Any, x: Any) -> Any:
    return x[x.argmax()] * x.sum()


def ordered(rg: Any, x: Any) -> Any:
    order = np.argsort(x)
    return (x[order] * ROW).sum() + x[order][:2].prod()


def along_axes(rg: Any, x: Any) -> Any:
    m = np.outer(x, x + 1.0)
    best = np.take_along_axis(m, m.argsort(axis=1), axis=1)[:, -2:].prod()
    least = np.take_along_axis(m, m.argmin(axis=0, keepdims=True), axis=0).sum()
    return (m[np.arange(4), m.argmax(axis=1)] ** 2).sum() + best + least + m.ravel()[m.argmax()]


def determinant(rg: Any, x: Any) -> Any:
    return rg.det(_turned(x)) + rg.det(x.reshape(2, 2)) + rg.det(x[:1].reshape(1, 1))


def by_its_sign(rg: Any, x: Any) -> Any:
    sign, logarithm = np.linalg.slogdet(_turned(x))
    return logarithm * sign if sign > 0 else logarithm * 2.0


def stacks(rg: Any, x: Any) -> Any:
    a = rg.stack([_turned(x), np.outer(x, x) + np.eye(4)])
    return np.linalg.det(a).prod() + rg.slogdet(a)[1].sum()


def force(rg: Any, x: Any) -> Any:
    slope = rg.grad(lambda z: (np.cos(z) * z[::-1]).sum())(x)
    return (slope * slope).sum()


def newton(rg: Any, x: Any) -> Any:
    def f(z: Any) -> Any:
        return (z**4).sum() + (z * z).sum()

    for _ in range(2):
        x = x - rg.solve(rg.hessian(f)(x), rg.grad(f)(x))
    return x.sum()


def sorted_inside(rg: Any, x: Any) -> Any:
    """Neither the order nor what stands first is the same in every call."""
    slope = rg.grad(lambda z: rg.sort(z)[2] ** 2 + rg.sort(z)[:2].sum() + z.max() ** 2)(x)
    return (slope * x).sum()


def picked_inside(rg: Any, x: Any) -> Any:
    order = x.argsort()
    return rg.grad(lambda z: z[order][:2].sum())(x)[0] * x[0]


def chosen_inside(rg: Any, x: Any) -> Any:
    slope = rg.grad(lambda z: np.where(z > 0, z, 0.0).sum() + (z.detach() * z).sum())(x)
    return (slope * x).sum()


def solved_inside(rg: Any, x: Any) -> Any:
    a = _turned(x) + 6.0 * np.eye(4)
    slope = rg.grad(lambda z: rg.inverse(z)[0, 0] + rg.solve(z, x).sum() + rg.det(z))(a)
    return (slope * slope).sum()


def moved_inside(rg: Any, x: Any) -> Any:
    value, moved = rg.jvp(np.exp, (x,), (x,))
    return (value * moved).sum() + rg.hvp(lambda z: (z**4).sum(), x, np.ones(4)).sum()


def of_constants(rg: Any, x: Any) -> Any:
    return (rg.grad(lambda z: (z * x).sum())(ROW) ** 2).sum()


FUNCTIONS = [
    largest, ordered, along_axes, determinant, by_its_sign, stacks, force, newton, sorted_inside,
    picked_inside, chosen_inside, solved_inside, moved_inside, of_constants,
]  # fmt: skip


def _compiled(rg: ModuleType, function: Callable[..., Any]) -> Any:
    def f(x: Any) -> Any:
        return function(rg, x)

    f.__annotations__ = {"x": rg.Tensor}
    return rg.compile(f)


def _draws() -> list[Any]:
    return [np.random.default_rng(seed).normal(size=4) for seed in range(6)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda it: it.__name__)
def test_every_call_finds_its_own_places(rg: ModuleType, function: Callable[..., Any]) -> None:
    compiled = _compiled(rg, function)
    slopes = []
    for x in _draws():
        t = rg.Tensor(x)
        wanted = function(rg, t)
        wanted.backward()
        value, slope = compiled.value_and_grad(x)
        assert value == pytest.approx(wanted.data, rel=1e-10)
        np.testing.assert_allclose(slope, t.grad, rtol=1e-9, atol=1e-9)
        slopes.append(slope)
    rows = rg.rows(np.stack(_draws()))
    np.testing.assert_allclose(compiled.grad(rows), slopes, rtol=1e-9, atol=1e-9)
    hessian = compiled.hessian(x)
    np.testing.assert_allclose(hessian @ x, compiled.hvp(x, vector=x), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda it: it.__name__)
def test_places_and_gradients_inside_are_saved(
    rg: ModuleType, tmp_path: Path, function: Callable[..., Any]
) -> None:
    compiled = _compiled(rg, function)
    for x in _draws():
        compiled(x)
    compiled.save(tmp_path / "f.rg")
    loaded = rg.load(tmp_path / "f.rg")
    assert [loaded(x) for x in _draws()] == [compiled(x) for x in _draws()]
    assert np.array_equal(loaded.grad(x), compiled.grad(x))
    loaded.save(tmp_path / "again.rg")
    assert (tmp_path / "again.rg").read_bytes() == (tmp_path / "f.rg").read_bytes()


def test_a_choice_among_items_is_a_branch(rg: ModuleType) -> None:
    def f(x: Any, k: Any) -> Any:
        items = [x, np.log(x - 10.0), {"a": x * 3.0}["a"], x + 1.0]
        return rg.take(items, k).sum() * rg.take(x, k)

    f.__annotations__ = {"x": rg.Tensor}
    compiled, x = rg.compile(f), np.arange(4.0) + 1.0
    slopes = []
    for k in (0.0, 2.0, 3.0, 2.0):
        t = rg.Tensor(x)
        wanted = f(t, rg.Value(k))
        wanted.backward()
        value, slope = compiled.value_and_grad(x, k, wrt="x")
        assert value == wanted.data
        assert np.array_equal(slope, t.grad)
        slopes.append(slope)
    assert np.array_equal(compiled.grad(x, np.array([0.0, 2.0, 3.0, 2.0]), wrt="x"), slopes)
    for wrong in (4.0, -1.0, 1.5):
        with pytest.raises(rg.errors.TakeError, match="a whole number from 0 to 3"):
            compiled(x, wrong)


CAPTURED = {
    "looks": lambda rg, w, s: w[w.argmax()] * s,
    "takes": lambda rg, w, s: rg.take(w, s) * s,
    "determinant": lambda rg, w, s: rg.det(np.outer(w, w) + np.eye(4)) * s,
    "differentiates": lambda rg, w, s: (rg.grad(lambda z: (z**3).sum() * s)(w) ** 2).sum(),
    "parameters": lambda rg, w, s: (rg.gradients((w * w * s).sum(), w) ** 2).sum(),
}


@pytest.mark.parametrize("name", list(CAPTURED))
def test_a_captured_tensor_needs_no_annotation(rg: ModuleType, name: str) -> None:
    w = rg.Tensor([0.5, 2.0, -1.0, 0.3], label="w")
    compiled = rg.compile(lambda s: CAPTURED[name](rg, w, s))
    for numbers in ([0.5, 2.0, -1.0, 0.3], [0.1, 0.2, 1.5, 3.0]):
        rg.assign(w, np.array(numbers))
        s = rg.Value(1.0)
        rg.zero_grad([w])
        wanted = CAPTURED[name](rg, w, s)
        wanted.backward()
        eager = np.array(w.grad)
        assert compiled.value_and_grad(1.0) == pytest.approx((wanted.data, s.grad), rel=1e-12)
        rg.zero_grad([w])
        compiled.backward(1.0)
        np.testing.assert_allclose(w.grad, eager, rtol=1e-10, atol=1e-12)
