"""Arguments of compiled functions: which numbers are rows, which uniform, and where they lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .._shared.operands import is_real_scalar
from .._values.nests import field_names, fixed_fields, made_of, remade
from .._values.sequences import sequence
from ..errors import RowsError
from .machines import DeviceArrays
from .program import ROW, UNIFORM
from .shapes import NUMBER, ONE_A_ROW, Entries, Fields, Items, Rows, Shape, UniformArray

if TYPE_CHECKING:
    from ..frames.answers import Answers

RESERVED_IN_FILES = ("wrt", "reduce", "threads", "dtype", "out", "weights", "vector")
"""Names that no argument in a program file has."""
RESERVED = (*RESERVED_IN_FILES, "sparse")
"""Names that the methods of compiled functions use themselves."""


ON_HOST = 1
"""``kDLCPU``."""


class Uniform:
    """An array that is the same for all rows; made by :func:`uniform`."""

    __slots__ = ("array", "given")

    def __init__(self, array: Any) -> None:
        try:
            given = np.asarray(array)
        except ValueError:  # ragged
            raise RowsError.kind("uniform", array) from None
        if given.dtype.kind not in "biuf" or isinstance(array, np.ma.MaskedArray):
            raise RowsError.kind("uniform", array)
        self.given = given
        self.array = given.astype(np.float64)


class PerRow:
    """An array with one entry a row; made by :func:`rows`."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        try:
            given = np.asarray(array)
        except ValueError:  # ragged
            raise RowsError.ragged(array) from None
        if given.dtype.kind not in "biuf" or isinstance(array, np.ma.MaskedArray):
            raise RowsError.kind("rows", array)
        if given.ndim == 0:
            raise RowsError.no_axis(array)
        self.array = given


def uniform(array: Any) -> Uniform:
    """Mark an array as the same for all rows, not one entry a row.

    >>> import numpy as np
    >>> import retrograde as rg
    >>> @rg.compile
    ... def weighted(x, w):
    ...     return rg.dot(x, w)
    >>> weighted(np.ones((3, 2)), rg.uniform(np.array([1.0, 2.0])))
    array([3., 3., 3.])
    """
    return Uniform(array)


def rows(array: Any) -> PerRow:
    """Mark an array as one entry a row, whatever its axes: the function sees one entry at a time.

    Arrays of one and two axes are rows anyway, unless their parameter is annotated. Of an array
    (rows, …) with more, or of whole numbers, this says that its first axis is rows.

    >>> import numpy as np
    >>> import retrograde as rg
    >>> @rg.compile
    ... def trace(a: rg.Tensor):
    ...     return rg.diag(a @ a).sum()
    >>> trace(np.eye(2)), trace(rg.rows(np.array([np.eye(2), 2.0 * np.eye(2), np.ones((2, 2))])))
    (2.0, array([2., 8., 4.]))
    """
    return PerRow(array)


