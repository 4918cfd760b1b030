"""Formulas of the law as plain text, for cards: infix, with no more parentheses than needed."""

from __future__ import annotations

from ..ops.expr import Absent, Both, Call, Compare, Either, Expr, Num, Var, Where

_INFIX = {"add": (" + ", 1), "sub": (" − ", 1), "mul": ("·", 2), "div": (" / ", 2), "pow": ("^", 4)}
_SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}


def formula(it: object) -> str:
    """An expression of the law as text.

    >>> from ..ops import OPS
    >>> formula(OPS["tanh"].shown[0]), formula(OPS["div"].shown[1])
    ('1 − z·z', '−(z / y)')
    """
    return _text(it, 0)


def _text(it: object, outside: int) -> str:
    if isinstance(it, Var):
        return it.name
    if isinstance(it, Absent):
        return "not given"
    if isinstance(it, Num):
        return f"{it.value:g}".replace("-", "−")
    if isinstance(it, Where):
        return f"{_text(it.then, 0)} if {_text(it.condition, 0)} else {_text(it.otherwise, 0)}"
    if isinstance(it, (Both, Either)):
        if isinstance(it, Either) and _is_nan(it.right):
            return _text(it.left, outside)
        word = " and " if isinstance(it, Both) else " or "
        return word.join(_text(part, 0) for part in (it.left, it.right))
    if isinstance(it, Compare):
        return f"{_text(it.left, 0)} {_SIGNS.get(it.symbol, it.symbol)} {_text(it.right, 0)}"
    if isinstance(it, Call):
        return _call(it, outside)
    return str(it)


def _is_nan(it: object) -> bool:
    """Whether a condition asks for NaN (x ≠ x): true to the law, and no use on a card."""
    return isinstance(it, Compare) and it.symbol == "!=" and it.left == it.right


def _call(it: Call, outside: int) -> str:
    arguments: tuple[Expr, ...] = it.args
    if it.name in _INFIX and len(arguments) == 2:
        sign, height = _INFIX[it.name]
        left = _text(arguments[0], height)
        right = _text(arguments[1], height + (it.name in ("sub", "div", "pow")))
        return f"({left}{sign}{right})" if height < outside else f"{left}{sign}{right}"
    if it.name == "neg":
        inner = f"−{_text(arguments[0], 3)}"
        return f"({inner})" if outside > 1 else inner
    if it.name == "square":
        return f"{_text(arguments[0], 5)}²"
    return f"{it.name}({', '.join(_text(each, 0) for each in arguments)})"
