"""Shapes of arguments as plain data: what a key of a recording says, without Python types.

A key is ``"u"`` for a number, ``"r"`` for one number a row, ``("r", k)`` for k numbers a row,
``("U", shape)`` for a uniform array, ``(list, parts)``, ``(tuple, parts)`` or ``("d", keys,
parts)``. Named tuples and other subclasses become tuples and lists here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

from .program import ROW, UNIFORM, Input


def plain(key: Any) -> Any:
    """The key with lists and tuples only."""
    head = key[0]
    if head in ("u", "r", "U"):
        return key
    if head == "d":
        return ("d", key[1], tuple(plain(part) for part in key[2]))
    return (tuple if issubclass(head, tuple) else list, tuple(plain(part) for part in key[1]))


def numbers_in(key: Any) -> int:
    """How many numbers an argument of this shape has; no more work than the key is long."""
    if key in ("u", "r"):
        return 1
    if key[0] == "r":
        return int(key[1])
    if key[0] == "U":
        return prod(key[1])
    return sum(numbers_in(part) for part in key[-1])


def inputs_of(key: Any, name: str) -> Iterator[Input]:
    """The inputs of a program that an argument of this shape is."""
    if key == "u":
        yield Input(UNIFORM, name)
    elif key == "r":
        yield Input(ROW, name)
    elif key[0] == "r":
        for column in range(key[1]):
            yield Input(ROW, f"{name}[{column}]", 0.0, name, column)
    elif key[0] == "U":
        for place in product(*map(range, key[1])) if prod(key[1]) else ():  # no axis is spelt out
            yield Input(UNIFORM, name + "".join(f"[{i}]" for i in place))
    elif key[0] == "d":
        for k, part in zip(key[1], key[2]):
            yield from inputs_of(part, f'{name}["{k}"]')
    else:
        for index, part in enumerate(key[1]):
            yield from inputs_of(part, f"{name}[{index}]")


def in_words(key: Any) -> str:
    """A shape as one would say it."""
    if key == "u":
        return "a number"
    if key == "r":
        return "rows"
    if key[0] == "r":
        return f"rows of {key[1]}"
    if key[0] == "U":
        return f"rg.uniform of shape {key[1]}"
    if key[0] == "d":
        return "{" + ", ".join(f"{k!r}: {in_words(p)}" for k, p in zip(key[1], key[2])) + "}"
    parts = ", ".join(in_words(part) for part in key[1][:4]) + (", …" if len(key[1]) > 4 else "")
    return f"({parts})" if key[0] is tuple else f"[{parts}]"
