"""Rows that NumPy carries out inside a native plan: equations, and places over several axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograde as rg
from retrograde.value import core_name

A = np.random.default_rng(0).standard_normal((3, 4, 4)) * 0.3 + 2.0 * np.eye(4)
B = np.random.default_rng(1).standard_normal((3, 4, 2))


def solved(a: rg.Tensor, b: rg.Tensor) -> Any:
    return (rg.solve(a, b) ** 2).sum()


def factored(a: rg.Tensor, b: rg.Tensor) -> Any:
    lower = rg.cholesky(a @ a.swapaxes(-1, -2))
    return (lower @ b).sum() + rg.log(rg.stack([lower[:, i, i] for i in range(4)])).sum()


def inverted(a: rg.Tensor, b: rg.Tensor) -> Any:
    return (rg.inverse(a) @ rg.tanh(b)).sum()


def largest(a: rg.Tensor, b: rg.Tensor) -> Any:
    return (a.max(axis=(0, 2)) ** 2).sum() - b.min(axis=(1, 2)).sum()


def largest_of_all(a: rg.Tensor, b: rg.Tensor) -> Any:
    return a.max() * b.min()


@pytest.mark.parametrize("function", [solved, factored, inverted, largest, largest_of_all])
def test_values_have_the_bits_of_values_with_gradients(function: Any) -> None:
    compiled = rg.compile(function)
    value, gradients = compiled.value_and_grad(A, B)
    assert compiled(A, B) == value
    leaves = rg.Tensor(A), rg.Tensor(B)
    wanted = function(*leaves)
    wanted.backward()
    assert value == pytest.approx(wanted.data, rel=1e-12)
    for one, leaf in zip(gradients, leaves):
        np.testing.assert_allclose(one, leaf.grad, rtol=1e-10, atol=1e-12)
    if core_name == "native":
        assert "one by one" not in compiled.explain()


def test_explain_names_rows_by_numpy() -> None:
    compiled = rg.compile(solved)
    compiled(A, B)
    if core_name == "native":
        assert "solve by NumPy: (3, 4, 2)" in compiled.explain()


def test_what_numpy_refuses_is_raised_and_the_plan_stays_usable() -> None:
    compiled = rg.compile(solved)
    before = compiled(A, B)
    with pytest.raises(rg.errors.FitError, match="solve: Singular matrix"):
        compiled(np.zeros((3, 4, 4)), B)
    assert compiled(A, B) == before


def test_large_steps_by_numpy_without_the_lock() -> None:
    """A run that is long enough lets other threads go on, and takes the lock again for NumPy."""
    draw = np.random.default_rng(2)
    a, b = draw.standard_normal((150, 150)) + 20 * np.eye(150), draw.standard_normal((150, 150))
    compiled = rg.compile(solved)
    assert compiled(a, b) == compiled.value_and_grad(a, b)[0]
    with pytest.raises(rg.errors.FitError, match="solve: Singular matrix"):
        compiled(0 * a, b)
