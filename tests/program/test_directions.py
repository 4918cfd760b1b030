"""Hessians by lanes: the same numbers as a sweep for each direction, and the eager ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from .loop_programs import random_function, rows_for
from .support import same

MANY = 1 << 60


@pytest.fixture
def from_size(rg: Any) -> Iterator[Callable[[int], None]]:
    """Sets the number of directions above which a Hessian is made by lanes."""
    calling = sys.modules[rg.compile(lambda x: x).hessian.__module__]
    before = calling.MANY_DIRECTIONS

    def choose(size: int) -> None:
        calling.MANY_DIRECTIONS = size

    yield choose
    calling.MANY_DIRECTIONS = before


def flat(nest: Any) -> list[Any]:
    if isinstance(nest, (tuple, list)):
        return [item for part in nest for item in flat(part)]
    return [np.asarray(nest)]


def chain(rg: Any, u: Any) -> Any:
    x, cost = 0.1, 0.0
    for k in range(len(u)):
        x = x + 0.1 * rg.sin(x) + 0.2 * u[k]
        cost = cost + x * x + 0.1 * u[k] * u[k]
    return cost


def test_a_hessian_of_many_numbers_is_the_eager_one(rg: Any) -> None:
    points = np.random.default_rng(0).normal(size=(3, 20))
    got = rg.compile(lambda u: chain(rg, u)).hessian(points)
    expected = [rg.hessian(lambda u: chain(rg, u))(point) for point in points.tolist()]
    assert got.shape == (3, 20, 20)
    assert np.allclose(got, np.array(expected), rtol=1e-12, atol=1e-14)
    assert same(got, got.transpose(0, 2, 1))


def test_lanes_and_sweeps_agree_to_the_bit(rg: Any, from_size: Any) -> None:
    points = np.random.default_rng(1).normal(size=(5, 24))
    by_lanes = rg.compile(lambda u: chain(rg, u)).hessian(points)
    from_size(MANY)
    assert same(by_lanes, rg.compile(lambda u: chain(rg, u)).hessian(points))


@pytest.mark.slow
def test_random_functions_have_the_same_hessians_by_lanes(rg: Any, from_size: Any) -> None:
    for seed in range(12):
        function, _ = random_function(rg, seed)
        arguments = rows_for(seed, width=4)
        from_size(0)
        by_lanes = flat(rg.compile(function).hessian(*arguments))
        from_size(MANY)
        for got, expected in zip(by_lanes, flat(rg.compile(function).hessian(*arguments))):
            assert np.allclose(got, expected, rtol=1e-11, atol=1e-13, equal_nan=True), seed


def test_the_nests_of_arguments_stay(rg: Any, from_size: Any) -> None:
    def f(x: Any, v: Any, more: Any) -> Any:
        return x * v[0] ** 2 * more["k"] + rg.exp(v[1] * more["k"])

    arguments = (np.array([1.0, 2.0]), np.ones((2, 2)), {"k": 2.0})
    wholes = []
    for size in (0, MANY):
        from_size(size)
        wholes.append(rg.compile(f).hessian(*arguments))
        assert rg.compile(f).hessian(3.0, [1.0, 2.0], {"k": 0.5}, wrt="x") == 0.0
    assert repr(wholes[0]) == repr(wholes[1])


def test_an_infinite_slope_elsewhere_stays_there(rg: Any, from_size: Any) -> None:
    """0 times an infinite slope in a direction that is not asked for must not show."""

    def f(v: Any) -> Any:
        return rg.sqrt(v[0] * v[2]) + v[1] * v[2] + v[3] ** 2

    points = np.array([[0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0]])
    from_size(0)
    got = rg.compile(f).hessian(points)
    from_size(MANY)
    assert same(got, rg.compile(f).hessian(points))
    assert got[0, 1, 2] == 1.0
    assert got[0, 3].tolist() == [0.0, 0.0, 0.0, 2.0]


def test_rows_that_branch_have_their_own_patterns(rg: Any, from_size: Any) -> None:
    def f(v: Any) -> Any:
        if v[0] > 0.0:
            return v[0] * v[1] + v[2] ** 3
        return v[0] * v[2] * v[3]

    points = np.array([[1.0, 2.0, 3.0, 4.0], [-1.0, 2.0, 3.0, 4.0], [2.0, 0.0, 1.0, 0.0]])
    from_size(0)
    compiled = rg.compile(f)
    got = compiled.hessian(points)
    expected = [rg.hessian(f)(point) for point in points.tolist()]
    assert np.array_equal(got, np.array(expected))
    sparse = compiled.hessian(points, sparse=True)
    assert [matrix.nnz for matrix in sparse] == [3, 6, 3]
    assert all(np.array_equal(matrix.toarray(), row) for matrix, row in zip(sparse, got))


def test_a_band_takes_few_runs(rg: Any) -> None:
    def f(v: Any) -> Any:
        return rg.sum([100.0 * (v[i + 1] - v[i] ** 2) ** 2 for i in range(199)])

    point = np.linspace(-1.0, 1.0, 200)
    compiled = rg.compile(f)
    matrix = compiled.hessian(rg.uniform(point), sparse=True)
    assert matrix.shape == (200, 200)
    assert matrix.nnz == 200 + 2 * 199
    ((pattern,),) = [trace.patterns.values() for trace in compiled.traces]
    assert pattern.most == 3
    assert np.array_equal(matrix.toarray(), compiled.hessian(rg.uniform(point)))


def test_custom_rules_need_not_be_symmetric(rg: Any, from_size: Any) -> None:
    @rg.custom_op
    def rounded(x: Any) -> Any:
        return rg.floor(x + 0.5)

    @rounded.vjp
    def _(upstream: Any, x: Any) -> Any:
        return rg.clip(upstream, -1.0, 1.0) * x + 1.0

    arguments = (np.array([1.23, 0.5]), np.array([2.0, 3.0]))
    found = []
    for size in (0, MANY):
        from_size(size)
        found.append(flat(rg.compile(lambda x, y: rounded(x) * y**3).hessian(*arguments)))
    assert all(same(one, other) for one, other in zip(*found))


def test_what_no_direction_reaches_is_zero(rg: Any, from_size: Any) -> None:
    from_size(0)
    compiled = rg.compile(lambda v: v[0] + 2.0 * v[1])
    assert same(compiled.hessian(np.ones((2, 2))), np.zeros((2, 2, 2)))
    assert compiled.hessian(np.ones((0, 2))).shape == (0, 2, 2)
    assert compiled.hessian(np.ones((2, 2)), sparse=True)[0].nnz == 0


def test_an_argument_cannot_be_called_sparse(rg: Any) -> None:
    with pytest.raises(rg.errors.CompileError, match="sparse"):
        rg.compile(lambda sparse: sparse * 2.0)
