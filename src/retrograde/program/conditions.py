"""Comparisons while a function is recorded: conditions, and the guards their truth leaves behind.

A condition is a number, 1 or 0, in the recorded program. ``bool()`` of it (if, while, and, or, not,
max, sorted) decides what Python does next, so it is remembered as a guard. ``rg.where`` and
``& | ^ ~ == !=`` use it as data.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import local
from typing import Any

from .._shared.operands import COMPARISONS, is_array, is_real_scalar, over_arrays
from .._shared.placeholders import Hidden, placeholder
from .._shared.sites import calling_instruction
from .._values import elementwise
from ..errors import OperandError
from ..value import Value, belongs_to_caller, core, core_name


class Decisions:
    """The decisions of one recording; the first are forced to the outcomes of ``path``.

    ``asked`` says by whom, where it ``tells``: the instruction that asked, or the place of a
    branch. ``refuse`` is called first, where not all rows may be concerned, and ``reveal`` where a
    value is looked up by identity (``sides.py``).
    """

    def __init__(self, path: bytes = b"", tells: bool = False) -> None:
        self.path, self.tells = path, tells
        self.taken: list[tuple[Value, bool]] = []
        self.asked: list[Any] = []
        self.refuse: Callable[[], None] | None = None
        self.reveal: Callable[[], None] | None = None

    def decide(self, value: Value, by: Any = None) -> bool:
        """The outcome of a condition, remembered as a guard."""
        number = len(self.taken)
        self.asked.append(by)
        forced = number < len(self.path)
        outcome = bool(self.path[number] if forced else core.peek(value) != 0.0)
        self.taken.append((value, outcome))
        return outcome


class _Recorders(local):
    """The recordings in progress in this thread, innermost last."""

    def __init__(self) -> None:
        self.decisions: list[Decisions] = []


recorders = _Recorders()


def _decide(value: Value) -> bool:
    """The truth of a condition now."""
    if recorders.decisions:
        decisions = recorders.decisions[-1]
        if decisions.refuse is not None:
            decisions.refuse()
        return decisions.decide(value, calling_instruction(2) if decisions.tells else None)
    return bool(core.peek(value) != 0.0)


class Condition:
    """The outcome of a comparison while recording."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    @property
    def recorded_value(self) -> Value:
        """The condition as a number of the program: how ``rg.where`` takes it."""
        return self.value

    def __bool__(self) -> bool:
        return _decide(self.value)

    def __index__(self) -> int:
        return int(_decide(self.value))

    def __hash__(self) -> int:
        return hash(_decide(self.value))

    def __and__(self, other: Any) -> Condition:
        return Condition(self.value * _truth("&", other))

    def __or__(self, other: Any) -> Condition:
        return Condition(elementwise.maximum(self.value, _truth("|", other)))

    def __invert__(self) -> Condition:
        return Condition(1.0 - self.value)

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, (Condition, bool, int, float)):
            return NotImplemented
        number = other.value if isinstance(other, Condition) else float(other)
        return Condition(elementwise.equal(self.value, number))

    def __ne__(self, other: Any) -> Any:
        same = self.__eq__(other)
        return same if same is NotImplemented else ~same

    def __xor__(self, other: Any) -> Condition:
        return Condition(1.0 - elementwise.equal(self.value, _truth("^", other)))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    # In arithmetic it is 1 or 0, as a bool is.

    def __add__(self, other: Any) -> Any:
        return self.value + _operand(other)

    def __sub__(self, other: Any) -> Any:
        return self.value - _operand(other)

    def __rsub__(self, other: Any) -> Any:
        return _operand(other) - self.value

    def __mul__(self, other: Any) -> Any:
        return self.value * _operand(other)

    def __neg__(self) -> Any:
        return 0.0 - self.value  # as with a bool, no negative zero

    __radd__, __rmul__ = __add__, __mul__

    def __repr__(self) -> str:
        if core.hides(self.value):
            return Hidden(f"Condition({placeholder(self.value)})")
        return f"Condition({bool(core.peek(self.value))})"


def _truth(symbol: str, other: Any) -> Any:
    """What a condition is joined with: another, or a plain truth. Of other numbers Python joins the
    bits, and a program has none."""
    if isinstance(other, Condition):
        return other.value
    if is_real_scalar(other) and not isinstance(other, float) and other in (0, 1):
        return float(other)
    raise OperandError.truth(symbol, other)


def _operand(other: Any) -> Any:
    return other.value if isinstance(other, Condition) else other


def compare(left: Value, right: Any, symbol: int) -> Any:
    """``left symbol right`` as a condition, the symbol as CPython numbers them."""
    if not isinstance(right, Value) and not is_real_scalar(right):
        if is_array(right) and not hasattr(right, "computed"):  # a sequence compares by itself
            return over_arrays(COMPARISONS[symbol], (left, right))
        return NotImplemented
    if symbol == 0:
        holds = elementwise.less(left, right)
    elif symbol == 1:
        holds = elementwise.less_equal(left, right)
    elif symbol == 2:
        holds = elementwise.equal(left, right)
    elif symbol == 3:
        holds = 1.0 - elementwise.equal(left, right)
    elif symbol == 4:
        holds = elementwise.less(right, left)
    else:
        holds = elementwise.less_equal(right, left)
    return Condition(holds.detach())


def truth(value: Value) -> bool:
    """``if value``: the guard is that it is not zero."""
    return _decide((1.0 - elementwise.equal(value, 0.0)).detach())


def looked_up(value: Value) -> None:
    """A value is hashed: which object it is decides what comes of it."""
    if recorders.decisions and recorders.decisions[-1].reveal is not None:
        recorders.decisions[-1].reveal()


if core_name == "reference":  # the native core finds them by name
    from .._core.public import take_conditions

    take_conditions(compare, truth)
belongs_to_caller(sys.modules[__name__])
belongs_to_caller(Condition)
