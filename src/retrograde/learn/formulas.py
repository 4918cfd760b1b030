"""Formulas of the law as plain text, for cards: infix, with no more parentheses than needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..ops import OPS
from ..ops.expr import (
    Absent,
    Both,
    Call,
    Compare,
    Condition,
    Either,
    Expr,
    Num,
    Rules,
    Var,
    Where,
    fold,
)

_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 4}
_WRITTEN = {"+": " + ", "-": " − ", "*": "·", "/": " / ", "**": "^"}
_IN_ORDER = ("-", "/", "**")
"""Signs whose right side is not read on: a - (b - c)."""
_SIGN, _ATOM = 1, 9
_POWERS = {"2": "²"}
_SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}


class _Text(NamedTuple):
    """A formula, and how tightly it holds together."""

    text: str
    binds: int = _ATOM

    def within(self, binds: int) -> str:
        """The text, in parentheses where it holds together less tightly than asked."""
        return f"({self.text})" if self.binds < binds else self.text


_Of = Callable[["Expr | Condition"], _Text]


def formula(it: Expr | Condition) -> str:
    """An expression of the law as text.

    >>> from ..ops import OPS
    >>> formula(OPS["tanh"].shown[0]), formula(OPS["div"].shown[1])
    ('1 − z·z', '−(z / y)')
    """
    return fold(it, _RULES, "text").text


def _is_nan(it: Condition) -> bool:
    """Whether a condition asks for NaN (x ≠ x): true to the law, and no use on a card."""
    return isinstance(it, Compare) and it.symbol == "!=" and it.left == it.right


def _either(it: Either, of: _Of) -> _Text:
    if _is_nan(it.right):
        return of(it.left)
    return _Text(f"{of(it.left).text} or {of(it.right).text}")


def _call(it: Call, of: _Of) -> _Text:
    row, parts = OPS.get(it.name), [of(part) for part in it.args]
    if row is not None and row.symbol in _BINDS:
        height = _BINDS[row.symbol]
        left, right = parts[0].within(height), parts[1].within(height + (row.symbol in _IN_ORDER))
        return _Text(f"{left}{_WRITTEN[row.symbol]}{right}", height)
    if row is not None and row.prefix:
        return _Text(f"−{parts[0].within(3)}", _SIGN)
    if row is not None and row.exponent in _POWERS:
        return _Text(f"{parts[0].within(5)}{_POWERS[row.exponent]}")
    return _Text(f"{it.name}({', '.join(part.text for part in parts)})")


_RULES: Rules[_Text] = {
    Var: lambda it, of: _Text(it.name),
    Absent: lambda it, of: _Text("not given"),
    Num: lambda it, of: _Text(f"{it.value:g}".replace("-", "−")),
    Where: lambda it, of: _Text(
        f"{of(it.then).text} if {of(it.condition).text} else {of(it.otherwise).text}"
    ),
    Compare: lambda it, of: _Text(
        f"{of(it.left).text} {_SIGNS.get(it.symbol, it.symbol)} {of(it.right).text}"
    ),
    Either: _either,
    Both: lambda it, of: _Text(f"{of(it.left).text} and {of(it.right).text}"),
    Call: _call,
}