@dataclass
class Bound:
    """The arguments of one call, taken apart.

    ``key`` is equal for calls that one recording serves. ``kinds`` and ``names`` have an entry a
    number; ``columns`` where the rows of it lie, ``numbers`` the number where it is uniform.
    ``arrays`` are the arrays of rows, each with the first of its numbers; ``whole`` are the ids of
    those that hold integers; ``keep`` what else must stay alive. ``answers`` puts results into the
    kind of the frame that the arguments came in, where they did.
    """

    rows: int | None = None
    row_name: str = ""
    kinds: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    places: list[tuple[str, int]] = field(default_factory=list)
    columns: list[tuple[int, int] | None] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    arrays: list[tuple[int, Any]] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    keep: list[Any] = field(default_factory=list)
    answers: Answers | None = None
    devices: DeviceArrays | None = None
    """What takes arrays of a device, where the function can have such."""

    @property
    def count(self) -> int:
        """How many rows there are; numbers alone are one."""
        return 1 if self.rows is None else self.rows

    @property
    def on_device(self) -> bool:
        """Whether the rows lie on a device."""
        return self.devices is not None and self.devices.met

    def on_host(self, function: str, what: str) -> None:
        """For what looks at rows on the host only."""
        if self.on_device:
            raise RowsError.on_device(function, what)

    def check_place(self, other: Bound) -> None:
        """Whether the rows lie where those of another do."""
        if self.arrays and self.on_device != other.on_device:
            raise RowsError.two_places("vector", other.row_name, self.on_device)

    def seed_columns(self, on_device: bool = False) -> list[tuple[int, int]]:
        """Every number as a column; uniform ones do not advance."""
        uniform = np.array(self.numbers, dtype=np.float64)
        if on_device and self.devices is not None:
            uniform = self.devices.uploaded(uniform)
            start = self.devices.address(uniform)
        else:
            start = uniform.__array_interface__["data"][0]
        self.keep.append(uniform)
        return [
            (start + 8 * i, 0) if column is None else column
            for i, column in enumerate(self.columns)
        ]

    def numbers_of(self, row: int) -> list[float]:
        """The arguments of one row."""
        numbers = list(self.numbers)
        for first, array in self.arrays:
            given = array[row].tolist()
            if array.ndim == 1:
                numbers[first] = given
            else:
                numbers[first : first + len(given)] = given
        return numbers

    def take_rows(self, name: str, rows: int) -> None:
        """Agree on the number of rows."""
        if self.rows is None:
            self.rows, self.row_name = rows, name
        elif self.rows != rows:
            raise RowsError.mismatch(self.row_name, self.rows, name, rows)

    def add(
        self,
        kind: str,
        name: str,
        column: tuple[int, int] | None,
        number: float,
        place: tuple[str, int] = ("", -1),
    ) -> None:
        """One number of the arguments; ``place`` is the array and column it is from."""
        self.kinds.append(kind)
        self.places.append(place)
        self.names.append(name)
        self.columns.append(column)
        self.numbers.append(number)


@dataclass(frozen=True)
class Argument:
    """How an argument is built: which of the numbers are its own, and how they nest."""

    name: str
    shape: Shape
    first: int
    count: int
    build: Callable[[Iterator[Any]], Any]
    differentiable: bool


def take_argument(bound: Bound, nest: Any, name: str) -> Argument:
    """Take one argument apart and say how to build it again around other numbers."""
    first = len(bound.kinds)
    shape, build, differentiable = _visit(bound, nest, name)
    return Argument(name, shape, first, len(bound.kinds) - first, build, differentiable)


Visited = tuple[Shape, Callable[[Iterator[Any]], Any], bool]
"""A shape, how to build it around other numbers, and whether all of it is differentiable."""


def _visit(bound: Bound, nest: Any, name: str) -> Visited:
    if isinstance(nest, PerRow):
        nest = nest.array
    if bound.devices is not None:
        found = bound.devices.taken(nest)
        if found is not None:
            return _visit_device(bound, bound.devices, nest, found, name)
    if isinstance(nest, np.ndarray) and nest.ndim > 0:
        return _visit_rows(bound, nest, name)
    if isinstance(nest, Uniform):
        return _visit_uniform(bound, nest.array, name)
    if is_real_scalar(nest):
        bound.add(UNIFORM, name, None, float(nest))
        return NUMBER, next, True
    if isinstance(nest, dict):
        parts = [_visit(bound, part, f'{name}["{k}"]') for k, part in nest.items()]
        keys, builds = list(nest), [part[1] for part in parts]
        return (
            Entries(tuple(keys), tuple(part[0] for part in parts)),
            lambda source: {k: build(source) for k, build in zip(keys, builds)},
            all(part[2] for part in parts),
        )
    if isinstance(nest, (list, tuple)):
        parts = [_visit(bound, part, f"{name}[{index}]") for index, part in enumerate(nest)]
        builds, make = [part[1] for part in parts], type(nest)
        return (
            Items(make, tuple(part[0] for part in parts)),
            lambda source: remade(make, [build(source) for build in builds]),
            all(part[2] for part in parts),
        )
    names = field_names(nest)
    if names is not None:
        parts = [_visit(bound, getattr(nest, each), f"{name}.{each}") for each in names]
        builds, made, fixed = [part[1] for part in parts], type(nest), fixed_fields(nest)
        return (
            Fields(names, tuple(part[0] for part in parts), made, fixed),
            lambda source: made_of(made, names, [build(source) for build in builds], fixed),
            all(part[2] for part in parts),
        )
    if is_elsewhere(nest):
        raise RowsError.elsewhere(name, nest)
    raise RowsError.kind(name, nest)


