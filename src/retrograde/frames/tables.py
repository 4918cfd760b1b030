"""What a table is: pandas and polars frames, Arrow tables, dicts of arrays, structured arrays.

A table gives the columns that are asked for as arrays of numbers, and makes tables and columns of
its own kind around results, its index kept. Libraries are looked up among those that are loaded:
whoever passes a frame has its library loaded, and nothing else needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import FrameError, MissingPackageError
from .arrow import STRUCT, Exported, offers_arrow
from .libraries import loaded
from .reading import array_numbers, arrow_numbers, pandas_numbers


class Table:
    """A table, and how others like it are made."""

    flat = True
    """Whether each of its columns holds one number a row, and no more."""

    names: list[Any]

    def indexes(self, names: Sequence[str]) -> list[tuple[str, Any]]:
        """What names the rows, where something does, and of what."""
        return []

    def numbers(self, names: Sequence[str], function: str, nulls: str) -> list[Any]:
        """Some columns as arrays."""
        raise NotImplementedError

    def table(self, columns: dict[str, Any]) -> Any:
        """Results as a table of the same kind."""
        raise NotImplementedError

    def column(self, name: str, numbers: Any) -> Any:
        """One result as a column of the same kind."""
        raise NotImplementedError


class PandasTable(Table):
    """A DataFrame of pandas."""

    def __init__(self, frame: Any) -> None:
        self._frame, self.names = frame, list(frame.columns)
        self._pandas = sys.modules["pandas"]

    def indexes(self, names: Sequence[str]) -> list[tuple[str, Any]]:
        """The frame's, of all columns."""
        return [("the frame", self._frame.index)]

    def numbers(self, names: Sequence[str], function: str, nulls: str) -> list[Any]:
        """One Series each."""
        return [pandas_numbers(self._frame[name], f"{function}: {name}", nulls) for name in names]

    def table(self, columns: dict[str, Any]) -> Any:
        """A DataFrame with the same index."""
        return self._pandas.DataFrame(columns, index=self._frame.index, copy=False)

    def column(self, name: str, numbers: Any) -> Any:
        """A Series with the same index."""
        return self._pandas.Series(numbers, index=self._frame.index, name=name, copy=False)


class ArrowTable(Table):
    """Whatever exports a table through Arrow; polars and pyarrow get their own kind back."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self._exported: Exported | None = None
        names = getattr(table, "column_names", None) or getattr(table, "columns", None)
        library = type(table).__module__.partition(".")[0]
        if library == "polars":
            self.names = list(table.columns)
        elif library == "pyarrow" and hasattr(table, "select"):
            self.names = list(names if isinstance(names, list) else table.schema.names)
        else:
            library = ""
            self._exported = Exported(table)
            self.names = self._exported.names
        self._library = library

    def numbers(self, names: Sequence[str], function: str, nulls: str) -> list[Any]:
        """Those columns only are exported, where the table can select them."""
        exported = self._exported or Exported(self._table.select(list(names)))
        self._exported = None
        places = [exported.names.index(name) for name in names]
        return [
            arrow_numbers(read, f"{function}: {name}", nulls)
            for name, read in zip(names, exported.columns(places))
        ]

    def table(self, columns: dict[str, Any]) -> Any:
        """A frame of polars, a table or record batch of pyarrow; else a dict of arrays."""
        if self._library == "polars":
            return sys.modules["polars"].DataFrame(columns)
        arrow = loaded("pyarrow")
        if arrow is None:
            return columns
        batch = self._library and isinstance(self._table, arrow.RecordBatch)
        return (arrow.record_batch if batch else arrow.table)(columns)

    def column(self, name: str, numbers: Any) -> Any:
        """A Series of polars, an array of pyarrow; else an array."""
        if self._library == "polars":
            return sys.modules["polars"].Series(name, numbers)
        arrow = loaded("pyarrow")
        return numbers if arrow is None else arrow.array(numbers)


class ProtocolTable(ArrowTable):
    """What offers a table through the dataframe protocol alone: pyarrow reads it."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame.__dataframe__()
        self._exported, self._library = None, ""
        self.names = list(self._frame.column_names())

    def numbers(self, names: Sequence[str], function: str, nulls: str) -> list[Any]:
        """Those columns, as an Arrow table."""
        try:
            from pyarrow.interchange import from_dataframe
        except ImportError:
            raise MissingPackageError.of("pyarrow", "A frame without Arrow's interface") from None
        try:
            self._table = from_dataframe(self._frame.select_columns_by_name(list(names)))
        except (NotImplementedError, RuntimeError, TypeError, ValueError) as error:
            raise FrameError.protocol(function, str(error)) from error
        return super().numbers(names, function, nulls)


