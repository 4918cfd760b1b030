"""Print rows as LaTeX: fractions, roots and cases, with no more parentheses than reading needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NamedTuple, TypeGuard

from ..expr import (
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
from ..op import Op
from ..special import ROUTINES

NAMES = {
    "acos": r"\arccos",
    "acosh": r"\operatorname{arcosh}",
    "asin": r"\arcsin",
    "asinh": r"\operatorname{arsinh}",
    "atan": r"\arctan",
    "atanh": r"\operatorname{artanh}",
    "cos": r"\cos",
    "cosh": r"\cosh",
    "log": r"\ln",
    "log10": r"\log_{10}",
    "log2": r"\log_2",
    "sin": r"\sin",
    "sinh": r"\sinh",
    "tan": r"\tan",
    "tanh": r"\tanh",
}
"""Functions written without parentheses around a plain variable."""

FENCES = {
    "abs": (r"\lvert ", r" \rvert"),
    "floor": (r"\lfloor ", r" \rfloor"),
    "sqrt": (r"\sqrt{", "}"),
}
SYMBOLS = {"<=": r"\le", "<": "<", ">=": r"\ge", ">": ">", "==": "=", "!=": r"\ne"}


class Binds(IntEnum):
    """How tightly a printed formula holds together, loosest first."""

    CASES = 0
    SUM = 1
    MINUS = 2
    PRODUCT = 3
    WORD = 4  # ln x: needs parentheses only where a factor follows
    POWER = 5
    ATOM = 6


class Tex(NamedTuple):
    """A printed formula, and how tightly it binds."""

    text: str
    binds: Binds


Of = Callable[["Expr | Condition"], Tex]
"""What became of the nodes under one."""


def latex(node: Expr | Condition) -> str:
    r"""An expression or condition as LaTeX, to stand between dollar signs.

    >>> from retrograde.ops import OPS
    >>> latex(OPS["tanh"].shown[0])
    '1 - z^2'
    >>> latex(OPS["div"].partials[1])
    '-\\frac{z}{y}'
    >>> print(latex(OPS["relu"].value))
    \begin{cases} 0 & x \le 0 \\ x & \text{otherwise} \end{cases}
    """
    return fold(node, _RULES, "LaTeX").text


def value(op: Op) -> str:
    r"""A row's value as an equation.

    >>> from retrograde.ops import OPS
    >>> value(OPS["mul"])
    'z = x\\,y'
    """
    return f"z = {latex(op.value)}"


def partials(op: Op) -> tuple[str, ...]:
    r"""A row's partials as equations, one an input, as a person writes them.

    >>> from retrograde.ops import OPS
    >>> partials(OPS["sub"])
    ('\\frac{\\partial z}{\\partial x} = 1', '\\frac{\\partial z}{\\partial y} = -1')
    """
    return tuple(
        rf"\frac{{\partial z}}{{\partial {_name(name)}}} = {latex(partial)}"
        for name, partial in zip(op.inputs, op.shown)
    )


def number(x: float) -> str:
    r"""A plain number.

    >>> number(2.0), number(-0.5), number(float("-inf")), number(float("nan"))
    ('2', '-0.5', '-\\infty', '\\text{NaN}')
    """
    if x != x:
        return r"\text{NaN}"
    if x in (float("inf"), float("-inf")):
        return r"\infty" if x > 0 else r"-\infty"
    return str(int(x)) if x == int(x) and abs(x) < 1e16 else repr(x)


def _name(name: str) -> str:
    """A variable: one letter as it is, a word upright."""
    escaped = name.replace("_", r"\_")
    return name if len(name) == 1 else rf"\mathrm{{{escaped}}}"


def _number(node: Num) -> Tex:
    text = node.latex or number(node.value)
    return Tex(text, Binds.MINUS if text.startswith("-") else Binds.ATOM)


def _fenced(text: str) -> str:
    tall = any(mark in text for mark in (r"\frac", r"\begin"))
    return rf"\left({text}\right)" if tall else f"({text})"


def _at_least(tex: Tex, binds: Binds) -> str:
    """The text, in parentheses where it holds together less tightly than asked."""
    return tex.text if tex.binds >= binds else _fenced(tex.text)


def _call(node: Call, of: Of) -> Tex:
    name, args = node.name, [of(arg) for arg in node.args]
    if name in WRITTEN:
        return WRITTEN[name](node, of)
    if name in FENCES:
        opening, closing = FENCES[name]
        return Tex(f"{opening}{args[0].text}{closing}", Binds.ATOM)
    if name in NAMES and isinstance(node.args[0], Var):
        return Tex(f"{NAMES[name]} {args[0].text}", Binds.WORD)
    if name in ROUTINES:
        return _pattern(ROUTINES[name].latex, [arg.text for arg in args])
    from ..scalar import OPS

    if name in OPS and OPS[name].latex:
        if "#" in OPS[name].latex:
            return _pattern(OPS[name].latex, [_at_least(arg, Binds.ATOM) for arg in args])
        return _pattern(OPS[name].latex, [arg.text for arg in args])
    escaped = name.replace("_", r"\_")
    word = NAMES.get(name) or rf"\operatorname{{{escaped}}}"
    return _pattern(word, [arg.text for arg in args])


def _pattern(written: str, args: Sequence[str]) -> Tex:
    """A name before its inputs, or a formula around them: ``#1`` is the first."""
    if "#" not in written:
        return Tex(written + _fenced(", ".join(args)), Binds.ATOM)
    binds = Binds.WORD if written[-2] == "#" else Binds.POWER
    for place, arg in enumerate(args, start=1):
        written = written.replace(f"#{place}", arg)
    return Tex(written, Binds.SUM if " - " in written else binds)


