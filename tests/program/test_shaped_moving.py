"""Numbers read, and added up, at places that whole numbers name: replays agree with tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograde as rg
from retrograde.value import core_name

X = np.random.default_rng(0).standard_normal((5, 4))


def rows(x: rg.Tensor, n: np.ndarray) -> Any:
    return (x[n] ** 2).sum()


def columns(x: rg.Tensor, n: np.ndarray) -> Any:
    return (x.T[n] ** 3).sum()


@pytest.mark.parametrize("function", [rows, columns])
@pytest.mark.parametrize("n", [[0, 3, 3, 1], [-1, 0, -1, 2], [2]])
def test_places_agree_with_the_eager_ones(function: Any, n: list[int]) -> None:
    compiled = rg.compile(function)
    value, gradient = compiled.value_and_grad(X, np.array(n))
    assert compiled(X, np.array(n)) == value
    x = rg.Tensor(X)
    wanted = function(x, np.array(n))
    wanted.backward()
    assert value == pytest.approx(wanted.data, rel=1e-13)
    np.testing.assert_allclose(gradient, x.grad, rtol=1e-13, atol=0.0)
    if core_name == "native":
        assert "places that whole numbers name" in compiled.explain()


def test_other_places_in_the_next_call() -> None:
    compiled = rg.compile(rows)
    for n in ([0, 1], [4, 4], [-5, 3]):
        assert compiled(X, np.array(n)) == pytest.approx((X[n] ** 2).sum(), rel=1e-13)
    with pytest.raises(IndexError):
        compiled(X, np.array([0, 5]))
