"""Print the law as the C of the kernels: functions of lanes, one a row and one a partial."""

from __future__ import annotations

from collections.abc import Iterable

from ..expr import Absent, Call, Condition, Expr, Num, Var, calls, variables
from ..op import PRIMITIVES, RESULT, Op
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
        "#define CALLED static RG_NEVER_INLINE RG_UNUSED\n",
        *(routine(it) + "\n" for it in ROUTINES.values()),
    ]
    for op in ops:
        inputs = ", ".join(f"vd {name}" for name in op.inputs)
        whole = op.tuned or op.vectored
        value = f"v_{op.name}({', '.join(op.inputs)})" if whole else lanes(op.value)
        lines.append(f"SIMD vd rgv_{op.name}({inputs}) {{ return {value}; }}")
    lines.append("\n#endif\n")
    return "\n".join(lines)


SHORT = frozenset("add sub mul div neg abs sqrt".split())
"""Functions that take a few instructions: loops over them are worth a second copy for their end."""


def maps(ops: Iterable[Op]) -> str:
    """Every partial times an upstream gradient as a function of lanes, and lists for loops.

    An entry is a name, the bits of what is read (inputs, then the result), and whether it is short.
    """
    functions, forward, partials = [], [], []
    for op in ops:
        inputs = [f"vd {name}" for name in (*op.inputs, *SPARE[op.arity :])]
        called = f"rgv_{op.name}({', '.join(op.inputs)})"
        functions.append(f"SIMD vd rgm_{op.name}({', '.join(inputs)}) {{ return {called}; }}")
        short = _short(op.value) and not (op.tuned or op.vectored)
        forward.append(f"    X({op.name}, {(1 << op.arity) - 1}, {short:d})")
        for number, partial in enumerate(op.partials):
            amount = NOBODY_KNOWS if isinstance(partial, Absent) else lanes(_times(partial))
            said = ", ".join((*inputs, f"vd {RESULT}", f"vd {UPSTREAM}"))
            functions.append(f"SIMD vd rgm_{op.name}_d{number}({said}) {{ return {amount}; }}")
            entry = (op.name, number, _reads(op, partial), int(_short(partial)))
            partials.append(f"    X({', '.join(map(str, entry))})")
    lists = (("RG_FORWARD_MAPS", forward), ("RG_PARTIAL_MAPS", partials))
    return "\n\n".join(
        (
            "/* Generated from src/retrograde/ops/scalar.py by tools/regenerate.py: "
            "do not edit. */",
            "#ifndef RG_MAPS_GEN_H\n#define RG_MAPS_GEN_H",
            *(f"#define {name}(X) \\\n" + " \\\n".join(entries) for name, entries in lists),
            "#ifndef RG_LISTS_ONLY\n" + "\n".join(functions),
            "#endif\n#endif\n",
        )
    )


NOBODY_KNOWS = "v_set(RG_NAN)"
UPSTREAM = "upstream"
SPARE = ("spare0", "spare1", "spare2")


def _times(partial: Expr) -> Expr:
    """The upstream gradient times a partial; a factor of 1 or -1 is not multiplied by."""
    up = Var(UPSTREAM)
    if isinstance(partial, Num) and abs(partial.value) == 1.0:
        return up if partial.value == 1.0 else Call("neg", (up,))
    return Call("mul", (up, partial))


def _reads(op: Op, partial: Expr) -> int:
    places = {**{name: at for at, name in enumerate(op.inputs)}, RESULT: 3}
    return sum(1 << places[name] for name in variables(partial))


def _short(node: Expr) -> bool:
    return calls(node) <= SHORT
