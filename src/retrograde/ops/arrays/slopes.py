"""The derivative of a body, from the partials of the scalar law.

A body that does not depend on a reference has no slope along it (None); one whose row states the
partial 0 has the slope 0, which is multiplied like any other. Routines that are no rows are
differentiated through their steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

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
from ..routine import Routine
from ..scalar import OPS
from ..special import ROUTINES

MARK = "_slope_"
"""Between the name of a routine and the number of the input it is differentiated by."""


def slope(body: Expr, leaf: Expr) -> Expr | None:
    """How fast a body changes with one of its references or variables.

    >>> from ..expr import function
    >>> x, y = Var("x"), Var("y")
    >>> slope(x * y, x), slope(function("floor")(x), x), slope(x, y)
    (Var(name='y'), Num(value=0.0, latex='', exact=None), None)
    """
    return tangent(body, lambda node: Num(1.0) if node == leaf else None)


def tangent(body: Expr, of: Callable[[Expr], Expr | None]) -> Expr | None:
    """How fast a body changes when each leaf changes as fast as ``of`` says (None: not at all)."""
    known: dict[int, Expr | None] = {}  # by identity: bodies share their parts

    def rate(node: Expr) -> Expr | None:
        if id(node) not in known:
            known[id(node)] = made(node)
        return known[id(node)]

    def made(node: Expr) -> Expr | None:
        if isinstance(node, Where):
            then, otherwise = rate(node.then), rate(node.otherwise)
            if then is None and otherwise is None:
                return None
            return _chosen(node.condition, then or Num(0.0), otherwise or Num(0.0))
        if not isinstance(node, Call):
            return of(node)
        total: Expr | None = None
        for number, arg in enumerate(node.args):
            inner = rate(arg)
            if inner is not None:
                part = times(_partial(node, number), inner)
                total = part if total is None else plus(total, part)
        return total

    return rate(body)


def substituted(node: Expr, values: Mapping[str, Expr]) -> Expr:
    """An expression with its variables replaced; what it shares stays shared."""
    done: dict[int, Expr] = {}

    def new(node: Expr) -> Expr:
        if id(node) not in done:
            done[id(node)] = made(node)
        return done[id(node)]

    def made(node: Expr) -> Expr:
        if isinstance(node, Var):
            return values[node.name]
        if isinstance(node, Call):
            return Call(node.name, tuple(map(new, node.args)))
        if isinstance(node, Where):
            return Where(condition(node.condition), new(node.then), new(node.otherwise))
        return node

    def condition(node: Condition) -> Condition:
        if isinstance(node, Compare):
            return Compare(node.symbol, new(node.left), new(node.right))
        assert isinstance(node, (Both, Either))
        return type(node)(condition(node.left), condition(node.right))

    return new(node)


def routine(name: str) -> Routine:
    """A routine of the law, or the derivative of one by the number of an input."""
    base, mark, number = name.rpartition(MARK)
    return _derivative(base, int(number)) if mark else ROUTINES[name]


def times(left: Expr, right: Expr) -> Expr:
    """A product; what a factor of 1 or -1 does not change is not written down."""
    for one, other in ((left, right), (right, left)):
        if one == Num(1.0):
            return other
    for one, other in ((left, right), (right, left)):
        if one == Num(-1.0):
            return Call("neg", (other,))
    return Call("mul", (left, right))


def plus(left: Expr, right: Expr) -> Expr:
    """A sum."""
    return Call("add", (left, right))


def _chosen(condition: Condition, then: Expr, otherwise: Expr) -> Expr:
    nothing = Num(0.0)
    return nothing if then == nothing == otherwise else Where(condition, then, otherwise)


def _partial(call: Call, number: int) -> Expr:
    """The partial of one call, in terms of what it is called with."""
    if call.name not in OPS:
        return Call(f"{call.name}{MARK}{number}", call.args)
    row = OPS[call.name]
    partial = row.partials[number]
    if isinstance(partial, Absent):
        raise ValueError(f"the law states no slope of {row.name} along {row.inputs[number]}")
    return substituted(partial, {**dict(zip(row.inputs, call.args)), "z": call})


@cache
def _derivative(name: str, number: int) -> Routine:
    """The routine that is the derivative of another: its steps, each with its rate of change."""
    base = routine(name)
    rates: dict[str, Expr | None] = dict.fromkeys(base.inputs)
    rates[base.inputs[number]] = Num(1.0)
    steps: list[tuple[str, Expr]] = []
    order = name.count(MARK) + 1

    def of(node: Expr) -> Expr | None:
        return rates[node.name] if isinstance(node, Var) else None

    for step, expression in base.steps:
        steps.append((step, expression))
        rate = tangent(expression, of)
        if rate is not None:
            steps.append((f"d{order}_{len(steps)}", rate))
            rate = Var(steps[-1][0])
        rates[step] = rate
    value = tangent(base.value, of) or Num(0.0)
    inputs = ", ".join(f"#{place}" for place in range(1, len(base.inputs) + 1))
    written = rf"\partial_{number + 1} {base.latex}" if "#" not in base.latex else (
        rf"\partial_{number + 1}\operatorname{{{name}}}({inputs})".replace("_", r"\_")
    )  # fmt: skip
    return Routine(f"{name}{MARK}{number}", base.inputs, tuple(steps), value, written)
