"""Nests of values and arrays of their shape, in pure Python: what ``native/bulk.c`` does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._shared.lending import refuse_lent
from ..errors import ShapeError
from .public import Value
from .recording import refuse


def zero(values: list[Any], /) -> None:
    """Set the gradients of a list of values and tensors to zero."""
    zero_nodes([v if isinstance(v, Value) else v._node for v in values])


def zero_nodes(nodes: list[Any]) -> None:
    """The same of nodes."""
    refuse(nodes, "grad_assignment")
    refuse_lent(nodes)
    for node in nodes:
        node._grad = node._nothing()


def _leaves(
    nest: Any, shape: tuple[int, ...], only_values: bool, place: tuple[int, ...] = ()
) -> Iterator[Any]:
    """The items of a rectangular nest in order, checked against its shape."""
    if not shape:
        if not isinstance(nest, Value) and (only_values or not isinstance(nest, (float, int))):
            raise ShapeError.nest(place, nest)
        yield nest
        return
    if not isinstance(nest, (list, tuple)) or len(nest) != shape[0]:
        raise ShapeError.nest(place, nest)
    for index, item in enumerate(nest):
        yield from _leaves(item, shape[1:], only_values, (*place, index))


def _values(nest: Any, shape: tuple[int, ...]) -> list[Value]:
    return list(_leaves(nest, shape, True))


def read_data(nest: Any, array: Any, /) -> None:
    """Copy the data of a nest into a float64 array."""
    items = list(_leaves(nest, array.shape, False))
    refuse([v for v in items if isinstance(v, Value)], "data")
    array.reshape(-1)[:] = [v._data if isinstance(v, Value) else v for v in items]


def read_grad(nest: Any, array: Any, /) -> None:
    """Copy the gradients of a nest into a float64 array."""
    values = _values(nest, array.shape)
    refuse(values, "grad")
    array.reshape(-1)[:] = [v._grad for v in values]


def write_data(nest: Any, array: Any, /) -> None:
    """Copy a float64 array into the data of a nest."""
    values = _values(nest, array.shape)
    refuse(values, "assignment")
    for value, data in zip(values, array.reshape(-1).tolist()):
        value._data = data


def add_grad(nest: Any, array: Any, /) -> None:
    """Add a float64 array to the gradients of a nest."""
    values = _values(nest, array.shape)
    refuse(values, "grad_assignment")
    refuse_lent(values)
    for value, more in zip(values, array.reshape(-1).tolist()):
        value._grad += more


def taking(values: list[Value], /) -> bytes:
    """Which values of a list take gradients: 0, 1, or 2 with hooks."""
    return bytes([(1 + bool(v._hooks)) if v._requires_grad else 0 for v in values])
