"""Arguments with frames among them as arguments of arrays, and how their results come back.

A table stands alone, and its columns are the arguments of their names. Columns stand where arrays
do, also inside nests.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._values.nests import flatten, is_array
from ..errors import FrameError
from ..errors.wording import kind_of
from .answers import Answers, ColumnAnswers, TableAnswers
from .columns import Column, column_of
from .lazies import is_lazy
from .tables import DictTable, Table, table_of

ERROR, NAN = "error", "nan"


class Columns:
    """A table whose columns are arguments; made by :func:`columns`."""

    __slots__ = ("lazy", "nulls", "table")

    def __init__(self, table: Any, nulls: str) -> None:
        if nulls not in (ERROR, NAN):
            raise FrameError.nulls(nulls)
        self.lazy = table if is_lazy(table) else None
        self.table: Table | None = None
        if self.lazy is None:
            self.table = DictTable(table) if isinstance(table, dict) else table_of(table)
        if self.table is None and self.lazy is None:
            raise FrameError.no_table(kind_of(table))
        self.nulls = nulls


def columns(table: Any, *, nulls: str = ERROR) -> Columns:
    """Say that the columns of a table are the arguments of their names, and what nulls become.

    A frame given alone is taken so anyway. ``nulls="nan"`` computes with NaN where a column is
    null, which is an error otherwise. Of a dict it says that it is a table, not one argument.

    >>> import numpy as np
    >>> import retrograde as rg
    >>> f = rg.compile(lambda x, a=2.0: a * x)
    >>> f(rg.columns({"x": np.array([1.0, 2.0]), "a": np.array([3.0, 5.0])}))
    array([ 3., 10.])
    """
    return Columns(table, nulls)


@dataclass(frozen=True)
class Taken:
    """Arguments without frames, and how results come back."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    answers: Answers | None


def taken(
    function: str,
    signature: inspect.Signature,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    dicts: bool,
    fixed: Sequence[str] = (),
) -> Taken | None:
    """The arguments of a call as arrays; None where there is no frame among them.

    ``dicts``: a dict that stands alone is a table, not an argument that is one. ``fixed`` names
    parameters that have their values already and can be no columns.
    """
    if len(args) == 1:
        table, nulls = _table(args[0], dicts)
        if table is not None:
            clash = [name for name in fixed if name in table.names]
            if clash:
                raise FrameError.fixed(function, clash)
            return _by_names(function, signature, table, nulls, kwargs)
    return _in_place(function, signature, args, kwargs)


def is_frame(thing: Any) -> bool:
    """Whether a thing is a frame, or was said to be one."""
    return isinstance(thing, Columns) or is_lazy(thing) or table_of(thing) is not None


def _table(thing: Any, dicts: bool) -> tuple[Table | None, str]:
    if isinstance(thing, Columns):
        return thing.table, thing.nulls
    if isinstance(thing, dict):
        return (DictTable(thing) if dicts else None), ERROR
    return table_of(thing), ERROR


def _by_names(
    function: str, signature: inspect.Signature, table: Table, nulls: str, given: Mapping[str, Any]
) -> Taken:
    """Every parameter from the column of its name, or as it was given."""
    parameters = signature.parameters
    wanted = [name for name in parameters if name in table.names]
    twice = [name for name in wanted if name in given]
    if twice:
        raise FrameError.twice(function, twice)
    extra = [name for name in table.names if name not in parameters]
    left = [name for name in parameters if name not in table.names and name not in given]
    missing = [name for name in left if parameters[name].default is inspect.Parameter.empty]
    if missing:
        raise FrameError.missing(function, missing, extra)
    if extra and left:
        raise FrameError.extra(function, left, extra)
    if not wanted:
        raise FrameError.nothing(function)
    for name in wanted:
        if table.names.count(name) > 1:
            raise FrameError.repeated(function, name)
    found = _Found(function)
    for place, index in table.indexes(wanted):
        found.check(place, index)
    arrays = dict(zip(wanted, table.numbers(wanted, function, nulls)))
    arrays = {name: it if is_array(it) else found.plain(name, it) for name, it in arrays.items()}
    others = {name: found.plain(name, nest) for name, nest in given.items()}
    return Taken((), {**others, **arrays}, TableAnswers(table, found.named))


def _in_place(
    function: str, signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Taken | None:
    """Columns, wherever they stand, as arrays; results are columns like the first of them."""
    names = [*signature.parameters, *[""] * len(args)]
    found = _Found(function)
    by_order = tuple(found.plain(name, nest) for name, nest in zip(names, args))
    by_name = {name: found.plain(name, nest) for name, nest in kwargs.items()}
    if not found.any:
        return None
    answers = None if found.first is None else ColumnAnswers(found.first, found.rows, found.named)
    return Taken(by_order, by_name, answers)


def as_arrays(function: str, name: str, nest: Any, answers: Answers) -> Any:
    """A nest with arrays in the place of columns, whose rows are named as the arguments' are."""
    found = _Found(function)
    found.named = answers.named
    return found.plain(name, nest)


class _Found:
    """The columns met among arguments."""

    def __init__(self, function: str) -> None:
        self.any, self.rows = False, 0
        self.first: Column | None = None
        self.named: tuple[str, Any] | None = None
        self._function = function

    def check(self, place: str, index: Any) -> None:
        """Refuse rows that are named otherwise than those before."""
        if index is None:
            return
        if self.named is None:
            self.named = place, index
        elif not _same_index(self.named[1], index):
            raise FrameError.index(self.named[0], place)

    def plain(self, name: str, nest: Any) -> Any:
        """An argument with arrays in the place of columns."""
        leaves, structure = flatten(nest, is_array)
        places = structure.places(name) if len(leaves) > 1 else [name]
        made = [self._leaf(place, leaf) for place, leaf in zip(places, leaves)]
        if all(one is leaf for one, leaf in zip(made, leaves)):
            return nest
        return structure.unflatten(made)

    def _leaf(self, place: str, leaf: Any) -> Any:
        column = column_of(leaf)
        if column is None:
            if isinstance(leaf, Columns) or table_of(leaf) is not None:
                raise FrameError.alone(self._function, type(leaf).__name__)
            return leaf
        self.any = True
        array = column.numbers(f"{self._function}: {place}", ERROR)
        if array.ndim == 0:
            return array
        if self.first is None:
            self.first, self.rows = column, len(array)
        self.check(place, column.index)
        return array


def _same_index(one: Any, other: Any) -> bool:
    """Whether rows are named alike."""
    return one is other or len(one) == len(other) == 0 or bool(one.equals(other))