def _sum(node: Call, of: Of) -> Tex:
    first, second = _at_least(of(node.args[0]), Binds.SUM), of(node.args[1])
    sign = "+" if node.name == "add" else "-"
    loosest = Binds.SUM if sign == "+" and second.binds == Binds.SUM else Binds.PRODUCT
    return Tex(f"{first} {sign} {_at_least(second, loosest)}", Binds.SUM)


def _product(node: Call, of: Of) -> Tex:
    left, right = node.args
    return _squared(left, of) if left == right else _times(left, of(left), of(right))


def _times(left: Expr, first: Tex, second: Tex) -> Tex:
    opening = first.text if first.binds == Binds.PRODUCT else _at_least(first, Binds.POWER)
    closing = _at_least(second, Binds.PRODUCT)
    if closing[0].isdigit():
        joint = r" \cdot "
    elif isinstance(left, Num):
        joint = "" if opening[-1].isdigit() and closing[0].isalpha() and not left.latex else " "
    else:
        joint = r"\,"
    return Tex(f"{opening}{joint}{closing}", Binds.PRODUCT)


def _squared(node: Expr, of: Of) -> Tex:
    """``node * node``. The square of a hypotenuse loses its root."""
    if isinstance(node, Call) and node.name == "hypot":
        return Tex(" + ".join(_squared(arg, of).text for arg in node.args), Binds.SUM)
    if isinstance(node, Num) and node.value == 1.0:
        return Tex("1", Binds.ATOM)
    return Tex(f"{_at_least(of(node), Binds.ATOM)}^2", Binds.POWER)


def _quotient(node: Call, of: Of) -> Tex:
    left, right = node.args
    if isinstance(left, Call) and left.name == "div" and left.args[1] == right:
        top, bottom = of(left.args[0]).text, _squared(right, of).text  # x / y / y
        return Tex(rf"\frac{{{top}}}{{{bottom}}}", Binds.POWER)
    top, bottom = of(left).text, of(right).text
    if small := re.fullmatch(r"\\tfrac(\d)(\d)", top):  # a half over z is one over 2z
        two = Num(float(small[2]))
        top, bottom = small[1], _times(two, _number(two), of(right)).text
    return Tex(rf"\frac{{{top}}}{{{bottom}}}", Binds.POWER)


