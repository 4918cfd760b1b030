"""Single columns as arguments: Series of pandas and polars, Arrow arrays, and arrays of other
libraries through DLPack. Results come back as columns of the same kind.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..errors import FrameError
from .arrow import STRUCT, Exported, offers_arrow
from .libraries import loaded
from .reading import arrow_numbers, pandas_numbers

_CPU = (1, 3)
"""DLPack's numbers for memory that the CPU reads: its own, and pinned."""


class Column:
    """A column, and how others like it are made."""

    index: Any = None
    """What names its rows, where something does."""

    def numbers(self, place: str, nulls: str) -> Any:
        """It as an array."""
        raise NotImplementedError

    def like(self, name: str, numbers: Any) -> Any:
        """A result as a column of the same kind."""
        raise NotImplementedError


class PandasColumn(Column):
    """A Series or an Index of pandas."""

    def __init__(self, series: Any) -> None:
        self._series = series
        self.index = getattr(series, "index", None)

    def numbers(self, place: str, nulls: str) -> Any:
        """Where they lie, if they are NumPy's."""
        return pandas_numbers(self._series, place, nulls)

    def like(self, name: str, numbers: Any) -> Any:
        """A Series with the same index."""
        pandas = sys.modules["pandas"]
        if numbers.ndim > 2:
            return numbers
        if numbers.ndim > 1:
            names = [f"{name}_{place}" for place in range(numbers.shape[1])]
            return pandas.DataFrame(numbers, index=self.index, columns=names, copy=False)
        return pandas.Series(numbers, index=self.index, name=name, copy=False)


class ArrowColumn(Column):
    """Whatever exports a column through Arrow."""

    def __init__(self, column: Any, exported: Exported) -> None:
        self._library = type(column).__module__.partition(".")[0]
        self._exported = exported

    def numbers(self, place: str, nulls: str) -> Any:
        """Where they lie, if they lie in one piece."""
        return arrow_numbers(self._exported.column(), place, nulls)

    def like(self, name: str, numbers: Any) -> Any:
        """A Series of polars, an array of pyarrow; else an array."""
        if numbers.ndim == 1 and self._library == "polars":
            return sys.modules["polars"].Series(name, numbers)
        if numbers.ndim == 1 and self._library == "pyarrow":
            return sys.modules["pyarrow"].array(numbers)
        return numbers


class LentColumn(Column):
    """An array of PyTorch, JAX and others, read through DLPack."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def numbers(self, place: str, nulls: str) -> Any:
        """Where they lie."""
        try:
            kind, number = self._array.__dlpack_device__()
            if kind not in _CPU:
                device = getattr(self._array, "device", f"device {int(kind)}:{number}")
                raise FrameError.elsewhere(place, str(device))
            return np.from_dlpack(self._array)
        except FrameError:
            raise
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise FrameError.lent(place, str(error).partition("\n")[0].rstrip(".")) from None

    def like(self, name: str, numbers: Any) -> Any:
        """An array of the same library, sharing the memory of the result."""
        offers = getattr(self._array, "__array_namespace__", None)
        library = (
            offers() if offers else sys.modules[type(self._array).__module__.partition(".")[0]]
        )
        return library.from_dlpack(numbers)


def column_of(thing: Any) -> Column | None:
    """A thing as a column; None where it is none."""
    if isinstance(thing, (np.ndarray, np.generic, float, int)):
        return None
    pandas = loaded("pandas")
    if pandas is not None and isinstance(thing, (pandas.Series, pandas.Index)):
        return PandasColumn(thing)
    if offers_arrow(thing) and not (pandas is not None and isinstance(thing, pandas.DataFrame)):
        exported = Exported(thing)
        return None if exported.field.format == STRUCT else ArrowColumn(thing, exported)
    if hasattr(thing, "__dlpack__") and hasattr(thing, "__dlpack_device__"):
        return LentColumn(thing)
    return None
