"""Every row of the array law through the public tensors of both cores, against PyTorch: value,
first and second derivative."""

from __future__ import annotations

import zlib
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from ..law.array_cases import ALL, Case, agree, torch


class Face:
    """The public face in the place of the law's own tape."""

    def __init__(self, rg: Any) -> None:
        self.rg, self.do = rg, import_module(f"{rg.__name__}._tensors.doing").do
        self.index, self.put, self.add_at = self.do.index, self.do.put, self.do.add_at
        self.slogdet, self.det = rg.slogdet, rg.det

    def __call__(self, name: str, *operands: Any, **arguments: Any) -> Any:
        return self.do(name, *operands, **arguments)


def leaf(rg: Any, array: Any) -> Any:
    array = np.asarray(array)
    return rg.Tensor(array) if array.ndim else rg.Value(float(array))


def zeros_where_none(found: Any, leaves: Any) -> list[Any]:
    return [torch.zeros_like(t) if g is None else g for g, t in zip(found, leaves)]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_rows_have_torchs_values_and_derivatives(rg: Any, case: Case) -> None:
    face = Face(rg)
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    ours = [leaf(rg, array) for array in case.arrays]
    theirs = [torch.tensor(array, requires_grad=True) for array in case.arrays]
    z, q = case.by(face, ours), case.theirs(*theirs)
    agree("value", z.data, q.detach().numpy())
    assert (z.shape == ()) is isinstance(z, rg.Value)
    if not q.requires_grad:
        return
    weight = rng.standard_normal(z.shape)
    top = rg.sum(rg.tanh(z * 0.5) * weight) if z.ndim else rg.tanh(z * 0.5) * float(weight)
    total = (torch.tanh(q * 0.5) * torch.tensor(weight)).sum()
    found = torch.autograd.grad(total, theirs, create_graph=case.second, allow_unused=True)
    expected = zeros_where_none(found, theirs)
    top.backward()
    first = rg.gradients(top, ours)
    for number, (u, x, v) in enumerate(zip(first, ours, expected)):
        wanted = v.detach().numpy()
        agree(f"gradient of operand {number}", u.data, wanted, case.tolerance)
        agree(f"backward to operand {number}", x.grad, wanted, case.tolerance)
    if not case.second:
        return
    ways = [rng.standard_normal(np.shape(array)) for array in case.arrays]
    slopes = [rg.sum(u * by) if u.ndim else u * float(by) for u, by in zip(first, ways)]
    their_sum = sum((v * torch.tensor(by)).sum() for v, by in zip(expected, ways))
    second = rg.gradients(rg.sum(slopes), ours)
    if their_sum.requires_grad:
        expected = torch.autograd.grad(their_sum, theirs, allow_unused=True)
    else:
        expected = [None] * len(theirs)
    for number, (u, v) in enumerate(zip(second, expected)):
        wanted = np.zeros(u.shape) if v is None else v.numpy()
        agree(f"second derivative along operand {number}", u.data, wanted, 1e-11)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_tangents_are_the_gradients_seen_from_the_other_end(rg: Any, case: Case) -> None:
    if any(np.asarray(array).ndim == 0 for array in case.arrays) or case.row == "trigamma":
        return
    face = Face(rg)
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    moves = tuple(rng.standard_normal(np.shape(array)) for array in case.arrays)

    def function(*operands: Any) -> Any:
        return case.by(face, operands)

    value, tangent = rg.jvp(function, case.arrays, moves)
    up = rng.standard_normal(np.shape(value))
    _, pull = rg.vjp(function, *case.arrays)
    pulled = pull(up if np.ndim(value) else float(up))
    pulled = pulled if isinstance(pulled, tuple) else (pulled,)
    forward = float(np.sum(up * tangent))
    backward = float(sum(np.sum(g * m) for g, m in zip(pulled, moves)))
    assert forward == pytest.approx(backward, rel=1e-9, abs=1e-9)
