"""Nests of values and arrays of their shape, in pure Python: what ``native/bulk.c`` does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._shared.lending import refuse_lent
from ..errors import ShapeError
from .public import Value


def zero(values: list[Value], /) -> None:
    """Set the gradients of a list of values to zero."""
    refuse_lent(values)
    for value in values:
        value._grad = 0.0


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
    items = _leaves(nest, array.shape, False)
    array.reshape(-1)[:] = [v._data if isinstance(v, Value) else v for v in items]


def read_grad(nest: Any, array: Any, /) -> None:
    """Copy the gradients of a nest into a float64 array."""
    array.reshape(-1)[:] = [v._grad for v in _values(nest, array.shape)]


def write_data(nest: Any, array: Any, /) -> None:
    """Copy a float64 array into the data of a nest."""
    for value, data in zip(_values(nest, array.shape), array.reshape(-1).tolist()):
        value._data = data
