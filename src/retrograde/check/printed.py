"""The law's formulas on other numbers: printed once, run on whatever functions are given.

A row's *value* is compiled over a set of functions (here: NumPy on complex arrays). Its partials
are never read: that is what makes a check by these formulas independent of the rule it checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from math import fabs, nan
from typing import Any

import numpy as np

from ..ops import OPS
from ..ops.emit.notation import COMPARISONS, Notation
from ..ops.emit.python import OPERATORS, on_floats, python, routines
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
    calls,
    fold,
    walk,
)


def source(node: Expr | Condition) -> str:
    """An expression over arrays: choices are calls of ``where``, comparisons go by ``real``.

    >>> from retrograde.ops import OPS
    >>> source(OPS["relu"].value)
    'where((real(x) <= real(0.0)), 0.0, x)'
    """
    return _ARRAYS(node)


_ARRAYS = Notation(
    "formula",
    number=repr,
    function=lambda name: name,
    comparisons={sign: f"(real({{}}) {sign} real({{}}))" for sign in COMPARISONS},
    where="where({}, {}, {})",
    either="({} | {})",
    both="({} & {})",
)


def compiled(name: str, functions: Mapping[str, Any]) -> Callable[..., Any]:
    """A row's value over the functions given; rows it calls are compiled over them too."""
    op = OPS[name]
    scope = dict(functions)
    for called in calls(op.value) & OPS.keys() - OPERATORS:
        if called not in scope:
            scope[called] = compiled(called, functions)
    scope |= routines(calls(op.value), functions, source)
    code = f"lambda {', '.join(op.inputs)}: {source(op.value)}"
    function: Callable[..., Any] = eval(compile(code, f"<law: {name}>", "eval"), scope)
    return function


def magnitude(node: Expr) -> str:
    """The size of what an expression adds up, as Python source over floats: ``1 - z*z`` is as
    uncertain as 1 + z² is large, however small it comes out.

    >>> magnitude(1 - Var("z") * Var("z"))
    '(1.0 + (fabs(z) * fabs(z)))'
    """
    return fold(node, _SIZES, "size")


def _size_of_call(node: Call, of: Callable[[Any], str]) -> str:
    if node.name in _ADDED:
        return _ADDED[node.name].format(*map(of, node.args))
    if node.name == "div":
        return f"div({of(node.args[0])}, fabs({python(node.args[1])}))"
    return f"fabs({python(node)})"


_ADDED = {"add": "({} + {})", "sub": "({} + {})", "mul": "({} * {})", "neg": "{}"}

_SIZES: Rules[str] = {
    Var: lambda node, of: f"fabs({node.name})",
    Num: lambda node, of: repr(abs(node.value)),
    Absent: lambda node, of: f"fabs({python(node)})",
    Call: _size_of_call,
    Where: lambda node, of: (
        f"({of(node.then)} if {python(node.condition)} else {of(node.otherwise)})"
    ),
    **dict.fromkeys((Compare, Either, Both), lambda node, of: ""),
}


@cache
def magnitudes(name: str) -> Callable[..., tuple[float, ...]]:
    """The sizes of what a row's partials add up, as a function of its inputs and its result."""
    op = OPS[name]
    listed = ", ".join(magnitude(partial) for partial in op.partials)
    scope: dict[str, Any] = {
        called: on_floats(called) for called in (op.calls | {"div"}) - OPERATORS
    }
    code = f"lambda {', '.join(op.inputs)}, z: ({listed},)"
    function: Callable[..., tuple[float, ...]] = eval(
        compile(code, f"<law: {name}>", "eval"), {**scope, "fabs": fabs, "nan": nan}
    )
    return function


@cache
def on_complex(name: str) -> Callable[..., Any]:
    """A row's value on complex arrays, analytic away from its kinks."""
    return compiled(name, _COMPLEX)


_KINKS = {
    "abs": "size({0})",
    "floor": "size({0} - rint({0}))",
    "fmod": "size(real({0}) / real({1}) - rint(real({0}) / real({1})))",
    "hypot": "size({0})+size({1})",
    "atan2": "size({0})+size({1})",
    "sqrt": "size({0})",
    "pow": "size({0})",
}
"""Primitives that are not smooth everywhere: how far their operands are from where they are not."""


