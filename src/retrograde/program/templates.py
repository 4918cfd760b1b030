"""The law's partials as templates: lists of rows that the adjoint writes out on its own ids."""

from __future__ import annotations

from functools import cache
from typing import Union

from ..ops import OPS
from ..ops.expr import Absent, Both, Call, Compare, Condition, Either, Expr, Num, Var, Where
from ..ops.routine import Routine
from ..ops.special import ROUTINES

# A template is a list of steps (op, operands) and where its result is. An operand is a variable's
# name, a float, or the index of an earlier step.
Operand = Union[str, float, int]  # noqa: UP007
Template = tuple[tuple[tuple[str, tuple[Operand, ...]], ...], Operand]


@cache
def templates(name: str) -> tuple[Template | None, ...]:
    """The partials of a row as templates; None for one that is not stated."""
    return tuple(
        None if isinstance(partial, Absent) else _Spelled().template(partial)
        for partial in OPS[name].partials
    )


class _Spelled:
    """An expression of the law spelled out in rows."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, tuple[Operand, ...]]] = []
        self.known: list[dict[str, Operand]] = [{}]  # of each routine being spelled out: its names

    def template(self, expression: Expr) -> Template:
        """The steps, and where the result of the expression is among them."""
        where = self.visit(expression)
        return tuple(self.steps), where

    def emit(self, op: str, *operands: Operand) -> int:
        self.steps.append((op, operands))
        return len(self.steps) - 1

    def visit(self, node: Expr | Condition) -> Operand:
        if isinstance(node, Var):
            return self.known[-1].get(node.name, node.name)
        if isinstance(node, Num):
            return node.value
        if isinstance(node, Call):
            operands = [self.visit(arg) for arg in node.args]
            if node.name in ROUTINES:
                return self.called(ROUTINES[node.name], *operands)
            return self.emit(node.name, *operands)
        if isinstance(node, Where):
            parts = (node.condition, node.then, node.otherwise)
            return self.emit("where", *[self.visit(part) for part in parts])
        if isinstance(node, Compare):
            return self.emit("stop", self.compared(node))  # a condition has no gradient
        if isinstance(node, Either):
            return self.emit("maximum", self.visit(node.left), self.visit(node.right))
        if isinstance(node, Both):
            return self.emit("mul", self.visit(node.left), self.visit(node.right))
        raise TypeError(f"no template for {type(node).__name__}")

    def compared(self, node: Compare) -> Operand:
        left, right = self.visit(node.left), self.visit(node.right)
        if node.symbol in (">", ">="):
            left, right = right, left
        if node.symbol in ("==", "!="):
            holds = self.emit("equal", left, right)
            return holds if node.symbol == "==" else self.emit("sub", 1.0, holds)
        return self.emit("less" if node.symbol in ("<", ">") else "less_equal", left, right)

    def called(self, it: Routine, *operands: Operand) -> Operand:
        self.known.append(dict(zip(it.inputs, operands)))
        for name, step in it.steps:
            self.known[-1][name] = self.visit(step)
        value = self.visit(it.value)
        self.known.pop()
        return value
