"""What is done with a batch: rows in, their values and derivatives out."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from .._values.nests import flatten, is_array, leaves
from ..errors import FrameError, MapError, RetrogradeError
from ..frames.binding import ERROR, NAN, Columns
from ..program.rows import Uniform
from ..tensor import in_graph
from .sources import Source

Names = str | Sequence[str]


class Work:
    """A compiled function and what is asked of it; sent to other processes as it is."""

    def __init__(
        self,
        function: Any,
        source: Source,
        wrt: Names | None,
        hessian: Names,
        keep: Names,
        nulls: str,
        threads: int | None,
        arguments: Mapping[str, Any],
    ) -> None:
        if nulls not in (ERROR, NAN):
            raise FrameError.nulls(nulls)
        self.function, self.threads, self._nulls = function, threads, nulls
        self.arguments = dict(arguments)
        self.keep = _tuple(keep)
        self._several = False
        names = source.names
        self.parameters = self._taken(names, source.files[0].path)
        self.wrt = tuple(function._signature.parameters) if wrt is None else _tuple(wrt)
        self.hessian = _tuple(hessian)
        absent = [name for name in self.keep if name not in names]
        if absent:
            raise MapError.missing(source.files[0].path, absent, names, source.files[0].path)
        columns = [*self.parameters, *(it for it in self.keep if it not in self.parameters)]
        self.source = source.chosen(columns, self.parameters)

    def _taken(self, names: Sequence[str], path: str) -> list[str]:
        """The parameters that are columns, by the rules that frames have."""
        function, parameters = self.function._name, self.function._signature.parameters
        unknown = [name for name in self.arguments if name not in parameters]
        if unknown:
            raise MapError.arguments(function, unknown, list(parameters))
        for name, nest in self.arguments.items():
            if any(in_graph(leaf) for leaf in leaves(nest)):
                raise MapError.value(name)
        twice = [name for name in self.arguments if name in names]
        if twice:
            raise MapError.twice(function, path, twice)
        fixed = [name for name in self.function._fixed if name in names]
        if fixed:
            raise MapError.fixed(function, path, fixed)
        taken = [name for name in parameters if name in names]
        left = [name for name in parameters if name not in names and name not in self.arguments]
        missing = [name for name in left if parameters[name].default is inspect.Parameter.empty]
        extra = [name for name in names if name not in parameters and name not in self.keep]
        if missing:
            raise MapError.unfilled(function, path, missing, extra)
        if extra and left:
            raise MapError.defaults(function, path, left, extra)
        if not taken:
            raise MapError.no_columns(function, path)
        return taken

    def about(self) -> dict[str, Any]:
        """What has to be the same for a map to go on where another one broke off."""
        return {
            "files": self.source.identity(),
            "wrt": self.wrt,
            "hessian": self.hessian,
            "keep": self.keep,
            "nulls": self._nulls,
            "arguments": {
                place: text for it in self.arguments.items() for place, text in _told(*it)
            },
        }

    def schema(self) -> Any:
        """The columns of the results, found on one row; that records the function, too."""
        first = next(self.source.batches(1), None)
        if first is None:
            import pyarrow as arrow

            first = arrow.schema(list(self.source.types.items())).empty_table()
        self._check_nulls(first, 0)
        found = self.function(self.rows_of(first), **self.arguments)
        self._several = hasattr(found, "schema")
        return self.results(first, 0).schema

    def results(self, table: Any, row: int) -> Any:
        """The results of a batch that begins at some row, as a table."""
        import pyarrow as arrow

        self._check_nulls(table, row)
        fields, columns = [], []
        for name in self.keep:
            column = table.column(name)
            fields.append(arrow.field(name, column.type))
            columns.append(column)
        try:
            computed = self._computed(table)
        except RetrogradeError as error:
            if row:
                _note(error, MapError.counted_from(*self.source.place(row)))
            raise
        seen: set[str] = set()
        for found in computed:
            for name, column in zip(found.schema.names, found.columns):
                if name in self.keep:
                    raise MapError.taken(name)
                if name in seen:
                    raise FrameError.same_label(name)
                seen.add(name)
                fields.append(arrow.field(name, arrow.float64(), nullable=False))
                columns.append(column)
        return arrow.table(columns, schema=arrow.schema(fields))

    def _computed(self, table: Any) -> list[Any]:
        """Tables of what was asked for."""
        import pyarrow as arrow

        ask = {"threads": self.threads, **self.arguments}
        rows = self.rows_of(table)
        found = []
        if self._several or not self.wrt:
            value = self.function(rows, **ask)
            found.append(value if self._several else arrow.table({"value": value}))
            if self.wrt:
                found.append(self.function.jacobian(self.rows_of(table), wrt=self.wrt, **ask))
        else:
            found.append(self.function.value_and_grad(rows, wrt=self.wrt, **ask))
        if self.hessian:
            found.append(self.function.hessian(self.rows_of(table), wrt=self.hessian, **ask))
        return found

    def rows_of(self, table: Any) -> Columns:
        """The arguments that are columns."""
        return Columns(table.select(self.parameters), self._nulls)

    def _check_nulls(self, table: Any, row: int) -> None:
        """Name the row of the file, not of the batch."""
        from pyarrow import compute

        if self._nulls == NAN:
            return
        for name in self.parameters:
            column = table.column(name)
            if column.null_count:
                first = compute.index(column.is_null(), True).as_py()
                path, at = self.source.place(row + first)
                raise MapError.null(path, name, at)


def _told(name: str, nest: Any) -> Iterator[tuple[str, str]]:
    """The parts of an argument in words that are the same in another process."""
    found, structure = flatten(nest, is_array)
    places = structure.places(name) if len(found) > 1 else [name]
    for place, part in zip(places, found):
        kind: Any = type(part)
        if kind is Uniform:
            part = part.given
        if is_array(part):
            digest = sha256(np.ascontiguousarray(part).data).hexdigest()[:16]
            yield place, f"{part.dtype} {part.shape} {digest}"
        elif kind.__repr__ is object.__repr__ or callable(part):  # that would say where it lies
            yield place, getattr(part, "__qualname__", kind.__qualname__)
        else:
            yield place, repr(part)


def _tuple(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _note(error: Exception, text: str) -> None:
    notes: list[str] = vars(error).setdefault("__notes__", [])  # Python 3.10 does not print them
    notes.append(text)
