"""Parts of one array that are read one by one: their gradients arrive together, and are right."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

A = np.random.default_rng(4).standard_normal((3, 3))


def _items(rg: ModuleType, x: Any) -> Any:
    s = x @ x
    det = s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]
    return det * rg.tanh(s[2, -1]) + s[0, 0] * s[0, 0]


def _columns(rg: ModuleType, x: Any) -> Any:
    s = rg.sin(x)
    return (s[:, 0] * s[:, 1] + s[::-1, 2] * s[1]).sum() + s[1:, 0].sum() * s[0, 2]


def _many(rg: ModuleType, x: Any) -> Any:
    s = x * 2.0
    total = s[0, 0]
    for k in range(60):
        total = total + s[k % 3, (k * 7) % 3] * s[(k + 1) % 3, k % 3]
    return total


def _whole_too(rg: ModuleType, x: Any) -> Any:
    s = rg.exp(x)
    return (s * s).sum() * s[0, 1] + s[0, 1] + s[1, 0]


CASES = [_items, _columns, _many, _whole_too]


@pytest.mark.parametrize("case", CASES)
def test_gradients_of_parts_are_those_of_tensors(rg: ModuleType, case: Any) -> None:
    def f(x: Any) -> Any:
        return case(rg, x)

    f.__annotations__ = {"x": rg.Tensor}
    compiled = rg.compile(f)
    x = rg.Tensor(A)
    wanted = f(x)
    wanted.backward()
    value, gradient = compiled.value_and_grad(A)
    assert value == pytest.approx(wanted.data)
    assert np.allclose(gradient, x.grad, rtol=1e-12, atol=1e-13)
    step = 1e-6 * np.eye(9)[3].reshape(3, 3)
    along = (compiled.grad(A + step) - compiled.grad(A - step)) / 2e-6
    assert np.allclose(compiled.hvp(A, vector=np.eye(9)[3].reshape(3, 3)), along, atol=1e-6)
    rows = np.stack([A, 0.5 * A, -A])
    assert np.allclose(
        compiled.grad(rg.rows(rows)), [compiled.grad(row) for row in rows], rtol=1e-12, atol=1e-13
    )


def test_sums_of_zeros_are_gone(rg: ModuleType) -> None:
    def f(x: Any) -> Any:
        return _items(rg, x)

    f.__annotations__ = {"x": rg.Tensor}
    compiled = rg.compile(f)
    compiled.grad(A)
    (family,) = compiled._tensors.families.values()
    run = next(it for key, it in family.traces[0].runs.items() if key != "value")
    names = [each.row.name for each in run.program.instructions]
    assert names.count("index'") == 1
