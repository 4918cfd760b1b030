"""What workers run of a call with Dask's collections: the call on one chunk, sums and columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._values.nests import flatten, is_array
from ..errors import LazyError
from ..frames.binding import Columns
from ..frames.columns import column_of
from ..frames.tables import table_of
from .blocks import Sums, sums_of, total
from .shipping import Shipped


class Part:
    """A call of which some arguments are missing; sent to workers."""

    def __init__(self, name: str, structure: Any, leaves: list[Any], places: list[int]) -> None:
        self.name, self.structure, self.leaves, self.places = name, structure, leaves, places
        self._nulls: dict[int, str] = {}
        self.reduced = False

    def columns(self, place: int, nulls: str) -> None:
        """What stands there was inside of ``rg.columns``."""
        self._nulls[place] = nulls

    def filled(self, chunks: Sequence[Any]) -> dict[str, Any]:
        """The call with chunks in the place of collections."""
        leaves = list(self.leaves)
        for place, chunk in zip(self.places, chunks):
            nulls = self._nulls.get(place)
            leaves[place] = chunk if nulls is None else Columns(chunk, nulls)
        found: dict[str, Any] = self.structure.unflatten(leaves)
        return found

    def __call__(self, shipped: Shipped, chunks: Sequence[Any], number: int) -> list[Any]:
        """The results of one chunk, as a list."""
        call = self.filled(chunks)
        if self.reduced:
            beside = {} if call.get("weights") is None else {"weights": call["weights"]}
            given = shipped.function._unframed(call["args"], {**call["kwargs"], **beside})
            call["args"], call["kwargs"] = tuple(given[0]), dict(given[1])
            call.update({name: call["kwargs"].pop(name) for name in beside})
        args, kwargs = by_order_and_name(self.name, call)
        try:
            found = getattr(shipped.function, self.name)(*args, **kwargs)
        except Exception as error:
            notes: list[str] = vars(error).setdefault("__notes__", [])
            notes.append(LazyError.chunk(number))
            raise
        shipped.tell(call["args"], call["kwargs"])
        return list(flatten(found, is_array)[0])


def by_order_and_name(name: str, call: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a method by order and by name."""
    call = dict(call)
    if name.startswith("_"):
        return (), call
    args, kwargs = call.pop("args"), call.pop("kwargs")
    return args, {**kwargs, **call}


def identity(thing: Any) -> Any:
    """The thing, as a task of its own."""
    return thing


def run(part: Part, shipped: Shipped, chunks: Sequence[Any], number: int) -> list[Any]:
    """The call on one chunk."""
    return part(shipped, chunks, number)


def start_of(before: int, results: Any) -> int:
    """The number of the first row of a chunk: that of the one before, and its rows."""
    return before + (len(results[0]) if results else 0)


def chunk_sums(results: list[Any], places: list[int], first: int) -> Sums:
    """Some results of a chunk, added up by blocks."""
    columns = []
    for place in places:
        array = results[place]
        columns += [array] if array.ndim == 1 else list(array.reshape(len(array), -1).T)
    return sums_of(columns, first)


def totals(sums: Sums, widths: list[tuple[int, ...]], mean: bool, function: str) -> list[Any]:
    """The sums as numbers and arrays, and how many rows there were."""
    if mean and not sums.rows:
        raise LazyError.no_mean(function)
    source = iter(total(sums).tolist())
    found: list[Any] = []
    for shape in widths:
        numbers = [next(source) for _ in range(int(np.prod(shape, dtype=int)))]
        numbers = [it / sums.rows for it in numbers] if mean else numbers
        found.append(np.array(numbers).reshape(shape) if shape else numbers[0])
    return [*found, sums.rows]


def column(numbers: Any, frame: Any, name: str | None, rows: int | None) -> Any:
    """Rows of a result, as a column like those of a frame where there is one."""
    numbers = numbers if rows is None else numbers / rows
    if frame is None:
        return numbers
    table = table_of(frame)
    if table is not None:
        return table.column(name or "", numbers)
    single = column_of(frame)
    assert single is not None
    return single.like(name or "", numbers)
