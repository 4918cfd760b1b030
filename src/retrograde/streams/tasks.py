"""What workers run of a call with Dask's collections: the call on one chunk, sums and columns."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._values.nests import flatten, is_array
from ..errors import LazyError
from ..frames.binding import Columns
from ..frames.columns import column_of
from ..frames.tables import table_of
from .blocks import Sums, joined, sums_of, total
from .shipping import Kept, Shipped


class Part:
    """A call of which some arguments are missing; sent to workers."""

    def __init__(
        self, shipped: Shipped, name: str, structure: Any, leaves: list[Any], places: list[int]
    ) -> None:
        self.shipped, self.name = shipped, name
        self.structure, self.leaves, self.places = structure, leaves, places
        self._nulls: dict[int, str] = {}
        self.reduced = self.single = False
        self.added: list[int] | None = None
        """Which results are added up; the sums come first then."""

    @property
    def weight(self) -> int:
        """About how many bytes it has on its way."""
        arrays = [getattr(leaf, "given", leaf) for leaf in self.leaves]
        return self.shipped.weight + sum(int(it.nbytes) for it in arrays if is_array(it))

    def __reduce__(self) -> Any:
        from cloudpickle import dumps

        return Sent, (dumps(vars(self)),)

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

    def __call__(self, place: tuple[int, int | None], chunks: Sequence[Any]) -> Any:
        """The results of one chunk, as a list where they are not a single one; ``place`` is the
        number of the chunk, and that of its first row."""
        call, function = self.filled(chunks), self.shipped.function
        if self.reduced:
            beside = {} if call.get("weights") is None else {"weights": call["weights"]}
            given = function._unframed(call["args"], {**call["kwargs"], **beside})
            call["args"], call["kwargs"] = tuple(given[0]), dict(given[1])
            call.update({name: call["kwargs"].pop(name) for name in beside})
        args, kwargs = by_order_and_name(self.name, call)
        try:
            found = flatten(getattr(function, self.name)(*args, **kwargs), is_array)[0]
        except Exception as error:
            notes: list[str] = vars(error).setdefault("__notes__", [])
            notes.append(LazyError.chunk(place[0]))
            raise
        self.shipped.tell(call["args"], call["kwargs"])
        results = list(found)
        if self.added is not None and place[1] is not None:
            others = [it for number, it in enumerate(results) if number not in self.added]
            results = [chunk_sums(results, self.added, place[1]), *others]
        return results[0] if self.single else results


class Sent:
    """A call on its way: the scheduler has one for each chunk, and looks into none."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __reduce__(self) -> Any:
        return Sent, (self._data,)

    def __call__(self, place: tuple[int, int | None], chunks: Sequence[Any]) -> Any:
        """The results of one chunk."""
        return _CALLS.of(self, self._data, len(self._data))(place, chunks)


def _made(data: bytes) -> Part:
    part = Part.__new__(Part)
    vars(part).update(pickle.loads(data))
    return part


_CALLS = Kept(_made)


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


def run(part: Part | Sent, place: tuple[int, int | None], *chunks: Any) -> Any:
    """The call on one chunk."""
    return part(place, chunks)


def picked(number: int, results: list[Any]) -> Any:
    """One of the results of a chunk."""
    return results[number]


def start_of(before: int, results: Any) -> int:
    """The number of the first row of a chunk: that of the one before, and its rows."""
    return before + (len(results[0]) if results else 0)


def chunk_sums(results: list[Any], places: list[int], first: int) -> Sums:
    """Some results of a chunk, added up by blocks."""
    columns = []
    for place in places:
        array = results[place]
        columns += [array] if array.ndim == 1 else list(array.reshape(len(array), -1).T)
    return sums_of(columns, first, len(results[0]))


def totals(
    parts: list[Sums], widths: list[tuple[int, ...]], mean: bool, function: str, place: int
) -> Any:
    """One of the totals as a number or an array; for -1 how many rows there were."""
    sums = joined(parts)
    if mean and not sums.rows:
        raise LazyError.no_mean(function)
    if place < 0:
        return sums.rows
    source = iter(total(sums).tolist())
    for shape in widths[: place + 1]:
        numbers = [next(source) for _ in range(int(np.prod(shape, dtype=int)))]
    numbers = [it / sums.rows for it in numbers] if mean else numbers
    shape = widths[place]
    return np.array(numbers).reshape(shape) if shape else numbers[0]


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
