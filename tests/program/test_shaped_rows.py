"""Every row of the array law in a compiled function: value and gradients are those of tensors."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from retrograde.ops.array import ARRAYS
from retrograde.ops.arrays.row import Implicit


def _do(rg: ModuleType) -> Any:
    import importlib

    return importlib.import_module(f"{rg.__name__}._tensors.doing").do


def _given(name: str) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
    """Operands, whole numbers and arguments of a row's example."""
    example, row = ARRAYS[name].example, ARRAYS[name]
    rng = np.random.default_rng(len(name))
    operands, wholes = [], {}
    for array, shape in example.shapes.items():
        if array in row.wholes:
            wholes[array] = rng.integers(0, 3, shape)
        else:
            operands.append(rng.uniform(0.2, 0.8, shape))
    if isinstance(row, Implicit) or name in ("inverse", "logabsdet"):
        n = operands[0].shape[-1]
        operands[0] = operands[0] @ operands[0].T + n * np.eye(n)
    if name == "acosh":
        operands[0] += 1.0
    return operands, wholes, dict(example.arguments)


@pytest.mark.parametrize("name", list(ARRAYS))
def test_a_row_replays_as_it_runs_on_tensors(rg: ModuleType, name: str) -> None:
    do = _do(rg)
    operands, wholes, arguments = _given(name)
    if set(wholes) - set(ARRAYS[name].wholes) or name in ("put", "add_at", "put_at", "index"):
        pytest.skip("through the methods of tensors, below")

    def f(xs: list[rg.Tensor]) -> Any:  # type: ignore[name-defined]
        result = do(name, *xs, **wholes, **arguments)
        parts = result if isinstance(result, list) else [result]
        return sum((part * (1.0 + 0.5 * k)).sum() if part.shape else part * (1.0 + k)
                   for k, part in enumerate(parts))  # fmt: skip

    f.__annotations__["xs"] = list[rg.Tensor]
    tensors = [rg.Tensor(it) if it.ndim else rg.Value(float(it)) for it in operands]
    wanted = f(tensors)
    compiled = rg.compile(f)
    assert compiled(operands) == pytest.approx(float(wanted.data), rel=1e-13, abs=1e-13)
    try:
        wanted.backward()
    except rg.errors.NotDifferentiable:
        with pytest.raises(rg.errors.NotDifferentiable):
            compiled.value_and_grad(operands)
        return
    value, gradients = compiled.value_and_grad(operands)
    assert value == pytest.approx(float(wanted.data), rel=1e-13, abs=1e-13)
    for gradient, tensor in zip(gradients, tensors):
        np.testing.assert_allclose(gradient, tensor.grad, rtol=1e-12, atol=1e-13)
