"""Print the law as the C header of the native core."""

from __future__ import annotations

from collections.abc import Iterable

from ..expr import Condition, Expr
from ..op import PRIMITIVES, Op
from ..routine import Routine
from ..special import ROUTINES
from ..structural import STRUCTURAL, Structural
from .notation import ARITHMETIC, SIGN, Notation

LIBM = {"abs": "fabs"}
ABSENT = """\
/* A partial that is not stated: backward passes look for such nodes once one has been made. */
extern int rg_absent_met;
RG_RULE double rg_absent(void) {
    rg_absent_met = 1;
    return NAN;
}"""


def c(node: Expr | Condition) -> str:
    """An expression or condition as C over doubles.

    >>> from retrograde.ops import OPS
    >>> c(OPS["relu"].value)
    '((x <= 0.0) ? 0.0 : x)'
    """
    return _C(node)


def _function(name: str) -> str:
    if name in ROUTINES:
        return f"rgs_{name}"
    return LIBM.get(name, name) if name in PRIMITIVES else f"rg_{name}"


_C = Notation(
    "C",
    number=repr,
    function=_function,
    calls={**ARITHMETIC, "div": "({} / {})", **SIGN},
    where="({} ? {} : {})",
    either="({} || {})",
    both="({} && {})",
    absent="rg_absent()",
)


def routine(it: Routine) -> str:
    """A routine as C."""
    inputs = ", ".join(f"double {name}" for name in it.inputs)
    steps = "\n".join(f"    double {name} = {c(expression)};" for name, expression in it.steps)
    body = f"{steps}\n    return {c(it.value)};"
    return f"RG_RULE double rgs_{it.name}({inputs}) {{\n{body}\n}}"


def functions(op: Op) -> str:
    """A row as C: one function for its value, one for each partial."""
    inputs = ", ".join(f"double {name}" for name in op.inputs)
    value = f"rg_tuned_{op.name}({', '.join(op.inputs)})" if op.tuned else c(op.value)
    lines = [f"RG_RULE double rg_{op.name}({inputs}) {{ return {value}; }}"]
    for index, partial in enumerate(op.partials):
        lines.append(
            f"RG_RULE double rg_{op.name}_d{index}({inputs}, double z) {{ return {c(partial)}; }}"
        )
    return "\n".join(lines)


def _list(macro: str, ops: Iterable[Op]) -> str:
    entries = " \\\n".join(f"    X({op.name})" for op in ops)
    return f"#define {macro}(X) \\\n{entries}"


def _codes(macro: str, rows: Iterable[Structural]) -> str:
    entries = " ".join(f'X({row.name.upper()}, "{row.name}")' for row in rows)
    return f"#define {macro}(X) {entries}"


def _quoted(text: str) -> str:
    return f'"{text}"'


def header(ops: Iterable[Op], structural: Iterable[Structural] = STRUCTURAL.values()) -> str:
    """The whole law as one C header."""
    rows, rows_of_many = tuple(ops), tuple(structural)
    by_arity = {n: [op for op in rows if op.arity == n] for n in (1, 2, 3)}
    if sum(map(len, by_arity.values())) != len(rows):
        raise ValueError("the native core takes rows of one, two or three inputs")
    numbers = "\n".join(f"    RG_OP_{op.name} = {i}," for i, op in enumerate(rows))
    pick = {1: "a[0]", 2: "a[0], a[1]", 3: "a[0], a[1], a[2]"}
    generic = []
    for op in rows:
        args = pick[op.arity]
        partials = " ".join(f"p[{i}] = rg_{op.name}_d{i}({args}, z);" for i in range(op.arity))
        generic.append(
            f"static double rg_eval_{op.name}(const double *a) {{ return rg_{op.name}({args}); }}\n"
            f"static void rg_slopes_{op.name}(const double *a, double z, double *p) "
            f"{{ {partials} }}"
        )
    table = "\n".join(
        f'    {{"{op.name}", "{op.symbol}", {op.arity}, {len(op.defaults)}, '
        f"{{{', '.join(map(repr, op.defaults or (0.0,)))}}}, "
        f"{{{', '.join(_quoted(name) for name in op.inputs)}}}, "
        f"{sum(1 << op.inputs.index(name) for name in op.absent)}, "
        f"rg_eval_{op.name}, rg_slopes_{op.name}}},"
        for op in rows
    )
    return "\n\n".join(
        (
            "/* Generated from src/retrograde/ops/scalar.py by tools/regenerate.py: "
            "do not edit. */",
            "#ifndef RG_OPS_GEN_H\n#define RG_OPS_GEN_H",
            f"enum {{\n{numbers}\n    RG_OP_COUNT = {len(rows)}\n}};",
            _list("RG_UNARY_OPS", by_arity[1]),
            _list("RG_BINARY_OPS", by_arity[2]),
            _list("RG_TERNARY_OPS", by_arity[3]),
            "/* Structural rows: those that values are made by, and those of recordings alone. */",
            _codes("RG_EAGER_ROWS", (row for row in rows_of_many if not row.recorded)),
            _codes("RG_RECORDED_ROWS", (row for row in rows_of_many if row.recorded)),
            "/* The rules on doubles; the vector kernels have rules of their own. */\n"
            "#ifndef RG_LISTS_ONLY",
            '#include "tuned.h"\n\n#define RG_RULE static inline RG_UNUSED',
            ABSENT,
            "\n\n".join(map(routine, ROUTINES.values())),
            "\n\n".join(functions(op) for op in rows),
            "\n".join(generic),
            "typedef struct {\n    const char *name;\n    const char *symbol;\n    int arity;\n"
            "    int defaults;\n    double default_value[2];\n    const char *inputs[3];\n"
            "    int absent; /* a bit an input: no partial is stated along it */\n"
            "    double (*eval)(const double *inputs);\n"
            "    void (*slopes)(const double *inputs, double z, double *partials);\n} RgOp;",
            f"static const RgOp RG_OPS[RG_OP_COUNT] RG_UNUSED = {{\n{table}\n}};",
            "#endif\n#endif\n",
        )
    )
