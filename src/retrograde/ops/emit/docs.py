"""Print the law as one page of Markdown: every op, then the conventions at awkward points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..op import ULPS, Edge, Op
from ..structural import STRUCTURAL, Structural
from ..words import WORDS
from .latex import latex

MARK = "<!-- Generated from src/retrograde/ops/scalar.py by tools/regenerate.py: do not edit. -->"

PREFACE = """\
# The ops

Each op is one row of the law: its value $z$ as a function of its inputs, and one partial an input.
In a backward pass every input receives its partial times the upstream gradient. Every op is a
method of `Value` and a function of values or numbers; on numbers alone it gives a float."""

MANY = """\
## Ops of many values

Structural rows take as many values as there are. Tests hold them to what they stand for in rows of
the table above: value, partials and second derivatives."""

AWKWARD = """\
## Conventions at awkward points

At a kink, a pole or an infinity a choice has to be made. These are the choices, and tests hold both
cores to them. Arithmetic follows IEEE 754: nothing raises unless `rg.anomaly()` asks for it, and
a zero upstream gradient is multiplied like any other, so 0 × inf is NaN."""

DIGITS = """\
## Digits

Every value and every partial is within {usual} units in the last place of max(|f|, |x·f′|), where f
is that value or partial and x each of the inputs: about as much as rounding the inputs
may bring about, so a denormal input counts with the digits it has. This holds over the whole range,
down to the last denormal, eagerly on both cores and replayed at every SIMD level. Partials are
computed in forms that keep their digits; the table above shows the plain ones. These rows have
bounds of their own:"""

CURES = """\
## Keeping away from them

What an error under `rg.anomaly()` recommends."""


def page(ops: Iterable[Op], structural: Iterable[Structural] = STRUCTURAL.values()) -> str:
    """The whole page.

    >>> from retrograde.ops import OPS
    >>> page(OPS.values()).splitlines()[2]
    '# The ops'
    """
    rows = tuple(ops)
    table = _table(
        ("op", "value", "partials", "backward", "written"),
        [
            (
                f"`{op.name}`",
                _math(f"z = {latex(op.value)}"),
                _partials(op),
                _text(WORDS[op.kind]),
                ways(op),
            )
            for op in rows
        ],
    )
    many = _table(
        ("op", "value", "partials", "backward", "written"),
        [
            (
                f"`{row.name}`",
                _math(row.latex[0]),
                "<br>".join(
                    f"`{name}`: {_math(partial)}" for name, partial in zip("xy", row.latex[1:])
                ),
                _text(WORDS[row.kind]),
                f"`{row.written}`: {_text(row.why)}",
            )
            for row in structural
        ],
    )
    edges = _table(
        ("at", "value", "partials", "why"),
        [
            (
                f"`{op.name}({_numbers(edge.at)})`",
                f"`{edge.value:g}`",
                _slopes(op, edge),
                _text(edge.why),
            )
            for op in rows
            for edge in op.edges
        ],
    )
    cures = _table(("op", "cure"), [(f"`{op.name}`", _text(op.cure)) for op in rows if op.cure])
    bounds = _table(
        ("op", "units in the last place"),
        [(f"`{op.name}`", f"{op.ulps:g}") for op in rows if op.ulps != ULPS],
    )
    digits = DIGITS.format(usual=f"{ULPS:g}")
    pieces = (MARK, PREFACE, table, MANY, many, AWKWARD, edges, digits, bounds, CURES, cures)
    return "\n\n".join(pieces) + "\n"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _text(plain: str) -> str:
    """Prose inside a table: what Markdown would read as its own is escaped."""
    return plain.replace("|", r"\|").replace("*", r"\*")


def _math(formula: str) -> str:
    """A formula inside a table: the inner backquotes keep Markdown from reading it as its own."""
    return f"$`{formula}`$"


def _partials(op: Op) -> str:
    return "<br>".join(
        f"`{name}`: {_math(latex(partial))}" for name, partial in zip(op.inputs, op.shown)
    )


def ways(op: Op) -> str:
    """Every way to write it: operator, method, function."""
    required = op.arity - len(op.defaults)
    named = [
        *op.inputs[:required],
        *(f"{name}={default!r}" for name, default in zip(op.inputs[required:], op.defaults)),
    ]
    spelled = [
        f"{op.inputs[0]}.{op.name}({', '.join(named[1:])})",
        f"rg.{op.name}({', '.join(named)})",
    ]
    if op.spelled:
        spelled.insert(0, op.spelled)
    elif not op.symbol[0].isalpha():
        spelled.insert(0, _operator(op))
    return "<br>".join(f"`{way}`" for way in spelled)


def _operator(op: Op) -> str:
    """``x + y``; a symbol that names its own right side, as ``**2``, needs no second input."""
    if op.arity == 2:
        return f"{op.inputs[0]} {op.symbol} {op.inputs[1]}"
    sign = op.symbol.rstrip("-0123456789")
    return f"{op.inputs[0]} {sign} {op.symbol[len(sign) :]}"


def _numbers(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)


def _slopes(op: Op, edge: Edge) -> str:
    return "<br>".join(
        f"`{name}`: `{partial:g}`" for name, partial in zip(op.inputs, edge.partials)
    )
