"""Keys of NumPy's, ``t[2, ..., mask]``, with their arrays named, as rows of the array law take
them.

Whole numbers in front of whole axes become named arrays too: ``x[i]`` for every i is then one and
the same row on the same shapes, so a loop over i binds it once.
"""

from __future__ import annotations

from typing import Any

from .._shared.numerics import np
from ..errors import RecordingError, TensorIndexError
from ..ops.arrays.places import At
from ..ops.index import Shape
from ..tensor import in_graph
from .indices import Indices

Named = tuple[tuple[object, ...], dict[str, Any]]


def named_key(key: Any, shape: Shape) -> Named:
    """The entries of a key, with the arrays of whole numbers they name.

    >>> named_key((slice(1, None), np.array([2, 0])), (4, 3))
    ((slice(1, None, None), ('n1', (2,))), {'n1': array([2, 0])})
    """
    given = [_entry(entry) for entry in (key if isinstance(key, tuple) else (key,))]
    if leading := _leading(given, len(shape)):
        return _by_number(leading, shape)
    spans = [_span(entry) for entry in given]
    entries: list[object] = []
    wholes: dict[str, Any] = {}
    axis = 0
    for place, (entry, span) in enumerate(zip(given, spans)):
        if entry is Ellipsis:
            axis = len(shape) - sum(spans[place:])
        if isinstance(entry, Indices):
            name = f"n{len(wholes) + 1}"
            wholes[name] = entry.tracked()
            entries.append(At(name, entry.shape))
            axis += span
            continue
        if not isinstance(entry, np.ndarray):
            entries.append(entry)
            axis += span
            continue
        if entry.dtype.kind == "b" and entry.shape != shape[axis : axis + span]:
            raise IndexError(
                f"a mask of shape {entry.shape} does not fit axes of lengths "
                f"{shape[axis : axis + span] or shape[axis:]}"
            )
        for part in np.nonzero(entry) if entry.dtype.kind == "b" else (entry,):
            name = f"n{len(wholes) + 1}"
            wholes[name] = np.asarray(part, dtype=np.intp)
            entries.append(At(name, part.shape))
        axis += span
    return tuple(entries), wholes


def _leading(given: list[Any], axes: int) -> list[int]:
    """The whole numbers in front, where only whole axes follow them."""
    count = next((n for n, entry in enumerate(given) if type(entry) is not int), len(given))
    rest = [entry for entry in given[count:] if entry is not Ellipsis]
    if any(not isinstance(entry, slice) or entry != slice(None) for entry in rest):
        return []
    if len(given) - count > len(rest) + 1 or count + len(rest) > axes:
        return []  # two ellipses, or too many: the law says so
    return given[:count]


def _by_number(numbers: list[int], shape: Shape) -> Named:
    for axis, (number, length) in enumerate(zip(numbers, shape)):
        if not -length <= number < length:
            raise IndexError(f"index {number} is out of bounds for axis {axis} of length {length}")
    wholes = {
        f"n{axis + 1}": np.array(number % length, dtype=np.intp)
        for axis, (number, length) in enumerate(zip(numbers, shape))
    }
    return tuple(At(name, ()) for name in wholes), wholes


def _entry(entry: Any) -> Any:
    """One entry of a key: a whole number, a slice, None, an ellipsis, or an array."""
    if isinstance(entry, (bool, np.bool_)):
        raise IndexError("a single True or False is no index here; use a mask with axes")
    if isinstance(entry, (int, np.integer)):
        return int(entry)
    if entry is None or entry is Ellipsis or isinstance(entry, (slice, Indices)):
        return entry
    if in_graph(entry):
        raise TensorIndexError.kind(entry)
    if hasattr(entry, "recorded_value"):
        raise RecordingError.mask("t[mask]")
    array = np.asarray(entry)
    if array.size == 0 and array.dtype.kind == "f" and isinstance(entry, (list, tuple)):
        array = array.astype(np.intp)
    if array.dtype.kind not in "iub":
        raise TensorIndexError.kind(entry)
    if array.ndim == 0:
        return _entry(array.item())
    return array


def _span(entry: Any) -> int:
    """How many axes an entry stands for; an ellipsis is counted afterwards."""
    if isinstance(entry, np.ndarray) and entry.dtype.kind == "b":
        return entry.ndim
    return int(entry is not None and entry is not Ellipsis)
