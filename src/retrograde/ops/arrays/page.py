"""Print the array law as one page of Markdown: every row, its gradients, and what they say."""

from __future__ import annotations

from collections.abc import Mapping

from ..index import Statement
from ..scalar import OPS
from .adjoint import adjoint, renamed, saves
from .notation import term_text, text
from .row import AnyRow, Composed, Implicit, Row
from .words import words

MARK = "<!-- Generated from src/retrograde/ops/array.py by tools/regenerate.py: do not edit. -->"

PREFACE = """\
# The array rows

Each op on arrays is one row of the array law, in index notation; [its page](array-law.md) explains
how to read it. Letters are loops, and those that do not stand on the left are added up (`*=`:
multiplied). A row names the axes it is about; all others are carried along and broadcast. The
gradients are not written by hand: the one adjoint rule makes them from the row. `x'` is the
gradient of x, and `z'` the upstream gradient."""

ELEMENTWISE = """\
## Element by element

Every row of [the scalar law](ops.md) works on arrays, with broadcasting:"""

COMPOSED = """\
## Made of other rows

Gradients go through the steps. A row stands here, and not above, where no form of its own would
have more digits than its steps."""

IMPLICIT = """\
## Known by an equation

The equation is 0 at the right `s`. With u from the transposed linear system for the upstream
gradient, each operand receives minus u times the slope of the equation along it: the same
adjoint rule, on the equation."""

CHOICES = """\
## Whole numbers found by looking

They are flat: no gradient passes through them."""


def page(rows: Mapping[str, AnyRow], choices: Mapping[str, str]) -> str:
    """The whole page.

    >>> from ..array import ARRAYS, CHOICES
    >>> page(ARRAYS, CHOICES).splitlines()[2]
    '# The array rows'
    """
    stated = [row for row in rows.values() if isinstance(row, Row) and row.name not in OPS]
    parts = [MARK, PREFACE, *(_section(row, rows) for row in stated)]
    names = ", ".join(f"`{name}`" for name in rows if name in OPS)
    parts += [ELEMENTWISE, _code(["z[i] = op(x[i], y[i])", "x'[i] = z'[i] * d op / d x"]), names]
    composed = [row for row in rows.values() if isinstance(row, Composed)]
    lines = ["| row | why | in words |", "|---|---|---|"]
    lines += [f"| `{row.name}` | {row.why} | {words(row, rows)[0]} |" for row in composed]
    parts += [COMPOSED, "\n".join(lines), IMPLICIT]
    parts += [_implicit(row, rows) for row in rows.values() if isinstance(row, Implicit)]
    parts += [CHOICES, "\n".join(f"- `{name}`: {said}" for name, said in choices.items())]
    return "\n\n".join(parts) + "\n"


def gradients(row: Row) -> list[str]:
    """The adjoint of each operand as a line of the notation, with x' for the gradient of x."""
    statement = row.state(row.example.shapes, **row.example.arguments)
    lines = []
    for operand in statement.reads:
        back = adjoint(statement, operand, row.example.shapes[operand])
        named = {back.upstream: "z'", back.own: "z"}
        for name, first in back.others:
            lines += [_line(first, name)]
        lines += [_line(renamed(back.statement, named), f"{operand}'")]
    return [line for part in lines for line in part.splitlines()]


def _section(row: Row, rows: Mapping[str, AnyRow]) -> str:
    shapes = ", ".join(f"{name} {shape}" for name, shape in row.example.shapes.items())
    given = ", ".join(f"{name}={_said(it)}" for name, it in row.example.arguments.items())
    statement = row.state(row.example.shapes, **row.example.arguments)
    kept = ", ".join(f"`{name}`" for name in saves(statement)) or "nothing"
    chosen = [f"{', '.join(it.names)} = {it.by}({it.array})" for it in statement.chosen]
    example = text(statement).splitlines()
    lines = [f"## {row.name}"]
    if row.template is not None and (general := text(row.template).splitlines()) != example:
        lines += [_code(general), f"For {shapes}{', ' + given if given else ''}:"]
    else:
        lines += [f"For {shapes}{', ' + given if given else ''}:"]
    lines += [_code([*example, *chosen, *gradients(row)])]
    said = words(row, rows)
    lines += ["\n".join(f"- {sentence}" for sentence in said)]
    why = f" {row.why[0].upper()}{row.why[1:]}." if row.why else ""
    lines += [f"Kept for backward: {kept}.{why}"]
    return "\n\n".join(lines)


def _implicit(row: Implicit, rows: Mapping[str, AnyRow]) -> str:
    said = "\n".join(f"- {sentence}" for sentence in words(row, rows))
    why = f"{row.why[0].upper()}{row.why[1:]}."
    return (
        f"### {row.name}\n\n{why}\n\n{_code(text(row.equation.statement).splitlines())}\n\n{said}"
    )


def _line(statement: Statement, to: str) -> str:
    """A statement under the name of what it makes."""
    lines = (term_text(term, statement.how) for term in statement.terms)
    return "\n".join(to + line.removeprefix("z") for line in lines)


def _said(argument: object) -> str:
    if isinstance(argument, slice):
        parts = [argument.start, argument.stop, *([argument.step] if argument.step else [])]
        return ":".join("" if part is None else str(part) for part in parts)
    if isinstance(argument, tuple) and argument and isinstance(argument[0], str):
        return argument[0]  # an array of whole numbers in a key
    if isinstance(argument, tuple) and any(isinstance(it, (slice, tuple)) for it in argument):
        return f"[{', '.join(map(_said, argument))}]"
    return str(argument) if not isinstance(argument, str) else f"'{argument}'"


def _code(lines: list[str]) -> str:
    return "\n".join(["```text", *lines, "```"])