@cache
def _tests(name: str) -> Callable[..., Any]:
    """How far a row's operands are from where its formula changes: 0 on the spot."""
    op = OPS[name]
    distances = ["inf"]
    for node in walk(op.value):
        if isinstance(node, Compare) and node.symbol not in ("==", "!="):
            distances.append(f"size({source(node.left)} - {source(node.right)})")
        elif isinstance(node, Call) and node.name in _KINKS:
            distances.append(_KINKS[node.name].format(*map(source, node.args)))
    code = f"lambda {', '.join(op.inputs)}: least({', '.join(distances)})"
    scope = {**_COMPLEX, "size": lambda x: np.abs(np.real(x)), "least": _least, "inf": np.inf}
    named = calls(op.value)
    scope |= {called: on_complex(called) for called in named if called in OPS} | _COMPLEX
    scope |= routines(named, _COMPLEX, source)
    function: Callable[..., Any] = eval(compile(code, f"<law: {name}>", "eval"), scope)
    return function


def _least(*distances: Any) -> Any:
    least = distances[0]
    for distance in distances[1:]:
        least = np.minimum(least, distance)
    return least


def at_a_kink(name: str, *operands: Any) -> Any:
    """Whether a row's formula changes, or turns infinitely steep, exactly at these operands.

    >>> bool(at_a_kink("relu", 0.0)), bool(at_a_kink("relu", 1e-300)), bool(at_a_kink("exp", 0.0))
    (True, False, False)
    """
    with np.errstate(all="ignore"):
        return _tests(name)(*operands) == 0.0


# ---- functions of complex arrays, on the real axis and just off it -----------------------------


def _abs(x: Any) -> Any:
    return np.where(np.real(x) < 0.0, -x, x)


def _pow(x: Any, y: Any) -> Any:
    """x**y without the polar form, whose rounding would drown a small imaginary part."""
    whole = np.real(y) == np.floor(np.real(y))
    odd = np.mod(np.real(y), 2.0) == 1.0
    size = np.exp(y * np.log(_abs(x)))
    below = np.where(whole, np.where(odd, -size, size), np.nan)
    return np.where(np.real(x) < 0.0, below, size)


def _fmod(x: Any, y: Any) -> Any:
    return x - y * np.trunc(np.real(x) / np.real(y))


def _log1p(x: Any) -> Any:
    """NumPy's own loses the real part near 0."""
    return np.log1p(np.real(x)) + 1j * np.arctan2(np.imag(x), 1.0 + np.real(x))


def _hypot(x: Any, y: Any) -> Any:
    scale = np.maximum(np.abs(np.real(x)), np.abs(np.real(y)))
    return scale * np.sqrt((x / scale) * (x / scale) + (y / scale) * (y / scale))


def _atan2(y: Any, x: Any) -> Any:
    turn = np.arctan2(np.real(y), np.real(x))
    flat = np.abs(np.real(x)) >= np.abs(np.real(y))
    inner = np.where(flat, np.arctan(y / x), -np.arctan(x / y))
    return turn + 1j * np.imag(inner)


def _erf(x: Any) -> Any:
    """By its series near 0 and by erfc beyond."""
    x = np.asarray(x, dtype=complex)
    near = np.where(np.abs(np.real(x)) < 2.5, x, 0.0)
    term = total = near
    for n in range(1, 60):
        term = term * (-near * near) / n
        total = total + term / (2 * n + 1)
    far = np.where(np.real(x) < 0.0, _erfc_far(-x) - 1.0, 1.0 - _erfc_far(x))
    return np.where(np.abs(np.real(x)) < 2.5, 2.0 / np.sqrt(np.pi) * total, far)


def _erfc_far(x: Any) -> Any:
    """The complement for real parts from 2 up, by its continued fraction."""
    x = np.where(np.real(x) < 2.0, 2.0, x)
    fraction = x
    for n in range(80, 0, -1):
        fraction = x + (n / 2.0) / fraction
    return np.exp(-x * x) / np.sqrt(np.pi) / fraction


def _erfc(x: Any) -> Any:
    return np.where(np.real(x) >= 2.5, _erfc_far(x), 1.0 - _erf(x))


_COMPLEX: dict[str, Any] = {
    "where": np.where,
    "real": np.real,
    "rint": lambda x: np.rint(np.real(x)),
    "div": np.divide,
    "pow": _pow,
    "abs": _abs,
    "floor": lambda x: np.floor(np.real(x)) + 0j,
    "fmod": _fmod,
    "log1p": _log1p,
    "hypot": _hypot,
    "atan2": _atan2,
    "erf": _erf,
    "erfc": _erfc,
    **{name: getattr(np, name) for name in "sqrt exp expm1 log log2 log10".split()},
    **{name: getattr(np, name) for name in "sin cos tan sinh cosh tanh".split()},
    **{f"a{name}": getattr(np, f"arc{name}") for name in "sin cos tan sinh cosh tanh".split()},
}
