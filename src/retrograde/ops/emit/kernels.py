"""Print the law as the C of the replay kernels: one function of lanes a row."""

from __future__ import annotations

from collections.abc import Iterable

from ..expr import Both, Call, Compare, Condition, Either, Expr, Num, Var, Where
from ..op import PRIMITIVES, Op
from ..routine import Routine
from ..special import ROUTINES

TUNED = frozenset(("sigmoid",))
"""Rows whose value the vector functions provide as a whole, faster than term by term, besides those
that every core provides."""

COMPARE = {"<": "v_lt", "<=": "v_le", ">": "v_gt", ">=": "v_ge", "==": "v_eq", "!=": "v_ne"}


def lanes(node: Expr | Condition) -> str:
    """An expression or condition as C over lanes.

    >>> from retrograde.ops import OPS
    >>> lanes(OPS["relu"].value)
    'v_select(v_le(x, v_set(0.0)), v_set(0.0), x)'
    """
    if isinstance(node, Var):
        return node.name
    if isinstance(node, Num):
        return f"v_set({node.value!r})"
    if isinstance(node, Call):
        prefix = "v_" if node.name in PRIMITIVES else "rgv_"
        prefix = "rgs_" if node.name in ROUTINES else prefix
        return f"{prefix}{node.name}({', '.join(lanes(arg) for arg in node.args)})"
    if isinstance(node, Where):
        parts = (lanes(node.condition), lanes(node.then), lanes(node.otherwise))
        return f"v_select({', '.join(parts)})"
    if isinstance(node, Compare):
        return f"{COMPARE[node.symbol]}({lanes(node.left)}, {lanes(node.right)})"
    if isinstance(node, (Either, Both)):
        name = "vm_or" if isinstance(node, Either) else "vm_and"
        return f"{name}({lanes(node.left)}, {lanes(node.right)})"
    raise TypeError(f"no lanes for {type(node).__name__}")


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
        whole = op.tuned or op.name in TUNED
        value = f"v_{op.name}({', '.join(op.inputs)})" if whole else lanes(op.value)
        lines.append(f"SIMD vd rgv_{op.name}({inputs}) {{ return {value}; }}")
    lines.append("\n#endif\n")
    return "\n".join(lines)
