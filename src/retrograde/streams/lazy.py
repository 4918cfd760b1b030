"""Dask's arrays and frames as arguments: what comes of them stays lazy.

The call is taken apart. Each of its collections is replaced by one chunk in a task, the other
arguments stay as they are, and what a call without rows gives says what the results are. The
function is a task of its own, so that a worker gets it once.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from operator import getitem
from typing import Any
from uuid import uuid4

import numpy as np

from .._values.nests import flatten, is_array
from ..errors import LazyError
from ..frames.binding import Columns
from ..frames.lazies import is_lazy
from ..frames.tables import table_of
from .blocks import joined
from .shipping import Shipped
from .tasks import Part, by_order_and_name, chunk_sums, column, identity, run, start_of, totals

_NOT_LAZY = ("backward", "story", "births")
_FAN_IN = 8
"""Sums that are joined in one task."""


def lazily(function: Any, name: str, args: Any, kwargs: Any) -> Any:
    """What a method of a function gives where some of its arguments are Dask's."""
    public = name.strip("_")
    if public in _NOT_LAZY:
        raise LazyError.method(function._name, public)
    if function._signature is None or getattr(function, "_on_tensors", False):
        raise LazyError.tensors(function._name)
    asked = inspect.signature(getattr(type(function), name)).bind(function, *args, **kwargs)
    asked.apply_defaults()
    call = dict(asked.arguments)
    del call["self"]
    if call.get("out") is not None or call.get("sparse"):
        raise LazyError.option(function._name, "out=" if call.get("out") is not None else "sparse=")
    if call["threads"] is None:
        call["threads"] = 1  # a task is one thread's work: its worker runs others beside it
    return _Graph(function, name, call).results()


@dataclass
class _Input:
    """A collection: what stands for it without rows, and the keys of its chunks."""

    keys: list[Any]
    empty: Any
    nulls: str | None = None
    table: bool = False


