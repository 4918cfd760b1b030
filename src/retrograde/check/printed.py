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
from ..ops.emit.python import on_floats, python, routines
from ..ops.expr import Both, Call, Compare, Condition, Either, Expr, Num, Var, Where, calls, walk

_INFIX = {"add": "+", "sub": "-", "mul": "*"}


def source(node: Expr | Condition) -> str:
    """An expression over arrays: choices are calls of ``where``, comparisons go by ``real``.

    >>> from retrograde.ops import OPS
    >>> source(OPS["relu"].value)
    'where((real(x) <= real(0.0)), 0.0, x)'
    """
    if isinstance(node, Var):
        return node.name
    if isinstance(node, Num):
        return repr(node.value)
    if isinstance(node, Call):
        args = [source(arg) for arg in node.args]
        if node.name in _INFIX:
            return f"({args[0]} {_INFIX[node.name]} {args[1]})"
        return f"(-{args[0]})" if node.name == "neg" else f"{node.name}({', '.join(args)})"
    if isinstance(node, Where):
        condition = source(node.condition)
        return f"where({condition}, {source(node.then)}, {source(node.otherwise)})"
    if isinstance(node, Compare):
        return f"(real({source(node.left)}) {node.symbol} real({source(node.right)}))"
    if isinstance(node, (Either, Both)):
        sign = "|" if isinstance(node, Either) else "&"
        return f"({source(node.left)} {sign} {source(node.right)})"
    raise TypeError(f"no formula for {type(node).__name__}")


def compiled(name: str, functions: Mapping[str, Any]) -> Callable[..., Any]:
    """A row's value over the functions given; rows it calls are compiled over them too."""
    op = OPS[name]
    scope = dict(functions)
    for called in calls(op.value) & OPS.keys() - _INFIX.keys() - {"neg"}:
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
    if isinstance(node, Var):
        return f"fabs({node.name})"
    if isinstance(node, Num):
        return repr(abs(node.value))
    if isinstance(node, Where):
        condition = python(node.condition)
        return f"({magnitude(node.then)} if {condition} else {magnitude(node.otherwise)})"
    if isinstance(node, Call) and node.name in ("add", "sub", "mul"):
        sign = "*" if node.name == "mul" else "+"
        return f"({magnitude(node.args[0])} {sign} {magnitude(node.args[1])})"
    if isinstance(node, Call) and node.name == "neg":
        return magnitude(node.args[0])
    if isinstance(node, Call) and node.name == "div":
        return f"div({magnitude(node.args[0])}, fabs({python(node.args[1])}))"
    return f"fabs({python(node)})"


@cache
def magnitudes(name: str) -> Callable[..., tuple[float, ...]]:
    """The sizes of what a row's partials add up, as a function of its inputs and its result."""
    op = OPS[name]
    listed = ", ".join(magnitude(partial) for partial in op.partials)
    scope: dict[str, Any] = {
        called: on_floats(called) for called in (op.calls | {"div"}) - _INFIX.keys() - {"neg"}
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


@cache
def _tests(name: str) -> Callable[..., Any]:
    """How far a row's operands are from where its formula changes: 0 on the spot."""
    op = OPS[name]
    distances = ["inf"]
    for node in walk(op.value):
        if isinstance(node, Compare) and node.symbol not in ("==", "!="):
            distances.append(f"size({source(node.left)} - {source(node.right)})")
        elif isinstance(node, Call) and node.name == "abs":
            distances.append(f"size({source(node.args[0])})")
        elif isinstance(node, Call) and node.name == "floor":
            inner = source(node.args[0])
            distances.append(f"size({inner} - rint({inner}))")
        elif isinstance(node, Call) and node.name == "fmod":
            ratio = " / ".join(f"real({source(arg)})" for arg in node.args)
            distances.append(f"size({ratio} - rint({ratio}))")
        elif isinstance(node, Call) and node.name in ("hypot", "atan2"):
            distances.append("+".join(f"size({source(arg)})" for arg in node.args))
        elif isinstance(node, Call) and node.name in ("sqrt", "pow"):
            distances.append(f"size({source(node.args[0])})")
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
