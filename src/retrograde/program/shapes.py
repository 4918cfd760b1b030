"""Shapes of arguments: how the numbers of one lie in its nest, and which of them are rows.

A shape is one of seven frozen types, equal where one recording serves both. In a file lists and
tuples are plain ones: :func:`plain` says what becomes of named tuples and other subclasses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Union

from .program import ROW, UNIFORM, Input


@dataclass(frozen=True, eq=False)
class Number:
    """One number, the same for all rows. There is one such shape, ``NUMBER``: a key of thousands
    of them is hashed at every call."""


@dataclass(frozen=True, eq=False)
class Row:
    """An array of one axis: a number a row. There is one such shape, ``ONE_A_ROW``."""


@dataclass(frozen=True)
class Rows:
    """An array of two axes: ``width`` numbers a row."""

    width: int


@dataclass(frozen=True)
class UniformArray:
    """``rg.uniform`` of an array: the same for all rows."""

    axes: tuple[int, ...]


@dataclass(frozen=True)
class Items:
    """A list or tuple of the type ``make``."""

    make: type
    parts: tuple[Shape, ...]


@dataclass(frozen=True)
class Entries:
    """A dict."""

    keys: tuple[Any, ...]
    parts: tuple[Shape, ...]


@dataclass(frozen=True)
class Fields(Entries):
    """A dataclass of the type ``make``: a dict of its fields, in a file as well."""

    make: type
    fixed: tuple[tuple[str, type, Any], ...] = ()
    """Fields that are no numbers: another recording for each of their values."""


Shape = Union[Number, Row, Rows, UniformArray, Items, Entries]  # noqa: UP007

NUMBER, ONE_A_ROW = Number(), Row()
_NO_AXES = UniformArray(())


def plain(shape: Shape) -> Shape:
    """The shape with lists and tuples only."""
    match shape:
        case Entries(keys, parts):
            return Entries(keys, tuple(map(plain, parts)))
        case Items(make, parts):
            return Items(tuple if issubclass(make, tuple) else list, tuple(map(plain, parts)))
    return shape


def fixed_in(shape: Shape) -> Iterator[str]:
    """The fields of dataclasses in it that are no numbers."""
    match shape:
        case Fields(_, parts, _, fixed):
            yield from (name for name, _, _ in fixed)
            for part in parts:
                yield from fixed_in(part)
        case Items(_, parts) | Entries(_, parts):
            for part in parts:
                yield from fixed_in(part)


def is_one(shape: Shape) -> bool:
    """Whether it is one number a row, without a nest around it."""
    return shape is NUMBER or shape is ONE_A_ROW or shape == _NO_AXES


def numbers_in(shape: Shape) -> int:
    """How many numbers an argument of this shape has; no more work than the shape is long."""
    match shape:
        case Rows(width):
            return width
        case UniformArray(axes):
            return prod(axes)
        case Items(_, parts) | Entries(_, parts):
            return sum(map(numbers_in, parts))
    return 1


def inputs_of(shape: Shape, name: str) -> Iterator[Input]:
    """The inputs of a program that an argument of this shape is."""
    match shape:
        case Number():
            yield Input(UNIFORM, name)
        case Row():
            yield Input(ROW, name)
        case Rows(width):
            for column in range(width):
                yield Input(ROW, f"{name}[{column}]", 0.0, name, column)
        case UniformArray(axes):
            for place in product(*map(range, axes)) if prod(axes) else ():  # no axis is spelt out
                yield Input(UNIFORM, name + "".join(f"[{i}]" for i in place))
        case Fields(keys, parts):
            for key, part in zip(keys, parts):
                yield from inputs_of(part, f"{name}.{key}")
        case Entries(keys, parts):
            for key, part in zip(keys, parts):
                yield from inputs_of(part, f'{name}["{key}"]')
        case Items(_, parts):
            for index, part in enumerate(parts):
                yield from inputs_of(part, f"{name}[{index}]")


def in_words(shape: Shape) -> str:
    """A shape as one would say it."""
    match shape:
        case Number():
            return "a number"
        case Row():
            return "rows"
        case Rows(width):
            return f"rows of {width}"
        case UniformArray(axes):
            return f"rg.uniform of shape {axes}"
        case Entries(keys, parts):
            return "{" + ", ".join(f"{k!r}: {in_words(p)}" for k, p in zip(keys, parts)) + "}"
    said = ", ".join(map(in_words, shape.parts[:4])) + (", …" if len(shape.parts) > 4 else "")
    return f"({said})" if shape.make is tuple else f"[{said}]"
