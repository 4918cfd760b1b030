"""What the objects of another engine's class keep under names of their own.

``value`` for ``data``, ``adjoint`` for ``grad``, ``parents`` for the inputs, ``local`` for the
partials: found by making two of its objects and their product, and looking what they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import add, mul
from typing import Any, NamedTuple

from ..value import Value
from ._agreement import Printed

_LEFT, _RIGHT = 2.0, 3.0
_LISTS = (tuple, list, set, frozenset)
_KINDS = {kind.__name__: kind for kind in _LISTS}
_OURS: dict[str, Any] = {  # read past whatever the script calls by these names
    "data": vars(Value)["data"],
    "grad": vars(Value)["grad"],
    "_children": vars(Value)["inputs"],
    "_local_grads": vars(Value)["partials"],
    "_op": vars(Value)["_op"],
}
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {"*": mul, "+": add}


@dataclass(frozen=True)
class Trial:
    """Two leaves of the class, what was made of them, and a leaf that no pass has reached."""

    left: Any
    right: Any
    result: Any
    fresh: Any
    printed: str

    @property
    def values(self) -> tuple[Any, Any, Any, Any]:
        """All four."""
        return self.left, self.right, self.result, self.fresh


class Answer(NamedTuple):
    """What answers for an attribute of theirs: one of ours, and the kind of container it is in."""

    ours: str
    kind: str = ""
    empty: Any = None


def answers_of(
    names: Iterable[str], product: Trial | None, total: Trial | None
) -> dict[str, Answer]:
    """Those attributes of theirs that hold what ours holds, each with what answers for it.

    >>> class Node:
    ...     def __init__(self, number, parents=()):
    ...         self.number, self.parents = number, parents
    ...     def __mul__(self, other):
    ...         return Node(self.number * other.number, (self, other))
    >>> sorted(answers_of(["number", "parents", "colour"], tried(Node, "*"), None))
    ['number', 'parents']
    """
    found = {name: _answer(name, product, total) for name in names}
    return {name: answer for name, answer in found.items() if answer is not None}


def tried(theirs: type, symbol: str) -> Trial | None:
    """Two objects of a class and what an operator makes of them; without one, only objects."""
    try:
        with Printed() as printed:
            left, right = theirs(_LEFT), theirs(_RIGHT)
            if not symbol:
                return Trial(left, right, left, right, printed.text())
            result = _OPERATORS[symbol](left, right)
            if hasattr(result, "backward"):
                result.backward()
            return Trial(left, right, result, theirs(_LEFT), printed.text())
    except Exception:  # whatever a stranger's class may raise
        return None


def _answer(name: str, product: Trial | None, total: Trial | None) -> Answer | None:
    """What answers for an attribute: tried on a product, whose partials tell its inputs apart."""
    if product is not None:
        held = [getattr(thing, name, None) for thing in product.values]
        if _are(held, _LEFT, _RIGHT, _LEFT * _RIGHT, _LEFT):
            return Answer("data")
        if _are(held, _RIGHT, _LEFT, 1.0, 0.0):
            return Answer("grad")
        if _are_items(held, (_RIGHT, _LEFT)):
            return Answer("_local_grads", type(held[2]).__name__, held[3])
    elif total is not None:
        held = [getattr(thing, name, None) for thing in total.values]
        if _are_items(held, (1.0, 1.0)):
            return Answer("_local_grads", type(held[2]).__name__, held[3])
    for trial in (product, total):
        if trial is not None:
            held = [getattr(thing, name, None) for thing in trial.values]
            if _are_inputs(held, trial):
                return Answer("_children", type(held[2]).__name__, held[3])
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


def property_of(answer: Answer) -> property:
    """The property that reads, and for numbers writes, what answers for an attribute."""
    ours, kind, empty = answer
    held = _OURS[ours]
    if ours == "_op":
        return property(held.__get__)
    if kind:
        container = _KINDS[kind]

        def items(value: Value) -> Any:
            found = held.__get__(value)
            return container(found) if found or empty is not None else None

        return property(items)
    return property(held.__get__, held.__set__)
