"""Dask's arrays and frames as arguments: what comes of them stays lazy.

The call is taken apart. Each of its collections is replaced by one chunk in a task, the other
arguments stay as they are, and what a call without rows gives says what the results are. A chunk is
one task where that can be: few tasks are what makes a graph fast.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import partial
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
from .layers import Chunks, each_chunk
from .shipping import Shipped
from .tasks import (
    Part,
    by_order_and_name,
    chunk_sums,
    column,
    identity,
    picked,
    run,
    start_of,
    totals,
)  # fmt: skip

_NOT_LAZY = ("backward", "story", "births")
_FAN_IN = 32
"""Sums that are joined in one task."""
_SOURCES = "sources"
"""Stands for the layers of the arguments."""
_MOST_REPEATED = 1 << 20
"""Bytes of the call in all tasks together; where they are more, it is a task of its own."""


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
    """A collection: its chunks, and what stands for it without rows."""

    chunks: Chunks
    empty: Any
    nulls: str | None = None
    table: bool = False


class _Graph:
    """The tasks of one call."""

    def __init__(self, function: Any, name: str, call: dict[str, Any]) -> None:
        self._function, self._call = function, call
        self._label = f"{function._name.strip('<>')}.{name.strip('_')}"
        self._token = uuid4().hex
        self._layers: dict[str, Any] = {}
        self._needs: dict[str, set[str]] = {}
        self._sources: list[Any] = []
        self._below: Any = None
        self._starts: list[int] | None = None
        self._sums: list[Any] = []
        self._needs_of_sums: set[str] = set()
        self._chunks: tuple[Any, ...] | None = None
        self._divisions: tuple[Any, ...] | None = None
        self._read(name, call)

    # ---- what comes in ---------------------------------------------------------------------------

    def _read(self, name: str, call: dict[str, Any]) -> None:
        leaves, structure = flatten(call, _is_leaf)
        places = [place for place, leaf in enumerate(leaves) if _lazy_in(leaf)]
        part = Part(Shipped(self._function), name, structure, leaves, places)
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
        self._count = inputs[0].chunks.count
        self._ndim = max(given.chunks.ndim for given in inputs)
        for given in inputs:
            if given.chunks.count != self._count:
                raise LazyError.chunks(self._function._name, self._count, given.chunks.count)

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
        chunks = Chunks(frame.__dask_keys__()[0][0], 1, frame.npartitions)
        return _Input(chunks, empty, nulls, is_table)

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
        empty = np.empty((0, *array.shape[1:]), dtype=array.dtype)
        return _Input(Chunks(array.name, array.ndim, len(rows)), empty)

    # ---- what comes out --------------------------------------------------------------------------

    def results(self) -> Any:
        """The results, lazily, in the nest that a call without rows has."""
        reduce = self._call.get("reduce")
        if reduce is not None:
            return self._reduced(reduce)
        found = self._without_rows(self._part.filled([given.empty for given in self._inputs]))
        leaves, structure = flatten(found, is_array)
        self._part.single = len(leaves) == 1 and _ndim(leaves[0]) >= self._ndim
        runs = self._runs(_ndim(leaves[0]) if self._part.single else self._ndim)
        return structure.unflatten(
            [
                self._rowwise(leaf, runs if self._part.single else self._picked(runs, place, leaf))
                for place, leaf in enumerate(leaves)
            ]
        )

    def _without_rows(self, call: dict[str, Any]) -> Any:
        args, kwargs = by_order_and_name(self._part.name, call)
        return getattr(self._function, self._part.name)(*args, **kwargs)

    def _name(self, what: str = "") -> str:
        return f"{self._label}{what}-{self._token}"

    def _runs(self, ndim: int) -> Chunks:
        """The call on each chunk."""
        inputs = [given.chunks for given in self._inputs]
        out = Chunks(self._name(), ndim, self._count)
        needs = {_SOURCES}
        places = [(number, self._starts and self._starts[number]) for number in range(self._count)]
        if self._part.weight * self._count <= _MOST_REPEATED:
            layer = each_chunk(out, partial(run, self._part), inputs, places)
        else:
            sent = self._name(".call")
            self._layers[sent], self._needs[sent] = {sent: (identity, self._part)}, set()
            needs.add(sent)
            layer = {
                out.key(number): (run, sent, place, *[given.key(number) for given in inputs])
                for number, place in enumerate(places)
            }
        self._layers[out.name], self._needs[out.name] = layer, needs
        return out

    def _picked(self, runs: Chunks, place: int, leaf: Any) -> Chunks:
        """One of the results of each chunk."""
        out = Chunks(f"{self._label}-{place}-{self._token}", _ndim(leaf), self._count)
        self._layers[out.name] = each_chunk(out, partial(picked, place), [runs])
        self._needs[out.name] = {runs.name}
        return out

    def _rowwise(self, empty: Any, found: Chunks) -> Any:
        """A result with something for each row."""
        if not is_array(empty):
            return self._dask_frame(found.name, found.keys, empty)
        rows = self._chunks or (np.nan,) * self._count
        return self._dask_array(found.name, (rows, *((width,) for width in empty.shape[1:])))

    def _dask_frame(self, name: str, keys: list[Any], empty: Any, divisions: Any = None) -> Any:
        from dask.dataframe import from_graph
        from dask.utils import ensure_dict

        graph: dict[Any, Any] = {}
        for layer in self._needed(name):
            graph.update(self._layers[layer])
        for source in self._sources:
            graph.update(ensure_dict(source.__dask_graph__()))
        return from_graph(graph, empty, divisions or self._divisions, keys, self._label)

    def _dask_array(self, name: str, chunks: Any) -> Any:
        """Each result has the layers that it needs and no others: what nobody else asks for, Dask
        computes in the same task."""
        import dask.array as da
        from dask.highlevelgraph import HighLevelGraph

        if self._below is None:
            self._below = HighLevelGraph.from_collections(_SOURCES, {}, dependencies=self._sources)
        layers, needs = dict(self._below.layers), dict(self._below.dependencies)
        del layers[_SOURCES]
        sources = needs.pop(_SOURCES)
        for layer in self._needed(name):
            own = self._needs[layer]
            layers[layer] = self._layers[layer]
            needs[layer] = own - {_SOURCES} | sources if _SOURCES in own else own
        return da.Array(HighLevelGraph(layers, needs), name, chunks, dtype=np.float64)

    def _needed(self, name: str) -> set[str]:
        """Our layers that a layer needs, itself among them."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            layer = waiting.pop()
            if layer in self._layers and layer not in found:
                found.add(layer)
                waiting += self._needs[layer]
        return found

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
            place
            for place, (leaf, row) in enumerate(zip(final, rows))
            if np.ndim(leaf) < row.ndim and not _is_column(leaf)
        ]
        runs = self._settled(added, len(final))
        self._sum_up(runs, added)
        widths = [rows[place].shape[1:] for place in added]
        count = self._total(widths, -1, True) if reduce == "mean" else None
        found, kept = [], 1 if self._starts else 0
        for place, leaf in enumerate(final):
            if place in added:
                found.append(self._number(widths, added.index(place), reduce == "mean"))
                kept -= 1 if self._starts else 0
            elif count is not None or not is_array(leaf):
                found.append(self._rowwise(leaf, self._column(runs, place + kept, leaf, count)))
            else:
                found.append(self._rowwise(leaf, self._picked(runs, place + kept, leaf)))
        pair = structure.unflatten(found)
        return pair[1] if alone else pair

    def _settled(self, added: list[int], results: int) -> Chunks:
        """Tasks compute rows, and add some of them up where it is known which rows these are."""
        leaves, structure = flatten({**self._call, "reduce": None}, _is_leaf)
        for place in self._part.places:
            leaves[place] = None
        self._part.structure, self._part.leaves, self._part.reduced = structure, leaves, True
        if self._chunks is not None and not any(it != it for it in self._chunks):
            self._starts = np.cumsum([0, *self._chunks]).tolist()
            self._part.added, self._part.single = added, len(added) == results
        return self._runs(self._ndim)

    def _sum_up(self, runs: Chunks, added: list[int]) -> None:
        """The sums of chunks, joined by some at a time until few are left."""
        name, needs = self._name(".joined"), {runs.name}
        layer: dict[Any, Any] = {}
        level = runs.keys
        if self._starts is None:
            for chunk, results in enumerate(runs.keys):
                before = ((name, "start", chunk - 1), level[chunk - 1]) if chunk else (0, None)
                layer[name, "start", chunk] = start_of, *before
                layer[name, 0, chunk] = chunk_sums, results, added, (name, "start", chunk)
            level = [(name, 0, chunk) for chunk in range(self._count)]
        elif not self._part.single:
            own = Chunks(self._name(".sums"), self._ndim, self._count)
            self._layers[own.name] = each_chunk(own, partial(picked, 0), [runs])
            self._needs[own.name], needs, level = {runs.name}, {own.name}, own.keys
        depth = 0
        while len(level) > _FAN_IN:
            depth += 1
            parts = [level[first : first + _FAN_IN] for first in range(0, len(level), _FAN_IN)]
            level = [(name, depth, place) for place in range(len(parts))]
            layer.update({key: (joined, part) for key, part in zip(level, parts)})
        if layer:
            self._layers[name], self._needs[name], needs = layer, needs, {name}
        self._sums, self._needs_of_sums = level, needs

    def _total(self, widths: list[tuple[int, ...]], place: int, mean: bool, ndim: int = 1) -> Any:
        """The key of one of the totals; of how many rows there are for -1."""
        name = f"{self._label}-total{place % (len(widths) + 1)}-{self._token}"
        key = (name, *[0] * ndim)
        task = totals, self._sums, widths, mean, self._function._name, place
        self._layers[name], self._needs[name] = {key: task}, self._needs_of_sums
        return key

    def _number(self, widths: list[tuple[int, ...]], place: int, mean: bool) -> Any:
        shape = widths[place]
        if self._divisions is not None and not shape:
            key = self._total(widths, place, mean)
            return self._dask_frame(key[0], [key], 1.0, (None, None))
        key = self._total(widths, place, mean, len(shape))
        return self._dask_array(key[0], tuple((width,) for width in shape))

    def _column(self, runs: Chunks, place: int, leaf: Any, count: Any) -> Chunks:
        """Rows of a result as a column like the argument's, and as a part of the mean."""
        frames = [given.chunks for given in self._inputs if not is_array(given.empty)]
        name = getattr(leaf, "name", None)
        out = Chunks(f"{self._label}-{place}-{self._token}", _ndim(leaf), self._count)
        self._layers[out.name] = {
            out.key(chunk): (
                column,
                (getitem, runs.key(chunk), place),
                frames[0].key(chunk) if frames and not is_array(leaf) else None,
                name,
                count,
            )
            for chunk in range(self._count)
        }
        self._needs[out.name] = {_SOURCES, runs.name, *(count or ())[:1]}
        return out


def _ndim(leaf: Any) -> int:
    """How many axes the keys of a result have."""
    return leaf.ndim if is_array(leaf) else 1


def _is_column(leaf: Any) -> bool:
    return hasattr(leaf, "index") and hasattr(leaf, "to_numpy")


def _is_leaf(thing: Any) -> bool:
    return is_array(thing) or is_lazy(thing) or isinstance(thing, Columns)


def _lazy_in(leaf: Any) -> bool:
    return is_lazy(leaf) or (isinstance(leaf, Columns) and leaf.lazy is not None)
