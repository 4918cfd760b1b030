"""The single numbers of a point, some of which tensors hold: read, moved and asked for gradients
one by one, as values are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..tensor import Tensor
from ..value import Value, core


class InTensor:
    """One number of a leaf tensor, with the attributes of a value that a check asks for."""

    __slots__ = ("index", "tensor")

    def __init__(self, tensor: Any, index: tuple[int, ...]) -> None:
        self.tensor, self.index = tensor, index

    @property
    def data(self) -> float:
        """The number."""
        return float(self.tensor.data[self.index])

    @property
    def grad(self) -> float:
        """Its gradient."""
        return float(self.tensor.grad[self.index])


class Held:
    """Leaves of a call: values, of which some were put together into tensors."""

    def __init__(self, leaves: list[Any]) -> None:
        self.numbers: list[Any] = list(leaves)
        self._place = {id(leaf): place for place, leaf in enumerate(leaves)}

    def tensor(self, parts: list[Any], shape: tuple[int, ...]) -> Any:
        """The argument that an array of these values is."""
        if shape == ():
            return parts[0]
        made = Tensor(np.array([part.data for part in parts], dtype=float).reshape(shape))
        for part, index in zip(parts, np.ndindex(shape)):
            self.numbers[self._place[id(part)]] = InTensor(made, index)
        return made


def held_by(number: Any) -> Any:
    """The leaf that holds a number: a tensor, or the value itself."""
    return number.tensor if isinstance(number, InTensor) else number


def numbers_in(leaf: Any) -> list[Any]:
    """The numbers of a leaf."""
    if isinstance(leaf, Value):
        return [leaf]
    return [InTensor(leaf, index) for index in np.ndindex(leaf.shape)]


def places_in(leaf: Any, name: str) -> Iterator[str]:
    """Where they stand."""
    if isinstance(leaf, Value):
        yield name
        return
    for index in np.ndindex(leaf.shape):
        yield f"{name}[{', '.join(map(str, index))}]"


def set_data(leaves: Sequence[Any], numbers: Sequence[float]) -> None:
    """Give leaves other numbers; a tensor is written once, and only if one of its own differs."""
    arrays: dict[int, tuple[Any, Any]] = {}
    for leaf, number in zip(leaves, numbers):
        if not isinstance(leaf, InTensor):
            leaf.data = number
            continue
        key = core.key(leaf.tensor)
        if key not in arrays:
            arrays[key] = leaf.tensor, np.array(leaf.tensor.data)
        arrays[key][1][leaf.index] = number
    for tensor, array in arrays.values():
        if not np.array_equal(array, tensor.data, equal_nan=True):
            core.write_tensor(tensor, array)


def of_values_alone(root: Any, leaves: list[Any]) -> tuple[Any, list[Any]] | None:
    """A graph for those who look at every value of it; None where tensors stand in it."""
    if any(isinstance(node, Tensor) for node in core.order((root,))):
        return None
    return root, leaves
