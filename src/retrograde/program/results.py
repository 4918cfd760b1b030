"""Results of compiled functions: where they are stored, and the nests they come in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from .._values.nests import Nest, as_array, field_names, fixed_fields, remade, with_fields
from ..errors import CompileError, RowsError
from .blocks import blocks
from .rows import Argument, Bound
from .shapes import Entries, Fields, Items, Row, Rows, Shape, UniformArray, is_one


def gradient_nest(
    shape: Shape, source: Iterator[Any], rows: int | None, reduce: str | None = None
) -> Any:
    """Gradients in the shape of an argument: an array a number, or one number where reduced.

    A sequence of k numbers a row has gradients of shape (rows, k). Items that are nests themselves
    make second derivatives: arrays of them get the row's axis first.
    """
    if is_one(shape):
        return next(source)
    match shape:
        case Rows(width):
            items = [next(source) for _ in range(width)]
            return _stacked(items, rows) if items else np.empty((rows or 0, 0))
        case UniformArray(axes):
            items = [next(source) for _ in range(prod(axes))]
            return _uniform_nest(items, axes, None if reduce else rows)
        case Fields(keys, parts, make, fixed):
            found = [gradient_nest(part, source, rows, reduce) for part in parts]
            return with_fields(make, keys, found, fixed)
        case Entries(keys, parts):
            return {k: gradient_nest(part, source, rows, reduce) for k, part in zip(keys, parts)}
    assert isinstance(shape, Items)
    return remade(shape.make, [gradient_nest(part, source, rows, reduce) for part in shape.parts])


def _uniform_nest(items: list[Any], axes: tuple[int, ...], rows: int | None) -> Any:
    """Gradients of a uniform array: its own axes, behind that of the rows where there are any."""
    if not items:
        return np.empty(axes if rows is None else (rows, *axes))
    stacked = _stacked(items, rows)
    if isinstance(stacked, list):
        return stacked
    at = 0 if rows is None else 1
    return stacked.reshape(stacked.shape[:at] + axes + stacked.shape[at + 1 :])


def along_rows(rows: int | None) -> Callable[[list[Any], tuple[int, ...]], Any]:
    """How results that the function returned in an array are put together: (rows, *shape).

    Gradients of them have their own axes behind those, each in its place where they are a nest.
    """

    def together(items: list[Any], shape: tuple[int, ...]) -> Any:
        if not items:
            return as_array(items, shape)
        first = items[0]
        if isinstance(first, dict):
            return {key: together([item[key] for item in items], shape) for key in first}
        if isinstance(first, (list, tuple)):
            parts = [together(list(part), shape) for part in zip(*items)]
            return remade(type(first), parts)
        names = field_names(first)
        if names is not None:
            columns = [[getattr(item, name) for item in items] for name in names]
            found = [together(part, shape) for part in columns]
            return with_fields(type(first), names, found, fixed_fields(first))
        if rows is not None and first.ndim == 1:
            given = first.base  # where they were written into one array of the caller's
            if given is not None and given.shape == (rows, *shape):
                return given
            return _side_by_side(items).reshape(rows, *shape)
        at = 0 if rows is None else 1
        stacked = np.stack(items, axis=at)
        return stacked.reshape(stacked.shape[:at] + shape + stacked.shape[at + 1 :])

    return together


def _stacked(items: list[Any], rows: int | None) -> Any:
    """Items along one more axis, behind that of the rows; nests stay a list."""
    if isinstance(items[0], (dict, list, tuple)) or field_names(items[0]) is not None:
        return items
    if rows is None:
        return np.stack(items)
    return _side_by_side(items) if items[0].ndim == 1 else np.stack(items, axis=1)


def address_of(array: Any) -> int:
    """Where an array lies, on the host or on a device."""
    found = getattr(array, "__cuda_array_interface__", None)
    if found is None:
        found = array.__array_interface__
    return int(found["data"][0])


def _side_by_side(columns: list[Any]) -> Any:
    """Columns as an array (rows, k); without copying where they lie behind each other already."""
    base, width = columns[0].base, columns[0].nbytes
    if base is not None and width:
        start = address_of(columns[0])
        behind = all(
            column.base is base and address_of(column) == start + place * width
            for place, column in enumerate(columns)
        )
        if behind and base.flags.c_contiguous:
            first = (start - address_of(base)) // 8
            together = base.reshape(-1)[first : first + len(columns) * columns[0].size]
            return together.reshape(len(columns), -1).T
    return np.stack(columns, axis=-1)


def over_rows(shape: Shape, nest: Any, show: Callable[[Any], Any]) -> Any:
    """Reduced gradients in the shape of an argument, those with something for each row shown."""
    match shape:
        case Row() | Rows():
            return show(nest)
        case Fields(keys, parts, make, fixed):
            found = [over_rows(it, getattr(nest, key), show) for key, it in zip(keys, parts)]
            return with_fields(make, keys, found, fixed)
        case Entries(keys, parts):
            return {key: over_rows(part, nest[key], show) for key, part in zip(keys, parts)}
        case Items(make, parts):
            return remade(make, [over_rows(part, it, show) for part, it in zip(parts, nest)])
    return nest


def by_numbers(label: str, shape: Shape, nest: Any) -> Iterator[tuple[str, Any]]:
    """What stands at each number of an argument in :func:`gradient_nest`, where those are nests
    themselves, with the number's place behind the label."""
    match shape:
        case _ if is_one(shape):
            yield label, nest
        case Rows() | UniformArray():
            axes = shape.axes if isinstance(shape, UniformArray) else (shape.width,)
            for place, item in zip(np.ndindex(axes), nest):
                yield "_".join([label, *map(str, place)]), item
        case Fields(keys, parts):
            for key, part in zip(keys, parts):
                yield from by_numbers(f"{label}_{key}", part, getattr(nest, key))
        case Entries(keys, parts):
            for key, part in zip(keys, parts):
                yield from by_numbers(f"{label}_{key}", part, nest[key])
        case Items(_, parts):
            names = getattr(nest, "_fields", range(len(parts)))
            for key, part, item in zip(names, parts, nest):
                yield from by_numbers(f"{label}_{key}", part, item)


