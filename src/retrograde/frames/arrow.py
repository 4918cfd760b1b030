"""Columns read through the Arrow PyCapsule interface: whatever offers it, nothing is imported.

The structs are those of Arrow's C data interface. Numbers are read in place; columns that come in
several chunks are put together, and bits become one bool each. What the numbers lie in stays alive
as long as an array looks at it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_FORMATS = {
    "c": np.int8, "C": np.uint8, "s": np.int16, "S": np.uint16, "i": np.int32, "I": np.uint32,
    "l": np.int64, "L": np.uint64, "e": np.float16, "f": np.float32, "g": np.float64,
}  # fmt: skip
"""Arrow's letters for numbers."""
BOOL, NULL, STRUCT = "b", "n", "+s"


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


class _Owned:
    """A struct that was handed to us, let go when nothing looks at it any more."""

    def __init__(self, struct: Any) -> None:
        self.struct = struct

    def __del__(self) -> None:
        if self.struct.release:
            self.struct.release(ctypes.byref(self.struct))


@dataclass(frozen=True)
class Read:
    """A column: its numbers, which of them are null (None: none is), Arrow's letters for it.

    ``numbers`` is None where the column holds something else.
    """

    numbers: Any
    nulls: Any
    format: str


@dataclass(frozen=True)
class _Field:
    """What a schema says: names and kinds."""

    name: str
    format: str
    fields: tuple[_Field, ...]


def offers_arrow(thing: Any) -> bool:
    """Whether a thing can be read here."""
    return hasattr(thing, "__arrow_c_stream__") or hasattr(thing, "__arrow_c_array__")


class Exported:
    """A table or a column as its owner exports it: what it is, then its columns when asked."""

    def __init__(self, thing: Any) -> None:
        self._keep: list[Any] = []
        self._stream: Any = None
        self._arrays: list[tuple[_Array, Any]] = []
        if hasattr(thing, "__arrow_c_array__"):
            schema, array = thing.__arrow_c_array__()
            self.field = _described(_inside(schema, b"arrow_schema", _Schema))
            self._arrays.append((_inside(array, b"arrow_array", _Array), array))
        else:
            capsule = thing.__arrow_c_stream__()
            self._keep.append(capsule)
            self._stream = _inside(capsule, b"arrow_array_stream", _Stream)
            struct = _Schema()
            self._check(self._stream.get_schema(self._address, ctypes.byref(struct)))
            owned = _Owned(struct)
            self.field = _described(owned.struct)

    @property
    def is_table(self) -> bool:
        """Whether it has columns with names."""
        return self.field.format == STRUCT

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [field.name for field in self.field.fields]

    def columns(self, places: Sequence[int]) -> list[Read]:
        """Some columns of a table, by their places."""
        chunks = self._chunks()
        found = []
        for place in places:
            parts = [(array.children[place][0], keep, array) for array, keep in chunks]
            found.append(_joined(self.field.fields[place].format, parts))
        return found

    def column(self) -> Read:
        """The column that it is."""
        parts = [(array, keep, None) for array, keep in self._chunks()]
        return _joined(self.field.format, parts)

    @property
    def _address(self) -> int:
        return ctypes.addressof(self._stream)

    def _chunks(self) -> list[tuple[_Array, Any]]:
        while self._stream is not None:
            struct = _Array()
            self._check(self._stream.get_next(self._address, ctypes.byref(struct)))
            if not struct.release:
                self._stream = None
                break
            owned = _Owned(struct)
            self._arrays.append((owned.struct, owned))
        return self._arrays

    def _check(self, status: int) -> None:
        if status:
            said = self._stream.get_last_error(self._address)
            raise OSError(status, (said or b"the Arrow stream broke off").decode(errors="replace"))


def _inside(capsule: Any, name: bytes, struct: Any) -> Any:
    """The struct in a capsule."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return struct.from_address(pointer(capsule, name))


def _described(schema: Any) -> _Field:
    fields = tuple(_described(schema.children[i][0]) for i in range(schema.n_children))
    kind = "dictionary" if schema.dictionary else schema.format.decode()
    return _Field((schema.name or b"").decode(), kind, fields)


def _joined(kind: str, parts: list[tuple[Any, Any, Any]]) -> Read:
    """The chunks of a column as one."""
    if kind not in _FORMATS and kind not in (BOOL, NULL):
        return Read(None, None, kind)
    read = [_part(kind, *part) for part in parts]
    if len(read) == 1:
        return Read(*read[0], kind)
    if not read:
        return Read(np.empty(0, dtype=_FORMATS.get(kind, bool)), None, kind)
    numbers = np.concatenate([numbers for numbers, _ in read])
    if all(nulls is None for _, nulls in read):
        return Read(numbers, None, kind)
    masks = [np.zeros(len(part), dtype=bool) if gone is None else gone for part, gone in read]
    return Read(numbers, np.concatenate(masks), kind)


def _part(kind: str, array: Any, keep: Any, table: Any) -> tuple[Any, Any]:
    """The numbers of one chunk and which are null; a table's own offset applies to its columns."""
    length = array.length if table is None else table.length
    offset = array.offset + (0 if table is None else table.offset)
    if kind == NULL:
        return np.full(length, np.nan), np.ones(length, dtype=bool)
    gone = None
    if array.null_count and array.buffers[0]:
        valid = _bits(array.buffers[0], offset, length, keep)
        gone = None if valid.all() else ~valid
    if table is not None and table.null_count and table.n_buffers and table.buffers[0]:
        valid = _bits(table.buffers[0], table.offset, length, keep)  # a struct that is null itself
        if not valid.all():
            gone = ~valid if gone is None else gone | ~valid
    if kind == BOOL:
        return _bits(array.buffers[1], offset, length, keep), gone
    dtype = np.dtype(_FORMATS[kind])
    start = array.buffers[1]
    if not length or not start:
        return np.empty(length, dtype=dtype), gone
    return _seen(start + offset * dtype.itemsize, length * dtype.itemsize, keep).view(dtype), gone


def _bits(start: int | None, offset: int, length: int, keep: Any) -> Any:
    """Bits as bools."""
    if not length or not start:
        return np.zeros(length, dtype=bool)
    first, last = offset // 8, (offset + length + 7) // 8
    packed = _seen(start + first, last - first, keep)
    unpacked = np.unpackbits(packed, bitorder="little")
    return unpacked[offset % 8 : offset % 8 + length].astype(bool)


def _seen(start: int, size: int, keep: Any) -> Any:
    """Bytes at an address, read-only; ``keep`` lives as long as the array does."""
    buffer: Any = (ctypes.c_uint8 * size).from_address(start)
    buffer.keep = keep
    array = np.frombuffer(buffer, dtype=np.uint8)
    array.flags.writeable = False
    return array
