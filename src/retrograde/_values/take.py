"""take: one of a list, chosen by an index that may differ from row to row.

Eagerly the choice is Python's; while recording it is an instruction for each number of an item, and
in a function on tensors a branch.
"""

from __future__ import annotations

import sys
from typing import Any

from .._shared.numerics import np
from .._shared.operands import is_real_scalar
from ..errors import ShapeError, TakeError
from ..tensor import Tensor
from ..value import Value, belongs_to_caller, core
from .modes import needs_tensors, recording_tensors
from .nests import as_array, remade
from .sequences import ComputingSequence, sequence

_ARRAYS = (np.ndarray, ComputingSequence)
_NUMBER, _OTHER = "number", "other"
"""Shapes of items that have no parts."""


def take(items: Any, index: Any) -> Any:
    """``items[index]``, where the index may be a value: a token, a bucket, a state.

    Eagerly it is the item itself, so gradients go to it alone. In a compiled function the choice
    is made row by row, and again only the chosen item counts: the others contribute nothing,
    whatever their numbers and slopes are there. Items may be lists, tuples, dicts and arrays of
    values, also nested; in a compiled function all of one shape. Under ``no_grad()`` the numbers
    are taken without their history. Of a tensor the index may be an array of whole numbers.

    >>> import retrograde as rg
    >>> table = [rg.Value(10.0), rg.Value(20.0)]
    >>> rg.take(table, rg.Value(1.0)).data
    20.0
    """
    if isinstance(items, Tensor):
        if not isinstance(index, Value):
            return items.take(index, 0)
        needs_tensors()
        return items[_whole(_number(index, len(items)), len(items))]
    items = list(items)
    index = getattr(index, "recorded_value", index)  # a condition is 1 or 0
    if isinstance(index, Value) and core.in_recording() and not recording_tensors():
        return _among(items, index, "item")
    number = _number(index, len(items)) if isinstance(index, Value) else float(index)
    chosen = items[_whole(number, len(items))]
    return _detached(chosen) if core.in_no_grad() else chosen


def _number(index: Value, count: int) -> float:
    """The number of an index. While a function on tensors is recorded, comparisons lead to it: they
    are guards, so every item that is taken has a recording, in which the others are not."""
    if not recording_tensors():
        return index.data
    first, end = 0, count
    while end - first > 1:
        middle = (first + end) // 2
        if index < middle:
            end = middle
        else:
            first = middle
    if index == first:
        return float(first)
    return core.peek(index)


def _whole(index: float, count: int) -> int:
    if not 0 <= index < count or index != int(index):
        raise TakeError.of(index, count)
    return int(index)


def _among(items: list[Any], index: Value, place: str) -> Any:
    """One of the items as part of a recorded program, number by number."""
    numbers = [getattr(item, "recorded_value", item) for item in items]
    if all([isinstance(number, Value) or is_real_scalar(number) for number in numbers]):
        conditions = [item for item, number in zip(items, numbers) if item is not number]
        others = [item for item, number in zip(items, numbers) if item is number]
        chosen = core.take(numbers, index)
        if conditions and all(isinstance(other, bool) for other in others):
            return type(conditions[0])(chosen)  # a choice among truths is one
        return chosen
    first = items[0]
    shape = _shape(first)
    for number, item in enumerate(items):
        if _shape(item) != shape or shape == _OTHER:
            raise ShapeError.take(place, first, number, item)
    parts = [
        _among([item[key] for item in items], index, f"{place}[{key!r}]") for key in _keys(first)
    ]
    return _remade(first, parts)


def _shape(item: Any) -> Any:
    """What two items must have in common for their numbers to be chosen one by one."""
    if isinstance(item, _ARRAYS):
        return type(item), item.shape
    if isinstance(item, dict):
        return dict, tuple(item)
    if hasattr(item, "__getitem__") and hasattr(item, "__len__") and not isinstance(item, str):
        return type(item), len(item)
    return _NUMBER if isinstance(item, Value) or is_real_scalar(item) else _OTHER


def _keys(item: Any) -> Any:
    if isinstance(item, _ARRAYS):
        return np.ndindex(item.shape)
    return list(item) if isinstance(item, dict) else range(len(item))


def _remade(item: Any, parts: list[Any]) -> Any:
    """Other parts in the shape of an item."""
    if isinstance(item, np.ndarray):
        return as_array(parts, item.shape)
    if isinstance(item, ComputingSequence):
        return sequence(parts, item.shape)
    if isinstance(item, dict):
        return dict(zip(item, parts))
    return remade(type(item), parts)


def _detached(item: Any) -> Any:
    """An item without its history; what holds no values is left as it is."""
    if isinstance(item, Value):
        return item.detach()
    if _shape(item) in (_NUMBER, _OTHER) or (isinstance(item, np.ndarray) and item.dtype != object):
        return item
    return _remade(item, [_detached(item[key]) for key in _keys(item)])


belongs_to_caller(sys.modules[__name__])
