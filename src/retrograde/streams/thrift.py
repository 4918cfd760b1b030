"""Thrift's compact protocol, as far as the footers of Parquet files need it.

A struct is a dict from field numbers to a kind and a value, so that what a footer says is carried
along whole, whether it is known here or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct as Layout
from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)

Struct = dict[int, tuple[int, Any]]
"""The fields of a struct by their numbers, in their order."""

_DOUBLE = Layout("<d")
_LONG_LIST = 15
"""A list of so many items, or more, has its count behind its head."""


@dataclass
class Items:
    """A list: the kind of its items, and these."""

    kind: int
    items: list[Any]


def read_struct(data: bytes) -> Struct:
    """The struct at the beginning of some bytes."""
    return _Reader(data).struct()


def written(struct: Struct) -> bytes:
    """A struct as bytes."""
    out = bytearray()
    _write_struct(out, struct)
    return bytes(out)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def struct(self) -> Struct:
        fields: Struct = {}
        number = 0
        while True:
            head = self._byte()
            if not head:
                return fields
            step, kind = head >> 4, head & 15
            number = number + step if step else self._signed()
            fields[number] = kind, self._value(kind)

    def _value(self, kind: int, in_list: bool = False) -> Any:
        if kind in (TRUE, FALSE):
            return self._byte() == TRUE if in_list else kind == TRUE
        if kind == BYTE:
            return self._byte()
        if kind in (I16, I32, I64):
            return self._signed()
        if kind == DOUBLE:
            self._at += 8
            return _DOUBLE.unpack_from(self._data, self._at - 8)[0]
        if kind == BINARY:
            size = self._plain()
            self._at += size
            return self._data[self._at - size : self._at]
        if kind in (LIST, SET):
            head = self._byte()
            count = head >> 4 if head >> 4 != _LONG_LIST else self._plain()
            return Items(head & 15, [self._value(head & 15, True) for _ in range(count)])
        assert kind == STRUCT, "footers have no maps"
        return self.struct()

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _plain(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7

    def _signed(self) -> int:
        number = self._plain()
        return (number >> 1) ^ -(number & 1)


def _write_struct(out: bytearray, struct: Struct) -> None:
    before = 0
    for number, (kind, value) in struct.items():
        kind = (TRUE if value else FALSE) if kind in (TRUE, FALSE) else kind
        if 0 < number - before < 16:
            out.append((number - before) << 4 | kind)
        else:
            out.append(kind)
            _write_signed(out, number)
        before = number
        if kind not in (TRUE, FALSE):
            _write_value(out, kind, value)
    out.append(0)


def _write_value(out: bytearray, kind: int, value: Any) -> None:
    if kind in (TRUE, FALSE):
        out.append(TRUE if value else FALSE)
    elif kind == BYTE:
        out.append(value)
    elif kind in (I16, I32, I64):
        _write_signed(out, value)
    elif kind == DOUBLE:
        out += _DOUBLE.pack(value)
    elif kind == BINARY:
        _write_plain(out, len(value))
        out += value
    elif kind in (LIST, SET):
        count = len(value.items)
        out.append(min(count, _LONG_LIST) << 4 | value.kind)
        if count >= _LONG_LIST:
            _write_plain(out, count)
        for item in value.items:
            _write_value(out, value.kind, item)
    else:
        _write_struct(out, value)


def _write_plain(out: bytearray, number: int) -> None:
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


def _write_signed(out: bytearray, number: int) -> None:
    _write_plain(out, number << 1 if number >= 0 else (-number << 1) - 1)
