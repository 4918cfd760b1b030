"""Bodies as Python functions, in any arithmetic: floats for the oracle, arrays for an evaluator.

Every distinct part of a body is one line, so that what it shares is computed once. An arithmetic
is the functions it is made of; rows and routines it does not name are spelled out in those.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..emit import ieee
from ..expr import (
    Absent,
    Both,
    Call,
    Compare,
    Condition,
    Either,
    Expr,
    Num,
    Var,
    Where,
)
from ..scalar import OPS
from .slopes import routine

KEPT = 4096
"""How many compiled bodies are kept."""

INFIX = {"add": "+", "sub": "-", "mul": "*"}


class Arithmetic:
    """Functions of one number type, by the names the law calls them by.

    >>> x, y = Var("x"), Var("y")
    >>> FLOATS.body(x * y + 1, [x, y])(2.0, 3.0)
    7.0
    """

    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        self._functions = dict(functions)
        self._bodies: dict[int, tuple[Expr, tuple[Expr, ...], Callable[..., Any]]] = {}

    def function(self, name: str) -> Callable[..., Any]:
        """A function by its name: given, a row of the law, or a routine."""
        if name not in self._functions:
            if name in OPS:
                row = OPS[name]
                made = self.body(row.value, tuple(map(Var, row.inputs)))
            else:
                it = routine(name)
                made = self._compiled(it.inputs, (*it.steps, ("result", it.value)), name)
            self._functions[name] = made
        return self._functions[name]

    def body(self, body: Expr, leaves: Sequence[Expr]) -> Callable[..., Any]:
        """An expression as a function of its leaves."""
        known = self._bodies.get(id(body))
        if known is not None and known[1] == tuple(leaves):
            return known[2]
        names = {leaf: f"v{number}" for number, leaf in enumerate(leaves)}
        made = self._compiled(tuple(names.values()), (("result", body),), "body", names)
        if len(self._bodies) >= KEPT:
            self._bodies.clear()
        self._bodies[id(body)] = (
            body,
            tuple(leaves),
            made,
        )  # kept with it, so its id stays its own
        return made

    def _compiled(
        self,
        inputs: Sequence[str],
        steps: Sequence[tuple[str, Expr]],
        name: str,
        leaves: Mapping[Expr, str] | None = None,
    ) -> Callable[..., Any]:
        lines = Lines(leaves or {})
        for step, expression in steps:
            lines.text.append(f"{step} = {lines.of(expression)}")
        scope = {called: self.function(called) for called in lines.called}
        code = "\n    ".join([f"def made({', '.join(inputs)}):", *lines.text, "return result"])
        exec(compile(code, f"<law: {name}>", "exec"), scope)
        made: Callable[..., Any] = scope["made"]
        return made


_INNER = (Condition, Call, Where, Num, Absent)


class Lines:
    """The lines of a body, one for each part that is not there yet."""

    def __init__(self, leaves: Mapping[Expr, str]) -> None:
        self.text: list[str] = []
        self.called: set[str] = set()
        self._leaves = leaves
        self._seen: dict[int, tuple[str, Expr | Condition]] = {}
        self._made: dict[str, str] = {}

    def of(self, node: Expr | Condition) -> str:
        """The name of what stands for a part, made where it is new."""
        if id(node) not in self._seen:
            self._seen[id(node)] = (self._name(node), node)  # the node is kept: ids are reused
        return self._seen[id(node)][0]

    def _name(self, node: Expr | Condition) -> str:
        if not isinstance(node, _INNER) and node in self._leaves:  # inner parts may be huge
            return self._leaves[node]
        if isinstance(node, Var):
            return node.name
        if isinstance(node, Num):
            return f"({node.value!r})" if abs(node.value) < ieee.inf else f'float("{node.value}")'
        if isinstance(node, Absent):
            return 'float("nan")'
        text = self._spelled(node)
        if text not in self._made:
            self._made[text] = f"p{len(self._made)}"
            self.text.append(f"{self._made[text]} = {text}")
        return self._made[text]

    def _spelled(self, node: Expr | Condition) -> str:
        if isinstance(node, Call):
            args = [self.of(arg) for arg in node.args]
            if node.name in INFIX:
                return f"{args[0]} {INFIX[node.name]} {args[1]}"
            if node.name == "neg":
                return f"-{args[0]}"
            self.called.add(node.name)
            return f"{node.name}({', '.join(args)})"
        if isinstance(node, Where):
            parts = (node.condition, node.then, node.otherwise)
            self.called.add("where")
            return f"where({', '.join(self.of(part) for part in parts)})"
        if isinstance(node, Compare):
            return f"{self.of(node.left)} {node.symbol} {self.of(node.right)}"
        if isinstance(node, (Both, Either)):
            sign = "&" if isinstance(node, Both) else "|"
            return f"{self.of(node.left)} {sign} {self.of(node.right)}"
        raise TypeError(f"no Python for {type(node).__name__}")


def _where(condition: bool, then: float, otherwise: float) -> float:
    return then if condition else otherwise


FLOATS = Arithmetic(
    {
        **{name: f for name, f in vars(ieee).items() if callable(f) and not name.startswith("_")},
        "where": _where,
    }
)
"""Plain floats with the bits of the reference core."""
