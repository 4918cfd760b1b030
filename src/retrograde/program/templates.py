"""The law's partials as templates: lists of rows that the adjoint writes out on its own ids."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Union

from ..ops import OPS
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
    fold,
    parts,
)
from ..ops.routine import Routine
from ..ops.special import ROUTINES

# A template is a list of steps (op, operands) and where its result is. An operand is a variable's
# name, a float, or the index of an earlier step.
Operand = Union[str, float, int]  # noqa: UP007
Of = Callable[["Expr | Condition"], Operand]
Template = tuple[tuple[tuple[str, tuple[Operand, ...]], ...], Operand]


@cache
def templates(name: str) -> tuple[Template | None, ...]:
    """The partials of a row as templates; None for one that is not stated."""
    return tuple(
        None if isinstance(partial, Absent) else _template(partial)
        for partial in OPS[name].partials
    )


def _template(expression: Expr) -> Template:
    steps: list[tuple[str, tuple[Operand, ...]]] = []

    def emit(op: str, *operands: Operand) -> int:
        steps.append((op, operands))
        return len(steps) - 1

    def compared(node: Compare, of: Of) -> Operand:
        left, right = of(node.left), of(node.right)
        if node.symbol in (">", ">="):
            left, right = right, left
        if node.symbol in ("==", "!="):
            holds = emit("equal", left, right)
            return holds if node.symbol == "==" else emit("sub", 1.0, holds)
        return emit("less" if node.symbol in ("<", ">") else "less_equal", left, right)

    known: list[dict[str, Operand]] = [{}]  # of each routine being spelled out: its names

    def called(it: Routine, *operands: Operand) -> Operand:
        known.append(dict(zip(it.inputs, operands)))
        for name, step in it.steps:
            known[-1][name] = visit(step)
        value = visit(it.value)
        known.pop()
        return value

    def visit(node: Expr | Condition) -> Operand:
        return fold(node, rules, "template")

    def call(node: Call, of: Of) -> Operand:
        operands = [of(arg) for arg in node.args]
        if node.name in ROUTINES:
            return called(ROUTINES[node.name], *operands)
        return emit(node.name, *operands)

    rules: Rules[Operand] = {
        Var: lambda node, of: known[-1].get(node.name, node.name),
        Num: lambda node, of: node.value,
        Call: call,
        Where: lambda node, of: emit("where", *map(of, parts(node))),
        Compare: lambda node, of: emit("stop", compared(node, of)),  # it has no gradient
        Either: lambda node, of: emit("maximum", *map(of, parts(node))),
        Both: lambda node, of: emit("mul", *map(of, parts(node))),
    }
    where = visit(expression)
    return tuple(steps), where
