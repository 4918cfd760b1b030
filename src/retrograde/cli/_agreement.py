"""Whether a method of another engine's class does what ours does: both are tried, side by side.

Values and gradients are compared at points that tell rules apart (either side of kinks, very small,
very large). Where theirs raises, ours may give an infinity or a NaN: docs/differences.md says so.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

from ..value import Value, core

_POINTS = (-800.0, -2.5, -0.75, 0.0, 1e-20, 0.6, 1.0, 3.0, 60.0)
_PAIRS = ((2.0, 3.0), (-1.5, 0.5), (0.25, -2.0), (-3.0, -3.0), (1e-20, 7.0))
_WITH_NUMBERS = ((2.0, 2), (-1.5, 3), (0.25, 0.5), (-3.0, -1), (1.5, -2.5), (1e-20, 7.0))
_FEWEST = 2
"""So many points must have been compared before two rules count as one."""

_TOLERANCE = 1e-9

_ONE_OPERAND = frozenset(("__neg__", "__pos__", "__abs__"))


def agrees(theirs: type, name: str, data: str = "data", grad: str = "grad") -> bool:
    """Whether a method both classes have gives the same numbers and gradients in both.

    ``data`` and ``grad`` are what theirs calls them.
    """
    state = random.getstate()
    try:
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
            trials = _trials(name)
            compared = [_same(theirs, name, trial, (data, grad)) for trial in trials]
    finally:
        random.setstate(state)
    told = [same for same in compared if same is not None]
    return len(told) >= _FEWEST and all(told)


Operand = tuple[float, bool]
"""A number, and whether it is made a value."""


def _trials(name: str) -> Iterator[tuple[Operand, ...]]:
    """The operands to try a method on."""
    if not name.startswith("__") or name in _ONE_OPERAND:
        yield from (((x, True),) for x in _POINTS)
    if name.startswith("__") and name not in _ONE_OPERAND:
        yield from (((x, True), (y, True)) for x, y in _PAIRS)
        yield from (((x, True), (y, False)) for x, y in _WITH_NUMBERS)


def _same(
    theirs: type, name: str, operands: tuple[Operand, ...], called: tuple[str, str]
) -> bool | None:
    """None where theirs cannot do it, or gives no real number."""
    found = _numbers(theirs, name, operands, called)
    if found is None:
        return None
    ours = _numbers(Value, name, operands, ("data", "grad"))
    return ours is not None and len(ours) == len(found) and all(map(_close, found, ours))


def _close(one: float, other: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    if math.isinf(one) or math.isinf(other):
        return one == other
    return abs(one - other) <= _TOLERANCE * max(1.0, abs(one), abs(other))


def _numbers(
    kind: Any, name: str, operands: tuple[Operand, ...], called: tuple[str, str]
) -> list[float] | None:
    """The result and the gradients of the operands; None where it cannot be had."""
    try:
        given: list[Any] = [kind(x) if is_value else x for x, is_value in operands]
        result = getattr(kind, name)(*given)
        if not isinstance(result, kind):
            return [float(result)] if isinstance(result, (bool, int, float)) else None
        inputs = [x for x in given if isinstance(x, kind)]
        if kind is Value:  # no pass of the script's: nobody is to see it
            grads = core.gradients((result,), (1.0,), tuple(inputs), 0)
            return None if grads is None else [result.data, *(grad or 0.0 for grad in grads)]
        result.backward()
        data, grad = called
        held = getattr(result, data), *(getattr(x, grad) for x in inputs)
        return [float(number) for number in held]
    except Exception:
        return None
