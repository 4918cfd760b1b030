"""Nests: numbers and values inside lists, tuples, dicts and arrays, taken apart and rebuilt.

Arrays come back as arrays in a result, and as sequences that compute in an argument. A place in a
nest is named as one would write it: ``x[2]["w"][0]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._shared.operands import is_real_scalar
from ..errors import ArgumentError
from ..value import Value
from .sequences import ComputingSequence, sequence

Arrays = Callable[[list[Any], tuple[int, ...]], Any]
"""How an array of a shape is made of its items."""

Rebuild = Callable[[Iterator[Any], Arrays], Any]
"""A nest around items, its arrays made as told."""


@dataclass(frozen=True)
class Nest:
    """A nest taken apart: its items in order, their places, and how to put such a nest together.

    A place is text for people; a path is the keys and indices that lead there.
    """

    items: list[Any]
    places: list[str]
    paths: list[tuple[Any, ...]]
    rebuild: Rebuild

    def filled(self, items: Sequence[Any], arrays: Arrays | None = None) -> Any:
        """A nest of the same shape around other items."""
        return self.rebuild(iter(items), arrays or as_array)

    def argument(self, items: Sequence[Any]) -> Any:
        """The same as a function is given it: arrays are sequences that compute."""
        return self.rebuild(iter(items), sequence)


def _quoted(key: Any) -> str:
    return f'"{key}"' if isinstance(key, str) else repr(key)


def take_apart(
    nest: Any, name: str, refusal: Callable[[str, object], Exception] = ArgumentError.item
) -> Nest:
    """The items of a nest; anything in it that is neither number nor value is refused by place."""
    items: list[Any] = []
    places: list[str] = []
    paths: list[tuple[Any, ...]] = []

    def visit(part: Any, place: str, path: tuple[Any, ...]) -> Rebuild:
        if isinstance(part, Value) or is_real_scalar(part):
            items.append(part)
            places.append(place)
            paths.append(path)
            return _next
        if isinstance(part, dict):
            keys = list(part)
            builders = [visit(part[k], f"{place}[{_quoted(k)}]", (*path, k)) for k in keys]
            return lambda source, arrays: {
                key: build(source, arrays) for key, build in zip(keys, builders)
            }
        if isinstance(part, (list, tuple)):
            builders = [visit(item, f"{place}[{i}]", (*path, i)) for i, item in enumerate(part)]
            make = type(part)
            if hasattr(part, "_fields"):  # a named tuple takes its items one by one
                return lambda source, arrays: make(*[build(source, arrays) for build in builders])
            return lambda source, arrays: make([build(source, arrays) for build in builders])
        if isinstance(part, ComputingSequence) or (
            isinstance(part, np.ndarray) and part.dtype.kind in "biufO"
        ):
            builders = [
                visit(part[index], f"{place}[{', '.join(map(str, index))}]", path + index)
                for index in (
                    np.ndindex(part.shape) if part.size else ()
                )  # it spells out every axis
            ]
            shape, computing = part.shape, isinstance(part, ComputingSequence)

            def rebuilt(source: Iterator[Any], arrays: Arrays) -> Any:
                made = arrays([build(source, arrays) for build in builders], shape)
                return ComputingSequence(made) if computing and _holds_values(made) else made

            return rebuilt
        raise refusal(place, part)

    rebuild = visit(nest, name, ())
    return Nest(items, places, paths, rebuild)


def _next(source: Iterator[Any], arrays: Arrays) -> Any:
    return next(source)


def _holds_values(made: Any) -> bool:
    return (
        isinstance(made, np.ndarray)
        and made.dtype == object
        and any(isinstance(item, Value) for item in made.flat)
    )


def as_array(items: list[Any], shape: tuple[int, ...]) -> Any:
    """Items as an array: of floats where all are numbers, else of objects."""
    if all(isinstance(item, float) for item in items):
        return np.array(items, dtype=np.float64).reshape(shape)
    if items and all(isinstance(item, (np.ndarray, ComputingSequence)) for item in items):
        if len({item.shape for item in items}) == 1:
            return np.stack(items).reshape(shape + items[0].shape)
    array = np.empty(len(items), dtype=object)
    for index, item in enumerate(items):
        array[index] = item
    return array.reshape(shape)
