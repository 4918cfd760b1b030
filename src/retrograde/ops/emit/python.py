"""Print rows as Python, and compile them into functions of plain floats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ..expr import Absent, Condition, Expr
from ..special import ROUTINES
from . import ieee
from .notation import Notation

if TYPE_CHECKING:
    from ..op import Op


def python(node: Expr | Condition) -> str:
    """An expression or condition as Python source over floats.

    >>> from retrograde.ops import OPS
    >>> python(OPS["tan"].partials[0])
    '(1.0 + (z * z))'
    >>> python(OPS["relu"].value)
    '(0.0 if (x <= 0.0) else x)'
    """
    return _PYTHON(node)


_PYTHON = Notation(
    "Python",
    number=repr,
    function=lambda name: name,
    where="({1} if {0} else {2})",
    either="({} or {})",
    both="({} and {})",
    absent="nan",
)
OPERATORS = frozenset(_PYTHON.calls)
"""Calls that Python has a sign for."""


def source(op: Op) -> str:
    """The two functions of a row as Python source: its value, and its partials."""
    inputs = ", ".join(op.inputs)
    partials = ", ".join(python(partial) for partial in op.partials)
    value = f"{op.name}({inputs})" if op.tuned else python(op.value)
    return (
        f"def value({inputs}):\n    return {value}\n\n"
        f"def partials({inputs}, z):\n    return ({partials},)\n"
    )


def compile_partials(op: Op, functions: Mapping[str, Any]) -> tuple[Callable[..., Any] | None, ...]:
    """The partials as functions of inputs and result that are generic in the number type; None
    for one that is not stated.

    ``functions`` gives every row of the law; on values they build graph, so what comes back can be
    differentiated again. Routines are spelled out in them.
    """
    inputs = ", ".join(op.inputs)
    scope = {**functions, **routines(op.calls, functions)}
    compiled: list[Callable[..., Any] | None] = []
    for partial in op.partials:
        if isinstance(partial, Absent):
            compiled.append(None)
            continue
        code = f"lambda {inputs}, z: {python(partial)}"
        compiled.append(eval(compile(code, f"<law: {op.name}>", "eval"), scope))
    return tuple(compiled)


def routines(
    names: Iterable[str],
    functions: Mapping[str, Any],
    spelled: Callable[[Expr], str] = python,
) -> dict[str, Callable[..., Any]]:
    """Those of the names that are routines, as functions made of ``functions``."""
    scope = dict(functions)
    wanted = set(names) & ROUTINES.keys()
    for name in reversed(ROUTINES):  # each stands below those it calls
        if name in wanted:
            wanted |= ROUTINES[name].calls & ROUTINES.keys()
    for name, it in ROUTINES.items():
        if name in wanted:
            steps = "".join(f"    {step} = {spelled(made)}\n" for step, made in it.steps)
            code = f"def {name}({', '.join(it.inputs)}):\n{steps}    return {spelled(it.value)}\n"
            exec(compile(code, f"<law: {name}>", "exec"), scope)
    return {name: scope[name] for name in wanted}


@cache
def _own_routine(name: str) -> Callable[..., float]:
    return routines([name], vars(ieee))[name]


def on_floats(name: str) -> Callable[..., float]:
    """Any function the law may name, on floats: of IEEE arithmetic, a routine or a row."""
    from ..scalar import OPS

    if name in ROUTINES:
        return _own_routine(name)
    function: Callable[..., float] = getattr(ieee, name, None) or OPS[name].evaluate
    return function


def compile_row(
    op: Op,
) -> tuple[Callable[..., float], Callable[..., tuple[float, ...]]]:
    """The row's value and partials as functions of floats, with IEEE arithmetic."""
    named = op.calls - OPERATORS - {op.name}
    namespace: dict[str, Any] = {"nan": ieee.nan, **{name: on_floats(name) for name in named}}
    exec(compile(source(op), f"<law: {op.name}>", "exec"), namespace)
    namespace.setdefault(op.name, getattr(ieee, op.name, namespace["value"]))
    return namespace["value"], namespace["partials"]