class _Graph:
    """The tasks of one call."""

    def __init__(self, function: Any, name: str, call: dict[str, Any]) -> None:
        self._function, self._call = function, call
        self._label = f"{function._name.strip('<>')}.{name.strip('_')}"
        self._token = uuid4().hex
        self._tasks: dict[Any, Any] = {}
        self._sources: list[Any] = []
        self._graph: Any = None
        self._chunks: tuple[Any, ...] | None = None
        self._divisions: tuple[Any, ...] | None = None
        self._read(name, call)

    # ---- what comes in ---------------------------------------------------------------------------

    def _read(self, name: str, call: dict[str, Any]) -> None:
        leaves, structure = flatten(call, _is_leaf)
        places = [place for place, leaf in enumerate(leaves) if _lazy_in(leaf)]
        part = Part(name, structure, leaves, places)
        lazy = [leaves[place] for place in places]
        rows = [it for it in lazy if not isinstance(it, Columns) and hasattr(it, "chunks")]
        self._rows = rows[0].chunks[0] if rows else None
        arrays = [
            place
            for place, leaf in enumerate(leaves)
            if is_array(leaf) and leaf.ndim and not _lazy_in(leaf)
        ]
        part.places = places = sorted(places + arrays)
        inputs = []
        for place in places:
            leaf = leaves[place]
            inputs.append(self._input(leaf))
            if inputs[-1].nulls is not None:
                part.columns(place, inputs[-1].nulls)
            leaves[place] = None
        self._inputs, self._part = inputs, part
        self._count = len(inputs[0].keys)
        for given in inputs:
            if len(given.keys) != self._count:
                raise LazyError.chunks(self._function._name, self._count, len(given.keys))

    def _input(self, leaf: Any) -> _Input:
        nulls = None
        if isinstance(leaf, Columns):
            leaf, nulls = leaf.lazy, leaf.nulls
        if hasattr(leaf, "_meta") and hasattr(leaf, "divisions"):
            return self._frame(leaf, nulls)
        return self._array(leaf)

    def _frame(self, frame: Any, nulls: str | None) -> _Input:
        """A frame or a column: of a frame only those columns that are parameters are read."""
        empty = frame._meta
        is_table = table_of(empty) is not None
        if is_table:
            names = [it for it in self._function._signature.parameters if it in frame.columns]
            frame = frame[names] if names else frame
        self._divisions = self._divisions or frame.divisions
        if frame.npartitions + 1 != len(self._divisions):
            raise LazyError.chunks(
                self._function._name, len(self._divisions) - 1, frame.npartitions
            )
        frame = frame.optimize()
        self._sources.append(frame)
        return _Input(list(frame.__dask_keys__()), empty, nulls, is_table)

    def _array(self, array: Any) -> _Input:
        """An array: cut as the first of them is."""
        import dask.array as da

        if is_array(array):
            if self._rows is None or any(rows != rows for rows in self._rows):
                raise LazyError.local(self._function._name)
            if len(array) != sum(self._rows):
                raise LazyError.rows(self._function._name, sum(self._rows), len(array))
            array = da.from_array(array, chunks=(self._rows, *array.shape[1:]))
        if not array.ndim:
            raise LazyError.number(self._function._name)
        rows = array.chunks[0]
        wanted = tuple((width,) for width in array.shape[1:])
        if self._chunks is None and self._rows is not None:
            self._chunks = self._rows
        unknown = any(it != it for it in (*rows, *(self._chunks or ())))
        if self._chunks is not None and not unknown and rows != self._chunks:
            if sum(rows) != sum(self._chunks):
                raise LazyError.rows(self._function._name, sum(self._chunks), sum(rows))
            rows = self._chunks
        if (rows, *wanted) != array.chunks and not unknown:
            array = array.rechunk((rows, *wanted))
        elif any(len(each) != 1 for each in array.chunks[1:]):
            array = array.rechunk(dict.fromkeys(range(1, array.ndim), -1))
        self._chunks = self._chunks or array.chunks[0]
        self._sources.append(array)
        keys = [(array.name, number, *[0] * (array.ndim - 1)) for number in range(len(rows))]
        return _Input(keys, np.empty((0, *array.shape[1:]), dtype=array.dtype))

    # ---- what comes out --------------------------------------------------------------------------

    def results(self) -> Any:
        """The results, lazily, in the nest that a call without rows has."""
        reduce = self._call.get("reduce")
        if reduce is not None:
            return self._reduced(reduce)
        found = self._without_rows(self._part.filled([given.empty for given in self._inputs]))
        leaves, structure = flatten(found, is_array)
        self._compute()
        return structure.unflatten(
            [self._rowwise(number, leaf) for number, leaf in enumerate(leaves)]
        )

    def _without_rows(self, call: dict[str, Any]) -> Any:
        args, kwargs = by_order_and_name(self._part.name, call)
        return getattr(self._function, self._part.name)(*args, **kwargs)

    def _name(self, what: str = "") -> str:
        return f"{self._label}{what}-{self._token}"

    def _compute(self) -> None:
        """A task for each chunk, and one for the function."""
        shipped = f"{self._label}.function-{self._token}"
        self._tasks[shipped] = identity, Shipped(self._function)
        part = f"{self._label}.call-{self._token}"
        self._tasks[part] = identity, self._part
        for number in range(self._count):
            keys = [given.keys[number] for given in self._inputs]
            self._tasks[(self._name(), number)] = run, part, shipped, keys, number

    def _rowwise(self, number: int, empty: Any, wrap: Any = None) -> Any:
        """A result with something for each row."""
        name = f"{self._label}-{number}-{self._token}"
        ending = (0,) * (empty.ndim - 1) if is_array(empty) else ()
        layer: dict[Any, Any] = {}
        for chunk in range(self._count):
            task: Any = getitem, (self._name(), chunk), number
            key = (name, chunk, *ending)
            layer[key] = task if wrap is None else wrap(task, chunk)
        if not is_array(empty):
            return self._dask_frame(layer, empty)
        rows = self._chunks or (np.nan,) * self._count
        return self._dask_array(name, layer, (rows, *((width,) for width in empty.shape[1:])))

    def _dask_frame(self, layer: dict[Any, Any], empty: Any, divisions: Any = None) -> Any:
        from dask.dataframe import from_graph
        from dask.utils import ensure_dict

        graph = {**self._tasks, **layer}
        for source in self._sources:
            graph.update(ensure_dict(source.__dask_graph__()))
        return from_graph(graph, empty, divisions or self._divisions, list(layer), self._label)

    def _dask_array(self, name: str, layer: dict[Any, Any], chunks: Any) -> Any:
        """The tasks of all results are one layer, those that pick this one another."""
        import dask.array as da
        from dask.highlevelgraph import HighLevelGraph

        if self._graph is None:
            self._graph = HighLevelGraph.from_collections(
                self._name(), self._tasks, dependencies=self._sources
            )
        whole = HighLevelGraph(
            {**self._graph.layers, name: layer},
            {**self._graph.dependencies, name: {self._name()}},
        )
        return da.Array(whole, name, chunks, dtype=np.float64)

    # ---- reductions ------------------------------------------------------------------------------

    def _reduced(self, reduce: str) -> Any:
        """The value and uniform gradients as numbers, the others with something for each row."""
        empty = self._part.filled([given.empty for given in self._inputs])
        alone, self._call["alone"] = empty["alone"], False
        told = self._without_rows(
            {**empty, "alone": False, "reduce": "sum" if reduce == "mean" else reduce}
        )
        given = self._function._unframed(empty["args"], empty["kwargs"])
        plain = {**empty, "args": tuple(given[0]), "kwargs": given[1], "reduce": None}
        rows = flatten(self._without_rows({**plain, "alone": False}), is_array)[0]
        final, structure = flatten(told, is_array)
        added = [
            np.ndim(leaf) < row.ndim and not _is_column(leaf) for leaf, row in zip(final, rows)
        ]
        self._settle()
        self._compute()
        result = self._totals(rows, added, reduce == "mean")
        found = []
        for number, (leaf, row) in enumerate(zip(final, rows)):
            if added[number]:
                found.append(self._number(result, sum(added[:number]), row.shape[1:]))
            else:
                mean = (result, -1) if reduce == "mean" else None
                found.append(self._rowwise(number, leaf, self._wrapped(leaf, mean)))
        pair = structure.unflatten(found)
        return pair[1] if alone else pair

    def _settle(self) -> None:
        """Tasks compute rows; these are added up by others."""
        leaves, structure = flatten({**self._call, "reduce": None}, _is_leaf)
        for place in self._part.places:
            leaves[place] = None
        self._part.structure, self._part.leaves = structure, leaves
        self._part.reduced = True

    def _totals(self, rows: list[Any], added: list[bool], mean: bool) -> str:
        """The task that has all sums; those of chunks are joined in a tree."""
        widths = [row.shape[1:] for row, is_added in zip(rows, added) if is_added]
        places = [number for number, is_added in enumerate(added) if is_added]
        sums = self._name(".sums")
        known = self._chunks is not None and not any(it != it for it in self._chunks)
        starts = np.cumsum([0, *self._chunks]).tolist() if known and self._chunks else None
        level = []
        for chunk in range(self._count):
            task = (self._name(), chunk)
            start: Any = starts[chunk] if starts else (self._name(".start"), chunk)
            if starts is None:
                before = 0 if not chunk else (self._name(".start"), chunk - 1)
                rows_before: Any = 0 if not chunk else (self._name(), chunk - 1)
                self._tasks[start] = start_of, before, rows_before
            self._tasks[(sums, 0, chunk)] = chunk_sums, task, places, start
            level.append((sums, 0, chunk))
        depth = 0
        while len(level) > 1:
            depth += 1
            above = []
            for first in range(0, len(level), _FAN_IN):
                above.append((sums, depth, first // _FAN_IN))
                self._tasks[above[-1]] = joined, level[first : first + _FAN_IN]
            level = above
        result = self._name(".total")
        self._tasks[result] = totals, level[0], widths, mean, self._function._name
        return result

    def _number(self, result: str, place: int, shape: tuple[int, ...]) -> Any:
        name = f"{self._label}-total{place}-{self._token}"
        if self._divisions is not None and not shape:
            return self._dask_frame({(name, 0): (getitem, result, place)}, 1.0, (None, None))
        layer = {(name, *[0] * len(shape)): (getitem, result, place)}
        return self._dask_array(name, layer, tuple((width,) for width in shape))

    def _wrapped(self, leaf: Any, mean: Any) -> Any:
        """How rows of a result become a column like the argument's, and a part of the mean."""
        frames = [given for given in self._inputs if not is_array(given.empty)]
        name = getattr(leaf, "name", None)

        def wrap(task: Any, chunk: int) -> Any:
            frame = frames[0].keys[chunk] if frames and not is_array(leaf) else None
            rows = (getitem, mean[0], mean[1]) if mean else None
            return column, task, frame, name, rows

        return wrap if mean or not is_array(leaf) else None


def _is_column(leaf: Any) -> bool:
    return hasattr(leaf, "index") and hasattr(leaf, "to_numpy")


def _is_leaf(thing: Any) -> bool:
    return is_array(thing) or is_lazy(thing) or isinstance(thing, Columns)


def _lazy_in(leaf: Any) -> bool:
    return is_lazy(leaf) or (isinstance(leaf, Columns) and leaf.lazy is not None)