def second_nest(
    store: Store, chosen: Sequence[Argument], bare: bool
) -> tuple[Any, Callable[[], Any]]:
    """Second derivatives: the arguments' nest, with the gradient of each first one in its place.

    What is returned: the memory of all columns, and what puts it together once they are filled.
    """
    rows, count = store.bound.rows, sum(argument.count for argument in chosen)
    made = store.fresh(count * count)
    if bare and rows is not None and isinstance(chosen[0].shape, (Rows, UniformArray)):
        axes = chosen[0].shape.axes if isinstance(chosen[0].shape, UniformArray) else (count,)
        return made, lambda: made.T.reshape(rows, *axes, *axes)

    def assembled() -> Any:
        source = iter(store.items())

        def inner() -> Any:
            found = [gradient_nest(argument.shape, source, rows) for argument in chosen]
            return found[0] if bare else tuple(found)

        outer = iter([inner() for _ in range(count)])
        nests = [gradient_nest(argument.shape, outer, rows) for argument in chosen]
        return nests[0] if bare else tuple(nests)

    return made, assembled


def overlaps_itself(array: Any) -> bool:
    """Whether two entries of an array lie, in whole or in part, in the same memory.

    >>> one = np.zeros(3)
    >>> overlaps_itself(one[::-1]), overlaps_itself(np.broadcast_to(one[:1], 3))
    (False, True)
    """
    axes = sorted((abs(s), n) for s, n in zip(array.strides, array.shape) if n > 1)
    reach = array.itemsize  # of everything along the axes so far
    for stride, length in axes:
        if stride < reach:
            break
        reach = stride * (length - 1) + reach
    else:
        return False
    if array.size == 0:
        return False
    offsets = np.zeros(1, dtype=np.int64)  # axes that interlock, or overlap: look at every entry
    for stride, length in axes:
        offsets = (offsets[:, None] + stride * np.arange(length)).ravel()
    return bool((np.diff(np.sort(offsets)) < array.itemsize).any())