def _power(node: Call, of: Of) -> Tex:
    base, exponent = node.args
    return Tex(f"{_at_least(of(base), Binds.ATOM)}^{{{of(exponent).text}}}", Binds.POWER)


def _length(node: Call, of: Of) -> Tex:
    squares = " + ".join(_squared(arg, of).text for arg in node.args)
    return Tex(rf"\sqrt{{{squares}}}", Binds.ATOM)


def _log1p(node: Call, of: Of) -> Tex:
    inside = _fenced("1 + " + _at_least(of(node.args[0]), Binds.PRODUCT))
    return Tex(r"\ln" + inside, Binds.ATOM)


WRITTEN: dict[str, Callable[[Call, Of], Tex]] = {
    "add": _sum,
    "sub": _sum,
    "mul": _product,
    "div": _quotient,
    "neg": lambda node, of: Tex("-" + _at_least(of(node.args[0]), Binds.PRODUCT), Binds.MINUS),
    "pow": _power,
    "exp": lambda node, of: Tex(f"e^{{{of(node.args[0]).text}}}", Binds.POWER),
    "expm1": lambda node, of: Tex(f"e^{{{of(node.args[0]).text}}} - 1", Binds.SUM),
    "log1p": _log1p,
    "hypot": _length,
}
"""Primitives that are laid out, not named."""


def _where(node: Where, of: Of) -> Tex:
    if named := _extreme(node, of):
        return named
    rows = []
    rest: Expr = node
    while isinstance(rest, Where) and not _extreme(rest, of):
        rows.append(rf"{of(rest.then).text} & {of(rest.condition).text}")
        rest = rest.otherwise
    rows.append(rf"{of(rest).text} & \text{{otherwise}}")
    body = r" \\ ".join(rows)
    return Tex(rf"\begin{{cases}} {body} \end{{cases}}", Binds.CASES)


def _extreme(node: Where, of: Of) -> Tex | None:
    """``where((a >= b) | a is NaN, a, b)``, however it is turned round, is max(a, b)."""
    test = node.condition
    if not (isinstance(test, Either) and isinstance(test.left, Compare)):
        return None
    order, taken, other = test.left, node.then, node.otherwise
    if not (_is_nan(test.right) and test.right.left == taken):
        return None
    if (order.left, order.right) == (taken, other):
        takes_larger, first, second = order.symbol in (">", ">="), taken, other
    elif (order.left, order.right) == (other, taken):
        takes_larger, first, second = order.symbol in ("<", "<="), other, taken
    else:
        return None
    word = r"\max" if takes_larger else r"\min"
    return Tex(f"{word}({of(first).text}, {of(second).text})", Binds.ATOM)


def _is_nan(node: Condition) -> TypeGuard[Compare]:
    return isinstance(node, Compare) and node.symbol == "!=" and node.left == node.right


def _compared(node: Compare, of: Of) -> Tex:
    if _is_nan(node):
        return Tex(rf"{of(node.left).text} \text{{ is NaN}}", Binds.CASES)
    sides = (_at_least(of(side), Binds.SUM) for side in (node.left, node.right))
    return Tex(f" {SYMBOLS[node.symbol]} ".join(sides), Binds.CASES)


def _both(node: Both, of: Of) -> Tex:
    sides = (
        _fenced(of(side).text) if isinstance(side, Either) else of(side).text
        for side in (node.left, node.right)
    )
    return Tex(r" \text{ and } ".join(sides), Binds.CASES)


_RULES: Rules[Tex] = {
    Var: lambda node, of: Tex(_name(node.name), Binds.ATOM),
    Num: lambda node, of: _number(node),
    Absent: lambda node, of: Tex(r"\text{not given}", Binds.ATOM),
    Call: _call,
    Where: _where,
    Compare: _compared,
    Either: lambda node, of: Tex(
        rf"{of(node.left).text} \text{{ or }} {of(node.right).text}", Binds.CASES
    ),
    Both: _both,
}
