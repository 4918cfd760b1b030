"""Print the law as the C of the replay kernels: one function of lanes a row."""

from __future__ import annotations

from collections.abc import Iterable

from ..expr import Condition, Expr
from ..op import PRIMITIVES, Op
from ..routine import Routine
from ..special import ROUTINES
from .notation import Notation


def lanes(node: Expr | Condition) -> str:
    """An expression or condition as C over lanes.

    >>> from retrograde.ops import OPS
    >>> lanes(OPS["relu"].value)
    'v_select(v_le(x, v_set(0.0)), v_set(0.0), x)'
    """
    return _LANES(node)


def _function(name: str) -> str:
    if name in ROUTINES:
        return f"rgs_{name}"
    return f"v_{name}" if name in PRIMITIVES else f"rgv_{name}"


_COMPARE = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}

_LANES = Notation(
    "lanes",
    number=lambda value: f"v_set({value!r})",
    function=_function,
    calls={},
    comparisons={sign: f"v_{name}({{}}, {{}})" for sign, name in _COMPARE.items()},
    where="v_select({}, {}, {})",
    either="vm_or({}, {})",
    both="vm_and({}, {})",
)


def routine(it: Routine) -> str:
    """A routine as a function of lanes; called, for it is long."""
    inputs = ", ".join(f"vd {name}" for name in it.inputs)
    steps = "\n".join(f"    vd {name} = {lanes(expression)};" for name, expression in it.steps)
    body = f"{steps}\n    return {lanes(it.value)};"
    return f"CALLED vd rgs_{it.name}({inputs}) {{\n{body}\n}}"


def header(ops: Iterable[Op]) -> str:
    """The value of every row as a function of lanes."""
    lines = [
        "/* Generated from src/retrograde/ops/scalar.py by tools/regenerate.py: do not edit. */",
        "#ifndef RG_ROWS_GEN_H\n#define RG_ROWS_GEN_H\n",
        "#define CALLED static __attribute__((noinline, unused))\n",
        *(routine(it) + "\n" for it in ROUTINES.values()),
    ]
    for op in ops:
        inputs = ", ".join(f"vd {name}" for name in op.inputs)
        whole = op.tuned or op.vectored
        value = f"v_{op.name}({', '.join(op.inputs)})" if whole else lanes(op.value)
        lines.append(f"SIMD vd rgv_{op.name}({inputs}) {{ return {value}; }}")
    lines.append("\n#endif\n")
    return "\n".join(lines)
