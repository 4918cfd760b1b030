"""Boxes that are gone through at once: they agree with the function on tensors, at every size."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

SIZES = [(1, 9), (7, 27), (2, 1024), (3, 700)]
"""Around the lanes of a vector, the 2,048 numbers of a small box and the 1,024 of a chain."""


def _lines(rg: ModuleType, x: Any, row: Any, column: Any) -> Any:
    """Rows and columns spread over a box, sums along either axis behind it, and of all of it."""
    shown = x * column + row
    top = shown.max(axis=1, keepdims=True)
    scaled = rg.exp(shown - top)
    shares = scaled / scaled.sum(axis=1, keepdims=True)
    down = (shares * row).sum(axis=0)
    return (down * down).sum() + (x.T * 0.5 + column.T).sum() + shown.sum()


def _heads(rg: ModuleType, x: Any, row: Any, column: Any) -> Any:
    """Three loops, one operand going on in its own order, one the same for all of the first."""
    both = rg.stack([x, x * 2.0, x - 1.0])
    turned = both.transpose(1, 0, 2) * column.reshape(-1, 1, 1)
    return (turned.sum(axis=2) * turned.sum(axis=2)).sum() + (both * x * row).sum()


@pytest.mark.parametrize("case", [_lines, _heads])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_small_boxes_agree_with_tensors(rg: ModuleType, case: Any, size: Any) -> None:
    draw = np.random.default_rng(3)
    given = [draw.standard_normal(it) for it in (size, (1, size[1]), (size[0], 1))]

    def f(x: Any, row: Any, column: Any) -> Any:
        return case(rg, x, row, column)

    f.__annotations__ = dict.fromkeys(("x", "row", "column"), rg.Tensor)
    tensors = [rg.Tensor(it) for it in given]
    result = case(rg, *tensors)
    result.backward()
    value, gradients = rg.compile(f).value_and_grad(*given)
    assert value == pytest.approx(float(result.data), rel=1e-13)
    for gradient, tensor in zip(gradients, tensors):
        np.testing.assert_allclose(gradient, tensor.grad, rtol=1e-12, atol=1e-13)
    assert rg.compile(f)(*given) == value


def test_what_is_alike_along_an_axis_is_computed_once(rg: ModuleType) -> None:
    x, scale = np.random.default_rng(4).standard_normal((30, 8)), np.linspace(0.5, 2.0, 30)

    @rg.compile
    def scaled(x: rg.Tensor, scale: rg.Tensor) -> Any:  # type: ignore[name-defined]
        return (rg.exp(x) / scale.reshape(-1, 1)).sum()

    value, gradient = scaled.value_and_grad(x, scale, wrt="x")
    np.testing.assert_allclose(value, (np.exp(x) / scale[:, None]).sum(), rtol=1e-13)
    np.testing.assert_allclose(gradient, np.exp(x) / scale[:, None], rtol=1e-13)
    plan = scaled.explain()
    assert "map over (30,) 240 bytes: div" in plan or "by NumPy, one by one" in plan

    @rg.compile
    def spread(x: rg.Tensor) -> Any:  # type: ignore[name-defined]
        return (x.sum() * 2.0 + x.sum()) * 2.0

    np.testing.assert_array_equal(spread.grad(x), np.full((30, 8), 6.0))
