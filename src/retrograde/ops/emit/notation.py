"""Notations: how a language that computes writes the nodes of an expression, as templates.

C, Python, JavaScript and lanes differ in their words and not in how they are built up, so each of
them is one ``Notation``. What is laid out for people (LaTeX, cards) folds expressions by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from ..expr import (
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
)

Node = Expr | Condition
Of = Callable[[Node], str]

ARITHMETIC = MappingProxyType({"add": "({} + {})", "sub": "({} - {})", "mul": "({} * {})"})
SIGN = MappingProxyType({"neg": "(-{})"})
COMPARISONS = MappingProxyType({sign: f"({{}} {sign} {{}})" for sign in "< <= > >= == !=".split()})


@dataclass(frozen=True, eq=False)
class Notation:
    """A language. Templates take the parts of a node, left to right.

    ``calls`` are those it has signs for; ``function`` names all others.
    """

    language: str
    number: Callable[[float], str]
    function: Callable[[str], str]
    where: str
    either: str
    both: str
    calls: Mapping[str, str] = field(default_factory=lambda: {**ARITHMETIC, **SIGN})
    comparisons: Mapping[str, str] = field(default_factory=lambda: COMPARISONS)
    absent: str = ""

    def __call__(self, node: Node) -> str:
        """An expression or condition in this language."""
        return fold(node, self._rules, self.language)

    @cached_property
    def _rules(self) -> Rules[str]:
        rules: dict[type, Callable[..., str]] = {
            Var: lambda node, of: node.name,
            Num: lambda node, of: self.number(node.value),
            Call: self._call,
            Where: lambda node, of: self.where.format(
                of(node.condition), of(node.then), of(node.otherwise)
            ),
            Compare: lambda node, of: self.comparisons[node.symbol].format(
                of(node.left), of(node.right)
            ),
            Either: lambda node, of: self.either.format(of(node.left), of(node.right)),
            Both: lambda node, of: self.both.format(of(node.left), of(node.right)),
        }
        if self.absent:
            rules[Absent] = lambda node, of: self.absent
        return rules

    def _call(self, node: Call, of: Of) -> str:
        args = [of(arg) for arg in node.args]
        if node.name in self.calls:
            return self.calls[node.name].format(*args)
        return f"{self.function(node.name)}({', '.join(args)})"
