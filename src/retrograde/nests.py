"""Nests: numbers and values inside lists, tuples, dicts and arrays, taken apart and rebuilt.

A place in a nest is named as one would write it: ``x[2]["w"][0]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import ArgumentError
from .operands import is_real_scalar
from .value import Value


@dataclass(frozen=True)
class Nest:
    """A nest taken apart: its items in order, their places, and how to put such a nest together."""

    items: list[Any]
    places: list[str]
    rebuild: Callable[[Iterator[Any]], Any]

    def filled(self, items: Sequence[Any]) -> Any:
        """A nest of the same shape around other items."""
        return self.rebuild(iter(items))


def _quoted(key: Any) -> str:
    return f'"{key}"' if isinstance(key, str) else repr(key)


def take_apart(nest: Any, name: str) -> Nest:
    """The items of a nest; anything in it that is neither number nor value is refused by place."""
    items: list[Any] = []
    places: list[str] = []

    def visit(part: Any, place: str) -> Callable[[Iterator[Any]], Any]:
        if isinstance(part, Value) or is_real_scalar(part):
            items.append(part)
            places.append(place)
            return next
        if isinstance(part, dict):
            keys = list(part)
            builders = [visit(part[key], f"{place}[{_quoted(key)}]") for key in keys]
            return lambda source: {key: build(source) for key, build in zip(keys, builders)}
        if isinstance(part, (list, tuple)):
            builders = [visit(item, f"{place}[{index}]") for index, item in enumerate(part)]
            make = type(part)
            if hasattr(part, "_fields"):  # a named tuple takes its items one by one
                return lambda source: make(*[build(source) for build in builders])
            return lambda source: make([build(source) for build in builders])
        if isinstance(part, np.ndarray) and part.dtype.kind in "biufO":
            builders = [
                visit(part[index], f"{place}[{', '.join(map(str, index))}]")
                for index in np.ndindex(part.shape)
            ]
            return lambda source: as_array([build(source) for build in builders], part.shape)
        raise ArgumentError.item(place, part)

    return Nest(items, places, visit(nest, name))


def as_array(items: list[Any], shape: tuple[int, ...]) -> Any:
    """Items as an array: of floats where all are numbers, else of objects."""
    if all(isinstance(item, float) for item in items):
        return np.array(items, dtype=np.float64).reshape(shape)
    array = np.empty(len(items), dtype=object)
    for index, item in enumerate(items):
        array[index] = item
    if items and isinstance(items[0], np.ndarray) and all(i.dtype == float for i in items):
        return np.stack(items).reshape(shape + items[0].shape)
    return array.reshape(shape)
