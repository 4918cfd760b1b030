"""Second derivatives of compiled functions, per row, against the eager transforms."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from retrograde.ops import OPS

from ..law.expressions import ORDERS
from .support import LEVELS, kernels, numbers, same


def rosenbrock(rg: Any) -> Callable[..., Any]:
    return lambda v: rg.sum([100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2 for a, b in pairwise(v)])


def mixture(rg: Any) -> Callable[..., Any]:
    def energy(v: Any) -> Any:
        shares = rg.softmax([v[0] * v[1], rg.sin(v[2]), rg.tanh(v[0])])
        return rg.logsumexp(v) + rg.dot(shares, v) + rg.norm(v) * rg.norm_cdf(v[1])

    return energy


def bent(rg: Any) -> Callable[..., Any]:
    def function(v: Any) -> Any:
        if v[0] > v[1]:
            return v[0] ** 3 * v[2]
        total = v[2] * v[0]
        while total < 1.0:
            total = total * total + 0.5
        return rg.where(v[1] > 0, total * v[1], rg.exp(v[1]))

    return function


FUNCTIONS = {"rosenbrock": rosenbrock, "mixture": mixture, "bent": bent}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_hessian_of_every_row_is_the_eager_one(rg: Any, name: str) -> None:
    function = FUNCTIONS[name](rg)
    points = numbers(60, -2.0, 2.0).reshape(20, 3)
    got = rg.compile(function).hessian(points)
    assert got.shape == (20, 3, 3)
    expected = np.array([rg.hessian(function)(point) for point in points.tolist()])
    assert np.allclose(got, expected, rtol=1e-10, atol=1e-10)
    assert same(got, got.transpose(0, 2, 1))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_products_with_the_hessian_are_the_eager_ones(rg: Any, name: str) -> None:
    function = FUNCTIONS[name](rg)
    points = numbers(60, -2.0, 2.0).reshape(20, 3)
    vectors = numbers(60, -1.0, 1.0, 5).reshape(20, 3)
    compiled = rg.compile(function)
    got = compiled.hvp(points, vector=vectors)
    expected = [rg.hvp(function, p, v) for p, v in zip(points.tolist(), vectors.tolist())]
    assert np.allclose(got, expected, rtol=1e-10, atol=1e-10)
    by_hessian = np.einsum("rij,rj->ri", compiled.hessian(points), vectors)
    assert np.allclose(got, by_hessian, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", sorted(n for n in OPS if ORDERS[n] >= 2))
def test_every_row_of_the_law_twice(rg: Any, name: str) -> None:
    """Against eager values, which are held against other engines elsewhere."""
    op = OPS[name]
    low, high = (1.1, 2.0) if name == "acosh" else (0.2, 0.8)
    points = numbers(4 * op.arity, low, high, 3).reshape(4, op.arity)

    def function(v: Any) -> Any:
        return getattr(rg, name)(*v) * v[0] + 0.0 * rg.sum(v)

    got = rg.compile(function).hessian(points)
    expected = np.array([rg.hessian(function)(point) for point in points.tolist()])
    assert np.allclose(got, expected, rtol=1e-10, atol=1e-11)


def test_shapes_follow_the_arguments(rg: Any) -> None:
    @rg.compile
    def f(x: Any, v: Any, a: Any) -> Any:
        return x**2 * v[0] * a["k"] + v[1] ** 3 * x

    x, v = np.array([1.0, 2.0]), np.array([[3.0, 4.0], [5.0, 6.0]])
    whole = f.hessian(x, v, {"k": 2.0})
    assert same(whole[0][0], 2 * v[:, 0] * 2.0)  # d²/dx²
    assert whole[0][1].shape == (2, 2)
    assert same(whole[0][1], np.column_stack([2 * x * 2.0, 3 * v[:, 1] ** 2]))
    assert same(whole[0][2]["k"], 2 * x * v[:, 0])
    assert same(whole[1][1][1][:, 1], 6 * v[:, 1] * x)  # of each entry of v, all gradients
    assert same(whole[2]["k"][0], 2 * x * v[:, 0])
    assert f.hessian(x, v, {"k": 2.0}, wrt="v").shape == (2, 2, 2)
    assert same(f.hessian(x, v, {"k": 2.0}, wrt="x"), 2 * v[:, 0] * 2.0)
    ((alone,),) = f.hessian(x, v, {"k": 2.0}, wrt=("x",))
    assert same(alone, 2 * v[:, 0] * 2.0)


def test_numbers_give_numbers(rg: Any) -> None:
    f = rg.compile(lambda x, y: x**2 * y)
    assert f.hessian(3.0, 2.0) == ((4.0, 6.0), (6.0, 0.0))
    assert f.hvp(3.0, 2.0, vector=(1.0, 0.0)) == (4.0, 6.0)
    assert f.hessian(3.0, 2.0, wrt="x") == 4.0
    g = rg.compile(lambda w: w[0][0] * w[1][0] ** 2)
    matrix = g.hessian(rg.uniform(np.array([[2.0], [3.0]])))
    assert same(matrix, np.array([[[[0.0], [6.0]]], [[[6.0], [4.0]]]]))


def test_a_uniform_argument_has_second_derivatives_per_row(rg: Any) -> None:
    f = rg.compile(lambda x, w: rg.dot(w, [x, x * x]) ** 2)
    x = np.array([1.0, 2.0, 3.0])
    got = f.hessian(x, rg.uniform(np.array([0.5, 0.25])), wrt="w")
    basis = np.column_stack([x, x * x])
    assert np.allclose(got, 2 * basis[:, :, None] * basis[:, None, :])


def test_a_vector_of_numbers_serves_every_row(rg: Any) -> None:
    f = rg.compile(lambda x, y: x**2 * y)
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    assert same(f.hvp(x, y, vector=(1.0, 0.0))[0], 2 * y)


def test_a_vector_of_the_wrong_shape_is_refused(rg: Any) -> None:
    f = rg.compile(lambda v: v[0] * v[1])
    points = np.ones((3, 2))
    with pytest.raises(rg.errors.CompileError, match="must have the nest of v: 2 numbers"):
        f.hvp(points, vector=np.ones(3))
    with pytest.raises(rg.errors.RowsError, match="row counts must agree"):
        f.hvp(points, vector=np.ones((4, 2)))
    with pytest.raises(rg.errors.CompileError, match="vector must be a tuple of 2 entries"):
        rg.compile(lambda x, y: x * y).hvp(1.0, 2.0, vector=1.0)


def test_several_outputs_have_no_hessian(rg: Any) -> None:
    with pytest.raises(rg.errors.FunctionResultError):
        rg.compile(lambda x: [x, x * x]).hessian(np.ones(2))


def test_functions_may_differentiate_inside(rg: Any) -> None:
    def force(q: Any, k: Any) -> Any:
        return -rg.grad(lambda v: 0.5 * k * v**2 + rg.cos(v))(q)

    q = numbers(50)
    compiled = rg.compile(force)
    assert np.allclose(compiled(q, 2.0), -(2.0 * q - np.sin(q)))
    assert np.allclose(compiled.grad(q, 2.0, wrt="q"), -(2.0 - np.cos(q)))
    assert np.allclose(compiled.hessian(q, 2.0, wrt="q"), -np.sin(q))


def test_inside_derivatives_go_with_branches_and_nests(rg: Any) -> None:
    def function(v: Any) -> Any:
        slopes = rg.grad(lambda w: w[0] ** 2 * w[1] if w[0] > 0 else w[1] ** 3)(v)
        return slopes[0] * 2.0 + slopes[1]

    points = numbers(40).reshape(20, 2)
    got = rg.compile(function).grad(points)
    expected = np.array([rg.grad(function)(point) for point in points.tolist()])
    assert np.allclose(got, expected)


@pytest.mark.parametrize("level", LEVELS)
def test_second_derivatives_have_the_same_bits_at_every_level(rg: Any, level: str) -> None:
    f = rg.compile(mixture(rg))
    points = numbers(300, -2.0, 2.0).reshape(100, 3)
    expected = f.hessian(points, threads=1)
    with kernels(level):
        assert same(f.hessian(points, threads=3), expected)