class DictTable(Table):
    """A dict of arrays; what it holds may be anything that is a column itself."""

    flat = False

    def __init__(self, columns: Mapping[Any, Any]) -> None:
        self._columns, self.names = columns, list(columns)

    def indexes(self, names: Sequence[str]) -> list[tuple[str, Any]]:
        """Those of the entries that are Series."""
        pandas = loaded("pandas")
        if pandas is None:
            return []
        found = [(name, self._columns[name]) for name in names]
        return [(name, each.index) for name, each in found if isinstance(each, pandas.Series)]

    def numbers(self, names: Sequence[str], function: str, nulls: str) -> list[Any]:
        """The entries of those names; numbers stay numbers."""
        from .columns import column_of

        found = []
        for name in names:
            entry = self._columns[name]
            column = column_of(entry)
            place = f"{function}: {name}"
            if column is not None:
                entry = column.numbers(place, nulls)
            elif isinstance(entry, np.ndarray):
                entry = array_numbers(entry, place)
            found.append(entry)
        return found

    def table(self, columns: dict[str, Any]) -> Any:
        """A dict of arrays."""
        return columns

    def column(self, name: str, numbers: Any) -> Any:
        """An array."""
        return numbers


class StructuredTable(Table):
    """A structured array: its fields are the columns."""

    flat = False

    def __init__(self, array: Any) -> None:
        self._array, self.names = array, list(array.dtype.names)

    def numbers(self, names: Sequence[str], function: str, nulls: str) -> list[Any]:
        """The fields, where they lie."""
        return [
            array_numbers(np.asarray(self._array[name]), f"{function}: {name}") for name in names
        ]

    def table(self, columns: dict[str, Any]) -> Any:
        """A structured array of float64."""
        dtype = [(name, np.float64, column.shape[1:]) for name, column in columns.items()]
        made = np.empty(len(self._array), dtype=dtype)
        for name, column in columns.items():
            made[name] = column
        return made.view(type(self._array))

    def column(self, name: str, numbers: Any) -> Any:
        """An array."""
        return numbers


def table_of(thing: Any) -> Table | None:
    """A thing as a table; None where it is none. A dict is one only where that is said."""
    if isinstance(thing, np.ndarray):
        return StructuredTable(thing) if thing.dtype.names and thing.ndim == 1 else None
    pandas = loaded("pandas")
    if pandas is not None and isinstance(thing, pandas.DataFrame):
        return PandasTable(thing)
    if type(thing).__name__ == "LazyFrame":
        raise FrameError.lazy(type(thing).__name__)
    if offers_arrow(thing) and not _is_series(thing, pandas):
        if type(thing).__module__.partition(".")[0] == "polars":
            return ArrowTable(thing) if hasattr(thing, "columns") else None
        if Exported(thing).field.format == STRUCT:
            return ArrowTable(thing)
    elif hasattr(type(thing), "__dataframe__"):
        return ProtocolTable(thing)
    return None


def _is_series(thing: Any, pandas: Any) -> bool:
    return pandas is not None and isinstance(thing, pandas.Series)
