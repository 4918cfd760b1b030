"""What the objects of another engine's class keep under names of their own.

``value`` for ``data``, ``adjoint`` for ``grad``, ``parents`` for the inputs, ``local`` for the
partials: found by making two of its objects and their product, and looking what they hold.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from operator import add, mul
from typing import Any, NamedTuple

from ..value import Value

_LEFT, _RIGHT = 2.0, 3.0
_LISTS = (tuple, list, set, frozenset)


class Trial(NamedTuple):
    """Two leaves of the class, what was made of them, and a leaf that no pass has reached."""

    left: Any
    right: Any
    result: Any
    fresh: Any


class Answer(NamedTuple):
    """What answers for an attribute of theirs: one of ours, and the property that reads it."""

    ours: str
    property: property


def renamed(theirs: type, names: Iterable[str]) -> dict[str, Answer]:
    """Those attributes of theirs that hold what ours holds, each with what answers for it.

    >>> class Node:
    ...     def __init__(self, number, parents=()):
    ...         self.number, self.parents = number, parents
    ...     def __mul__(self, other):
    ...         return Node(self.number * other.number, (self, other))
    >>> sorted(renamed(Node, ["number", "parents", "colour"]))
    ['number', 'parents']
    """
    product, total = _trial(theirs, mul), _trial(theirs, add)
    found = {name: _answer(name, product, total) for name in names}
    return {name: answer for name, answer in found.items() if answer is not None}


def differing(theirs: type, names: Iterable[str]) -> list[str]:
    """Those attributes that both have and that read differently: ``op`` is "*" there, "mul" here.

    Only texts and numbers are compared.
    """
    there, here = _trial(theirs, mul), Value(_LEFT) * Value(_RIGHT)
    if there is None:
        return []
    return [
        name
        for name in sorted(names)
        if isinstance(held := getattr(there.result, name, None), (str, int, float))
        and held != getattr(here, name, held)
    ]


def _trial(theirs: type, operator: Callable[[Any, Any], Any]) -> Trial | None:
    """Made without a trace: nothing is printed, and the random numbers go on as before."""
    state = random.getstate()
    try:
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
            left, right = theirs(_LEFT), theirs(_RIGHT)
            result = operator(left, right)
            if hasattr(result, "backward"):
                result.backward()
            return Trial(left, right, result, theirs(_LEFT))
    except Exception:  # whatever a stranger's class may raise
        return None
    finally:
        random.setstate(state)


def _answer(name: str, product: Trial | None, total: Trial | None) -> Answer | None:
    """What answers for an attribute: tried on a product, whose partials tell its inputs apart."""
    if product is not None:
        held = [getattr(thing, name, None) for thing in product]
        if _are(held, _LEFT, _RIGHT, _LEFT * _RIGHT, _LEFT):
            return _number("data")
        if _are(held, _RIGHT, _LEFT, 1.0, 0.0):
            return _number("grad")
        if _are_items(held, (_RIGHT, _LEFT)):
            return _items("_local_grads", type(held[2]), held[3])
    for trial in (product, total):
        if trial is not None:
            held = [getattr(thing, name, None) for thing in trial]
            if _are_inputs(held, trial):
                return _items("_children", type(held[2]), held[3])
    return None


def _are(held: list[Any], *numbers: float) -> bool:
    plain = all(isinstance(it, (int, float)) and not isinstance(it, bool) for it in held)
    return plain and held == list(numbers)


def _are_items(held: list[Any], items: tuple[float, ...]) -> bool:
    return isinstance(held[2], (tuple, list)) and tuple(held[2]) == items and _is_empty(held[3])


def _are_inputs(held: list[Any], trial: Trial) -> bool:
    if not isinstance(held[2], _LISTS) or len(held[2]) != 2 or not _is_empty(held[3]):
        return False
    places = [id(item) for item in held[2]]
    expected = [id(trial.left), id(trial.right)]
    return places == expected or (
        isinstance(held[2], (set, frozenset)) and sorted(places) == sorted(expected)
    )


def _is_empty(held: Any) -> bool:
    return held is None or (isinstance(held, _LISTS) and not held)


def _number(ours: str) -> Answer:
    def read(value: Value) -> Any:
        return getattr(value, ours)

    def write(value: Value, number: Any) -> None:
        setattr(value, ours, number)

    return Answer(ours, property(read, write))


def _items(ours: str, kind: Callable[[Any], Any], empty: Any) -> Answer:
    """The items as a container of the kind theirs has; a leaf's is what theirs had."""

    def read(value: Value) -> Any:
        items = getattr(value, ours)
        return kind(items) if items or empty is not None else None

    return Answer(ours, property(read))
