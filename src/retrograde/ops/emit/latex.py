"""Print rows as LaTeX: fractions, roots and cases, with no more parentheses than reading needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, TypeGuard

from ..expr import Absent, Both, Call, Compare, Condition, Either, Expr, Num, Var, Where
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

LETTERS = {"norm_cdf": r"\Phi", "norm_pdf": r"\varphi", "sigmoid": r"\sigma"}
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
    return _condition(node) if isinstance(node, Condition) else _tex(node).text


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


def _tex(node: Expr) -> Tex:
    if isinstance(node, Var):
        return Tex(_name(node.name), Binds.ATOM)
    if isinstance(node, Num):
        text = node.latex or number(node.value)
        return Tex(text, Binds.MINUS if text.startswith("-") else Binds.ATOM)
    if isinstance(node, Absent):
        return Tex(r"\text{not given}", Binds.ATOM)
    if isinstance(node, Where):
        return _where(node)
    if isinstance(node, Call):
        return _call(node)
    raise TypeError(f"no LaTeX for {type(node).__name__}")


def _fenced(text: str) -> str:
    tall = any(mark in text for mark in (r"\frac", r"\begin"))
    return rf"\left({text}\right)" if tall else f"({text})"


def _at_least(tex: Tex, binds: Binds) -> str:
    """The text, in parentheses where it holds together less tightly than asked."""
    return tex.text if tex.binds >= binds else _fenced(tex.text)


def _call(node: Call) -> Tex:
    name, args = node.name, node.args
    if name in ("add", "sub"):
        return _sum(args[0], args[1], "+" if name == "add" else "-")
    if name == "mul":
        return _product(args[0], args[1])
    if name == "div":
        return _quotient(args[0], args[1])
    if name == "neg":
        return Tex("-" + _at_least(_tex(args[0]), Binds.PRODUCT), Binds.MINUS)
    if name == "pow":
        base = _at_least(_tex(args[0]), Binds.ATOM)
        return Tex(f"{base}^{{{_tex(args[1]).text}}}", Binds.POWER)
    if name == "exp":
        return Tex(f"e^{{{_tex(args[0]).text}}}", Binds.POWER)
    if name == "expm1":
        return Tex(f"e^{{{_tex(args[0]).text}}} - 1", Binds.SUM)
    if name == "log1p":
        return Tex(r"\ln" + _fenced("1 + " + _at_least(_tex(args[0]), Binds.PRODUCT)), Binds.ATOM)
    if name == "hypot":
        return Tex(rf"\sqrt{{{_squared(args[0]).text} + {_squared(args[1]).text}}}", Binds.ATOM)
    if name == "sech2":
        return Tex(r"\operatorname{sech}^2 " + _at_least(_tex(args[0]), Binds.ATOM), Binds.WORD)
    if name == "gauss":
        return Tex(f"e^{{-{_squared(args[0]).text}}}", Binds.POWER)
    if name in FENCES:
        opening, closing = FENCES[name]
        return Tex(f"{opening}{_tex(args[0]).text}{closing}", Binds.ATOM)
    if name in NAMES and isinstance(args[0], Var):
        return Tex(f"{NAMES[name]} {_tex(args[0]).text}", Binds.WORD)
    if name in ROUTINES:
        return _routine(ROUTINES[name].latex, [_tex(arg).text for arg in args])
    escaped = name.replace("_", r"\_")
    word = NAMES.get(name) or LETTERS.get(name) or rf"\operatorname{{{escaped}}}"
    return Tex(word + _fenced(", ".join(_tex(arg).text for arg in args)), Binds.ATOM)


def _routine(written: str, args: Sequence[str]) -> Tex:
    """A routine: a name before its inputs, or a formula around them."""
    if "#" not in written:
        return Tex(written + _fenced(", ".join(args)), Binds.ATOM)
    for place, arg in enumerate(args, start=1):
        written = written.replace(f"#{place}", arg)
    return Tex(written, Binds.SUM if " - " in written else Binds.POWER)


def _sum(left: Expr, right: Expr, sign: str) -> Tex:
    first, second = _at_least(_tex(left), Binds.SUM), _tex(right)
    loosest = Binds.SUM if sign == "+" and second.binds == Binds.SUM else Binds.PRODUCT
    return Tex(f"{first} {sign} {_at_least(second, loosest)}", Binds.SUM)


def _product(left: Expr, right: Expr) -> Tex:
    if left == right:
        return _squared(left)
    first, second = _tex(left), _tex(right)
    opening = first.text if first.binds == Binds.PRODUCT else _at_least(first, Binds.POWER)
    closing = _at_least(second, Binds.PRODUCT)
    if closing[0].isdigit():
        joint = r" \cdot "
    elif isinstance(left, Num):
        joint = "" if opening[-1].isdigit() and closing[0].isalpha() and not left.latex else " "
    else:
        joint = r"\,"
    return Tex(f"{opening}{joint}{closing}", Binds.PRODUCT)


def _squared(node: Expr) -> Tex:
    """``node * node``. The square of a hypotenuse loses its root."""
    if isinstance(node, Call) and node.name == "hypot":
        return Tex(" + ".join(_squared(arg).text for arg in node.args), Binds.SUM)
    if isinstance(node, Num) and node.value == 1.0:
        return Tex("1", Binds.ATOM)
    return Tex(f"{_at_least(_tex(node), Binds.ATOM)}^2", Binds.POWER)


def _quotient(left: Expr, right: Expr) -> Tex:
    if isinstance(left, Call) and left.name == "div" and left.args[1] == right:
        top, bottom = _tex(left.args[0]).text, _squared(right).text  # x / y / y
        return Tex(rf"\frac{{{top}}}{{{bottom}}}", Binds.POWER)
    top, bottom = _tex(left).text, _tex(right).text
    if small := re.fullmatch(r"\\tfrac(\d)(\d)", top):  # a half over z is one over 2z
        top, bottom = small[1], _product(Num(float(small[2])), right).text
    return Tex(rf"\frac{{{top}}}{{{bottom}}}", Binds.POWER)


def _where(node: Where) -> Tex:
    if named := _extreme(node):
        return named
    rows = []
    rest: Expr = node
    while isinstance(rest, Where) and not _extreme(rest):
        rows.append(rf"{_tex(rest.then).text} & {_condition(rest.condition)}")
        rest = rest.otherwise
    rows.append(rf"{_tex(rest).text} & \text{{otherwise}}")
    body = r" \\ ".join(rows)
    return Tex(rf"\begin{{cases}} {body} \end{{cases}}", Binds.CASES)


def _extreme(node: Where) -> Tex | None:
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
    return Tex(f"{word}({_tex(first).text}, {_tex(second).text})", Binds.ATOM)


def _is_nan(node: Condition) -> TypeGuard[Compare]:
    return isinstance(node, Compare) and node.symbol == "!=" and node.left == node.right


def _condition(node: Condition) -> str:
    if _is_nan(node):
        return rf"{_tex(node.left).text} \text{{ is NaN}}"
    if isinstance(node, Compare):
        sides = (_at_least(_tex(side), Binds.SUM) for side in (node.left, node.right))
        return f" {SYMBOLS[node.symbol]} ".join(sides)
    if isinstance(node, Either):
        return rf"{_condition(node.left)} \text{{ or }} {_condition(node.right)}"
    if isinstance(node, Both):
        sides = (
            _fenced(_condition(side)) if isinstance(side, Either) else _condition(side)
            for side in (node.left, node.right)
        )
        return r" \text{ and } ".join(sides)
    raise TypeError(f"no LaTeX for {type(node).__name__}")
