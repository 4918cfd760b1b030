"""Whether a method of another engine's class does what ours does: both are tried, side by side.

Values and gradients are compared at points that tell rules apart: either side of kinks, at zero,
tiny, large, past the clamps people write. What a method prints or changes in the program counts as
well. Where theirs raises, ours may give an infinity or a NaN: docs/differences.md says so.
"""

from __future__ import annotations

import inspect
import io
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..value import Value, core

_SIZES = (
    1e-300, 1e-20, 3e-13, 1e-10, 4e-9, 1e-7, 2e-6, 1e-4, 0.02, 0.6, 0.75, 1.0, 2.5, 3.0, 5.5, 7.0,
    10.5, 15.5, 20.5, 30.5, 36.0, 50.5, 60.0, 88.9, 100.5, 300.0, 500.5, 705.0, 800.0, 2e4, 3e6,
)  # fmt: skip
_POINTS = (0.0, *_SIZES, *(-size for size in _SIZES))
_PAIRS = (
    (2.0, 3.0), (-1.5, 0.5), (0.25, -2.0), (-3.0, -3.0), (1e-20, 7.0), (2.0, 1e-9), (0.0, 3.0),
    (3.0, 0.0), (0.0, 0.0), (250.0, 700.0), (-3e6, 2e5), (1e-9, 1e-9),
)  # fmt: skip
_WITH_NUMBERS = (
    (2.0, 2), (-1.5, 3), (0.25, 0.5), (-3.0, -1), (1.5, -2.5), (1e-20, 7.0), (0.0, 2), (2.0, 0),
    (2.0, 1), (300.0, 2), (1e-7, -1), (0.0, -1), (-8.0, 0.5), (1e5, 1e-9),
)  # fmt: skip
_FEWEST = 2
"""So many points must have been compared before two rules count as one."""

_TOLERANCE = 1e-9

_ONE_OPERAND = frozenset(("__neg__", "__pos__", "__abs__"))


@dataclass(frozen=True)
class Subject:
    """The class that is tried, and how to look at its objects.

    ``data`` and ``grad`` are what it calls them; ``inputs`` and ``op`` too, where the program looks
    at its graph, and are empty otherwise. ``state`` is a mark of what the program holds: it changes
    when a method does something besides computing. ``strict`` counts an exception as a difference.
    Where backward itself prints it is ``noisy``: what it prints says nothing of a rule.
    """

    kind: Any
    data: str = "data"
    grad: str = "grad"
    inputs: str = ""
    op: str = ""
    state: Callable[[], object] = lambda: None
    strict: bool = False
    noisy: bool = False


OURS = Subject(Value)

Operand = tuple[float, bool]
"""A number, and whether it is made a value."""


def agrees(theirs: Subject, name: str) -> bool:
    """Whether a method both classes have gives the same numbers and gradients in both."""
    if _takes_more(theirs.kind, name):
        return False
    told = []
    for place, trial in enumerate(_trials(name)):
        same = _same(theirs, name, trial, watched=place % 8 < 2)
        if same is False:
            return False
        told.append(same)
    return sum(same is True for same in told) >= _FEWEST


def _takes_more(kind: Any, name: str) -> bool:
    """Whether a method takes arguments that ours cannot be known to take the same way."""
    if name.startswith("__"):
        return False
    try:
        return len(inspect.signature(getattr(kind, name)).parameters) > 1
    except (TypeError, ValueError):
        return True


def _trials(name: str) -> Iterator[tuple[Operand, ...]]:
    """The operands to try a method on."""
    if not name.startswith("__") or name in _ONE_OPERAND:
        yield from (((x, True),) for x in _POINTS)
    else:
        yield from (((x, True), (y, True)) for x, y in _PAIRS)
        yield from (((x, True), (y, False)) for x, y in _WITH_NUMBERS)


def _same(theirs: Subject, name: str, operands: tuple[Operand, ...], watched: bool) -> bool | None:
    """None where theirs cannot do it, or gives no real number."""
    found = _outcome(theirs, name, operands, watched)
    if found is None:
        if not theirs.strict:
            return None
        return None if _outcome(OURS, name, operands, False) is None else False
    looks = Subject(Value, inputs=theirs.inputs and "_children", op=theirs.op and "_op")
    ours = _outcome(looks, name, operands, False)
    if ours is None:
        return False
    return close(found[0], ours[0]) and found[1] == ours[1]


def close(one: list[float], other: list[float]) -> bool:
    """Whether two lists hold the same numbers, up to rounding."""
    return len(one) == len(other) and all(map(_close, one, other))


def _close(one: float, other: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    if math.isinf(one) or math.isinf(other):
        return one == other
    return abs(one - other) <= _TOLERANCE * max(1.0, abs(one), abs(other))


def _outcome(
    subject: Subject, name: str, operands: tuple[Operand, ...], watched: bool
) -> tuple[list[float], object] | None:
    """The result and the gradients of the operands, and what else there was to see.

    None where it cannot be had.
    """
    kind = subject.kind
    try:
        given: list[Any] = [kind(x) if is_value else x for x, is_value in operands]
        before = subject.state() if watched else None
        with Printed() as printed:
            result = getattr(kind, name)(*given)
            if watched and subject.state() != before:
                return [], "it changes the program"
            if not isinstance(result, kind):
                seen = printed.text()
                return [plain_number(result)], seen
            said = printed.text()
            inputs = [x for x in given if isinstance(x, kind)]
            if kind is Value:
                core.backward((result,), (1.0,))  # no pass of the script's: nobody is to see it
            else:
                result.backward()
        numbers = [plain_number(getattr(result, subject.data))]
        numbers += [plain_number(getattr(x, subject.grad)) for x in inputs]
        said = said if subject.noisy else printed.text()
        return numbers, (said, picture(result, subject))
    except Exception:
        return None


def plain_number(thing: Any) -> float:
    """A number of Python's or a NumPy scalar as a float; anything else is none."""
    if isinstance(thing, (bool, int, float)) or getattr(thing, "ndim", None) == 0:
        return float(thing)
    raise TypeError


class Printed:
    """What is printed inside the block."""

    def __enter__(self) -> Printed:
        self._before, self._held = sys.stdout, io.StringIO()
        sys.stdout = self._held
        return self

    def __exit__(self, *raised: object) -> None:
        sys.stdout = self._before

    def text(self) -> str:
        """All of it so far."""
        return self._held.getvalue()


def picture(value: Any, subject: Subject, deep: int = 6) -> str:
    """The graph under a value as a drawing would show it; empty where nobody looks."""
    if not subject.inputs:
        return ""
    below = getattr(value, subject.inputs, None) or ()
    parts = sorted({picture(each, subject, deep - 1) for each in below}) if deep else []
    numbers = (getattr(value, subject.data, 0.0), getattr(value, subject.grad, 0.0))
    told = " ".join(f"{float(number):.9g}" for number in numbers)
    return f"({getattr(value, subject.op, '') if subject.op else ''} {told} {''.join(parts)})"
