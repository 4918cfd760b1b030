"""The numbers of leaves as one flat array, whether they are values or tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._shared.numerics import np
from .._values import bulk
from ..tensor import Tensor

Array = Any


def data(leaves: Sequence[Any]) -> Array:
    """Their numbers, one after the other."""
    return _joined([bulk.data(part) for part in _runs(leaves)])


def grads(leaves: Sequence[Any]) -> Array:
    """Their gradients, one after the other."""
    return _joined([bulk.grads(part) for part in _runs(leaves)])


def assign(leaves: Sequence[Any], numbers: Array) -> None:
    """Set their numbers from such an array."""
    begin = 0
    for part in _runs(leaves):
        shape = part.shape if isinstance(part, Tensor) else (len(part),)
        end = begin + int(np.prod(shape))
        bulk.assign(part, numbers[begin:end].reshape(shape))
        begin = end


def _joined(arrays: list[Array]) -> Array:
    return np.concatenate([np.zeros(0), *map(np.ravel, arrays)])


def _runs(leaves: Sequence[Any]) -> list[Any]:
    """Each tensor by itself, and the values between them as lists."""
    runs: list[Any] = []
    for leaf in leaves:
        if isinstance(leaf, Tensor):
            runs.append(leaf)
        elif runs and isinstance(runs[-1], list):
            runs[-1].append(leaf)
        else:
            runs.append([leaf])
    return runs
