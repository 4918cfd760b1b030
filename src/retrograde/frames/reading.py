"""One column as an array of numbers: nulls found, and what holds no numbers refused with a cure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import FrameError
from .arrow import NULL, Read

NUMBERS = "biuf"
"""NumPy's letters for numbers."""

_KINDS = {
    "O": "objects", "U": "text", "S": "bytes", "M": "times", "m": "durations", "c": "complex "
    "numbers", "V": "records",
}  # fmt: skip

_CURES = {
    "text": "Turn it into numbers first: astype(float), or a code for each text.",
    "objects": "Turn it into numbers first: pandas.to_numeric(column), which names what is none.",
    "categories": "Pass their codes, or numbers in their place.",
    "times": "Pass a difference to a fixed time as numbers, e.g. in years.",
    "durations": "Pass them as numbers, e.g. in years.",
    "decimals": "Cast them to float64.",
    "lists": "Give each item a column of its own, or pass a dict with a 2-D array.",
    "complex numbers": "Pass real and imaginary parts as two columns.",
}


def arrow_numbers(read: Read, place: str, nulls: str) -> Any:
    """The numbers of a column that was read through Arrow."""
    if read.numbers is None:
        raise refused(place, _arrow_kind(read.format))
    if read.format == NULL and nulls != "nan" and not len(read.numbers):
        return read.numbers
    if read.nulls is None:
        return read.numbers
    if nulls != "nan":
        raise null(place, read.nulls, lambda row: "", "Fill or drop them")
    numbers = read.numbers.astype(np.float64)
    numbers[read.nulls] = np.nan
    return numbers


def pandas_numbers(series: Any, place: str, nulls: str) -> Any:
    """The numbers of a pandas Series or Index; NaN is its null."""
    dtype = series.dtype
    kind = getattr(dtype, "kind", "O")
    if type(dtype).__name__ == "CategoricalDtype":
        raise refused(place, "categories")
    if kind not in NUMBERS:
        raise refused(place, _pandas_kind(dtype, kind))
    if isinstance(dtype, np.dtype):
        numbers = series.to_numpy()
        if nulls != "nan" and kind == "f" and _has_nan(numbers):
            raise null(place, np.isnan(numbers), _labels(series), "Fill or drop them")
        return numbers
    gone = np.asarray(series.isna())
    if not gone.any():
        return np.asarray(series.to_numpy(dtype=np.float64 if kind == "f" else _whole(kind)))
    if nulls != "nan":
        raise null(place, gone, _labels(series), "Fill or drop them")
    return series.to_numpy(dtype=np.float64, na_value=np.nan)


def array_numbers(array: Any, place: str) -> Any:
    """The numbers of an array of NumPy's, as they are."""
    if hasattr(array, "mask"):
        raise refused(place, "masked entries", "Pass array.filled(…), or array.data without mask.")
    if array.dtype.kind not in NUMBERS:
        raise refused(place, _KINDS.get(array.dtype.kind, str(array.dtype)))
    return array


def null(place: str, gone: Any, label: Callable[[int], str], fill: str) -> FrameError:
    """What is said of the first null."""
    row = int(np.argmax(gone))
    return FrameError.null(place, row, label(row), int(np.count_nonzero(gone)), fill)


def refused(place: str, kind: str, cure: str = "") -> FrameError:
    """What is said of a column without numbers."""
    return FrameError.kind(place, kind, cure or _CURES.get(kind, "Cast it to float64 first."))


def _has_nan(numbers: Any) -> bool:
    """Whether a NaN is among them: it is their minimum then, found without further memory."""
    with np.errstate(invalid="ignore"):
        return len(numbers) > 0 and bool(np.isnan(numbers.min()))


def _labels(series: Any) -> Callable[[int], str]:
    index = getattr(series, "index", None)
    if index is None or type(index).__name__ == "RangeIndex":
        return lambda row: ""
    return lambda row: f" (index {index[row]!r})"


def _whole(kind: str) -> Any:
    return {"b": np.bool_, "u": np.uint64}.get(kind, np.int64)


def _pandas_kind(dtype: Any, kind: str) -> str:
    text = str(dtype)
    if "str" in text:
        return "text"
    return "decimals" if "decimal" in text else _KINDS.get(kind, text)


def _arrow_kind(letters: str) -> str:
    if letters == "dictionary":
        return "categories"
    for start, kind in (
        ("u", "text"), ("U", "text"), ("vu", "text"), ("z", "bytes"), ("Z", "bytes"),
        ("vz", "bytes"), ("d:", "decimals"), ("tD", "durations"), ("t", "times"), ("+s", "records"),
        ("+", "lists"),
    ):  # fmt: skip
        if letters.startswith(start):
            return kind
    return "something else"