class Store:
    """Where the outputs of a call that are kept per row go: into fresh memory, or where told."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.rows = 1 if bound.rows is None else bound.rows
        self.columns: list[Any] = []
        self._given: list[Any] = []

    def fresh(self, count: int) -> Any:
        """The next outputs go into new memory, behind each other."""
        devices = self.bound.devices if self.bound.on_device else None
        made = (devices or blocks).take(count, self.rows)
        self.columns += list(made)
        return made

    def into(self, out: Any, width: int | None, place: str) -> Any:
        """The next outputs go into an array, or its columns; into new memory where it is None."""
        if out is None:
            return self.fresh(1)[0] if width is None else self.fresh(width).T
        shape = (self.rows,) if width is None else (self.rows, width)
        if self.bound.rows is None:
            raise RowsError.out(place, "there are no rows, so the result is a number")
        if self.bound.on_device:
            raise RowsError.out(place, "the rows lie on a device, and so do the results")
        if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape:
            raise RowsError.out(place, f"it must be a float64 array of shape {shape}")
        if not out.flags.writeable:
            raise RowsError.out(place, "it is read-only")
        if overlaps_itself(out):
            raise RowsError.out(
                place, "its entries share memory with each other (np.broadcast_to?)"
            )
        read = [*(array for _, array in self.bound.arrays), *self.bound.keep]
        if any(np.shares_memory(out, array) for array in read):
            raise RowsError.out(place, "it shares memory with an argument")
        if any(np.shares_memory(out, other) for other in self._given):
            raise RowsError.out(place, "it shares memory with another result")
        self._given.append(out)
        self.columns += [out] if width is None else [out[:, j] for j in range(width)]
        return out

    def like(self, shape: Shape, out: Any, place: str) -> Any:
        """The next outputs are gradients with respect to an argument, in its nest."""
        if is_one(shape):
            return self.into(out, None, place)
        match shape:
            case Rows(width):
                return self.into(out, width, place)
            case UniformArray(axes):
                return self._uniform(axes, out, place)
            case Fields(keys, parts, make, fixed):
                if out is not None and type(out) is not make:
                    raise RowsError.out(place, f"it must be a {make.__name__}")
                found = [
                    self.like(part, getattr(out, k, None), f"{place}.{k}")
                    for k, part in zip(keys, parts)
                ]
                return with_fields(make, keys, found, fixed)
            case Entries(keys, parts):
                outs = dict.fromkeys(keys) if out is None else out
                if not isinstance(outs, dict) or list(outs) != list(keys):
                    raise RowsError.out(place, f"it must be a dict with the keys {list(keys)}")
                return {
                    k: self.like(part, outs[k], f'{place}["{k}"]') for k, part in zip(keys, parts)
                }
        assert isinstance(shape, Items)
        return remade(shape.make, self.several(shape.parts, out, place))

    def _uniform(self, shape: tuple[int, ...], out: Any, place: str) -> Any:
        """Per-row gradients of a uniform array: (rows, *shape)."""
        width = int(np.prod(shape))
        if out is None:
            return self.fresh(width).T.reshape(self.rows, *shape)
        if not isinstance(out, np.ndarray) or out.shape != (self.rows, *shape):
            raise RowsError.out(place, f"it must be a float64 array of shape {(self.rows, *shape)}")
        if not out.flags.c_contiguous:
            raise RowsError.out(place, "the entries of a row must lie behind each other")
        self.into(out.reshape(self.rows, width), width, place)
        return out

    def several(self, shapes: Sequence[Shape], out: Any, place: str) -> list[Any]:
        """The next outputs are a sequence of gradients."""
        outs = [None] * len(shapes) if out is None else out
        if not isinstance(outs, (list, tuple)) or len(outs) != len(shapes):
            raise RowsError.out(place, f"it must have {len(shapes)} entries, arrays or None")
        return [
            self.like(shape, part, f"{place}[{number}]")
            for number, (shape, part) in enumerate(zip(shapes, outs))
        ]

    def table(self) -> Any:
        """(address, stride) of every column."""
        places = [(address_of(column), column.strides[0]) for column in self.columns]
        return np.array(places, dtype=np.int64).reshape(-1, 2)

    def items(self) -> list[Any]:
        """The columns; numbers where there are no rows."""
        if self.bound.rows is None:
            return [float(column[0]) for column in self.columns]
        return self.columns


def has_arrays(outputs: Nest) -> bool:
    """Whether a function returns arrays, which are put together of their items."""
    met: list[Any] = []
    outputs.filled(outputs.paths, lambda items, shape: met.append(shape))
    return bool(met)


_COLUMNS = object()
"""In a nest: here stands an array."""


def entries(nest: Any, count: int, function: str, name: str = "out") -> Sequence[Any]:
    """The entries of a tuple or list that goes with several results; None stands for them all."""
    if nest is None:
        return [None] * count
    if not isinstance(nest, (list, tuple)) or len(nest) != count:
        raise CompileError.call(function, f"{name} must be a tuple of {count} entries here")
    return nest


def flat(out: Any, outputs: Nest, function: str) -> list[Any]:
    """The arrays in a nest of results, each found by its path; an array has them as columns."""
    marks = outputs.filled(outputs.paths, lambda items, shape: _COLUMNS)
    if len(outputs.items) == 1 and marks is not _COLUMNS:
        return [out]
    found = []
    for path, place in zip(outputs.paths, outputs.places):
        part, mark = out, marks
        try:
            for depth, key in enumerate(path):
                if part is None:
                    break
                if mark is _COLUMNS:
                    columns = (slice(None), *path[depth:])
                    part = part[columns]
                    break
                part, mark = part[key], mark[key]
        except (LookupError, TypeError):
            where = place.replace("the result", "out", 1)
            raise CompileError.call(
                function, f"out must be a nest like the result: no {where}"
            ) from None
        found.append(part)
    return found
