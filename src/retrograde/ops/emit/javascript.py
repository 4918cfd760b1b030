"""Print rows as JavaScript, for pages that compute values and gradients by themselves.

A row calls the functions of ``primitives.js``, which stands beside this file, and the rows above
it; arithmetic is JavaScript's own, which is IEEE 754.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..expr import Condition, Expr
from ..routine import Routine
from ..special import ROUTINES
from ..structural import STRUCTURAL, Structural
from .notation import ARITHMETIC, COMPARISONS, SIGN, Notation

if TYPE_CHECKING:
    from ..op import Op


def javascript(node: Expr | Condition) -> str:
    """An expression or condition as JavaScript over numbers.

    >>> from retrograde.ops import OPS
    >>> javascript(OPS["tan"].partials[0])
    '(1.0 + (z * z))'
    >>> javascript(OPS["relu"].value)
    '((x <= 0.0) ? 0.0 : x)'
    >>> javascript(OPS["softplus"].partials[0])
    'law.sigmoid.value(x)'
    """
    return _JAVASCRIPT(node)


def number(value: float) -> str:
    """A number, infinities and NaN included.

    >>> number(0.5), number(-math.inf), number(math.nan)
    ('0.5', '-Infinity', 'NaN')
    """
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def row(op: Op) -> str:
    """A row as a property of ``law``: its value, and one function a partial.

    >>> from retrograde.ops import OPS
    >>> row(OPS["mul"])
    'law.mul = { value: (x, y) => (x * y), partials: [(x, y, z) => y, (x, y, z) => x] };'
    """
    inputs = ", ".join(op.inputs)
    partials = ", ".join(f"({inputs}, z) => {javascript(partial)}" for partial in op.partials)
    value = f"primitive.{op.name}" if op.tuned else f"({inputs}) => {javascript(op.value)}"
    return f"law.{op.name} = {{ value: {value}, partials: [{partials}] }};"


def structural(it: Structural) -> str:
    """A structural row as a property of ``wide``, by its lists."""
    return f"{it.name}: primitive.{'chosen' if it.chooses else 'added'}({it.sides})"


def routine(it: Routine) -> str:
    """A routine as a property of ``special``."""
    steps = " ".join(f"const {name} = {javascript(expression)};" for name, expression in it.steps)
    value = f"{{ {steps} return {javascript(it.value)}; }}"
    return f"special.{it.name} = ({', '.join(it.inputs)}) => {value};"


def law(names: Iterable[str], table: Mapping[str, Op]) -> str:
    """The named rows, and what they call, as one piece of JavaScript.

    >>> from retrograde.ops import OPS
    >>> [line[:14] for line in law(["silu"], OPS).splitlines()[-3:]]
    ['const law = {}', 'law.sigmoid = ', 'law.silu = { v']
    """
    from ..op import PRIMITIVES

    wanted: set[str] = set()
    called: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in wanted:
            wanted.add(name)
            called |= table[name].calls & ROUTINES.keys()
            pending.extend(table[name].calls - PRIMITIVES)
    for name in reversed(ROUTINES):  # each stands below those it calls
        if name in called:
            called |= ROUTINES[name].calls & ROUTINES.keys()
    routines = [routine(it) for name, it in ROUTINES.items() if name in called]
    opening = ["const special = {};", *routines] if routines else []
    rows = [row(op) for name, op in table.items() if name in wanted]
    many = [f"const wide = {{ {', '.join(map(structural, STRUCTURAL.values()))} }};"]
    return "\n".join([primitives(), *opening, *many, "const law = {};", *rows]) + "\n"


def primitives() -> str:
    """The hand-written functions that rows call."""
    return Path(__file__).with_name("primitives.js").read_text(encoding="utf-8").rstrip("\n")


def _function(name: str) -> str:
    from ..op import PRIMITIVES

    if name in ROUTINES:
        return f"special.{name}"
    return f"primitive.{name}" if name in PRIMITIVES else f"law.{name}.value"


_JAVASCRIPT = Notation(
    "JavaScript",
    number=number,
    function=_function,
    calls={**ARITHMETIC, "div": "({} / {})", **SIGN},
    comparisons={**COMPARISONS, "==": "({} === {})", "!=": "({} !== {})"},
    where="({} ? {} : {})",
    either="({} || {})",
    both="({} && {})",
    absent="NaN",
)
