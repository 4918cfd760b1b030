"""take: one of a list, chosen by an index that may differ from row to row."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .errors import TakeError
from .sequences import ComputingSequence, sequence
from .value import Value, belongs_to_caller, core


def take(items: Sequence[Any], index: Any) -> Any:
    """``items[index]``, where the index may be a value: a token, a bucket, a state.

    Eagerly it is the item itself, so gradients go to it alone. In a compiled function the choice
    is made row by row. Items may be lists (of lists …) of values: then the choice is among those.

    >>> import retrograde as rg
    >>> table = [rg.Value(10.0), rg.Value(20.0)]
    >>> rg.take(table, rg.Value(1.0)).data
    20.0
    """
    table, items = items, list(items)
    if not isinstance(index, Value):
        return items[_whole(float(index), len(items))]
    if not core.in_recording():
        return items[_whole(index.data, len(items))]
    if items and isinstance(items[0], (list, tuple)):
        return [take(column, index) for column in zip(*items, strict=True)]
    if isinstance(table, ComputingSequence) and table.ndim > 1:
        rows = table.reshape(len(items), -1)
        return sequence([take(column, index) for column in rows.T], table.shape[1:])
    return core.take(items, index)


def _whole(index: float, count: int) -> int:
    if not 0 <= index < count or index != int(index):
        raise TakeError.of(index, count)
    return int(index)


belongs_to_caller(sys.modules[__name__])