def kind_of_device(thing: Any) -> int | None:
    """DLPack's number for where an array lies; None where it lends nothing."""
    device = getattr(thing, "__dlpack_device__", None)
    try:
        return None if device is None else int(device()[0])
    except (BufferError, RuntimeError, TypeError, ValueError):
        return None  # PyTorch's meta tensors lie nowhere


def is_elsewhere(thing: Any) -> bool:
    """Whether a thing is an array that lies on a device."""
    return kind_of_device(thing) not in (None, ON_HOST)


@lru_cache(maxsize=64)
def _names_and_places(name: str, width: int) -> tuple[list[str], list[tuple[str, int]]]:
    """What the columns of an array are called, and the array and column each is from."""
    return [f"{name}[{j}]" for j in range(width)], [(name, j) for j in range(width)]


def _visit_rows(bound: Bound, array: Any, name: str) -> Visited:
    if array.dtype.kind not in "biuf" or hasattr(array, "mask"):  # a mask would be lost
        raise RowsError.kind(name, array)
    if array.ndim > 2:
        raise RowsError.axes(name, array.ndim)
    if bound.devices is not None:
        bound.devices.check(bound, name)
    bound.take_rows(name, array.shape[0])
    differentiable = array.dtype.kind == "f"
    unknown = 1.0 if differentiable else 0.0  # without rows: any number, any index
    if array.dtype != np.float64:
        array = array.astype(np.float64)
    first = len(bound.kinds)
    bound.arrays.append((first, array))
    if not differentiable:
        bound.whole += range(first, first + (1 if array.ndim == 1 else array.shape[1]))
    address = array.__array_interface__["data"][0]
    if array.ndim == 1:
        sample = float(array[0]) if len(array) else unknown
        bound.add(ROW, name, (address, array.strides[0]), sample)
        return ONE_A_ROW, next, differentiable
    samples = array[0].tolist() if len(array) else [unknown] * array.shape[1]
    _add_columns(bound, name, address, array.strides, samples)
    return Rows(len(samples)), _builder((len(samples),)), differentiable


def _add_columns(
    bound: Bound, name: str, address: int, strides: tuple[int, ...], samples: list[float]
) -> None:
    """The columns of an array."""
    width, (down, across) = len(samples), strides
    names, places = _names_and_places(name, width)
    bound.kinds += [ROW] * width
    bound.names += names
    bound.places += places
    bound.columns += [(address + j * across, down) for j in range(width)]
    bound.numbers += samples


def _visit_device(
    bound: Bound, devices: DeviceArrays, given: Any, array: Any, name: str
) -> Visited:
    """An array on a device. Its numbers stay there until one is asked for."""
    if array.dtype.kind not in "biuf":
        raise RowsError.kind(name, given)
    if array.ndim > 2:
        raise RowsError.axes(name, array.ndim)
    if array.ndim == 0:
        bound.add(UNIFORM, name, None, float(array.tolist()))
        return NUMBER, next, True
    devices.note(bound, name, given)
    bound.take_rows(name, array.shape[0])
    differentiable = array.dtype.kind == "f"
    array = devices.doubles(array)
    bound.keep += [given, array]
    first, width = len(bound.kinds), 1 if array.ndim == 1 else array.shape[1]
    bound.arrays.append((first, array))
    if not differentiable:
        bound.whole += range(first, first + width)
    unknown, address = 1.0 if differentiable else 0.0, devices.address(array)
    if array.ndim == 1:
        bound.add(ROW, name, (address, array.strides[0]), unknown)
        return ONE_A_ROW, next, differentiable
    _add_columns(bound, name, address, array.strides, [unknown] * width)
    return Rows(width), _builder((width,)), differentiable


def _visit_uniform(bound: Bound, array: Any, name: str) -> Visited:
    for index in np.ndindex(array.shape):
        place = "".join(f"[{i}]" for i in index)
        bound.add(UNIFORM, name + place, None, float(array[index]))
    return UniformArray(array.shape), _builder(array.shape), True


def _builder(shape: tuple[int, ...]) -> Callable[[Iterator[Any]], Any]:
    """How the numbers of an array become what the function sees of it."""
    count = prod(shape)
    return lambda source: sequence(list(islice(source, count)), shape)
