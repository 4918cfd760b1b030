"""What the tests of the law share: its expressions read in any number type, and what the numbers
of two engines may differ by.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from retrograde.ops import OPS, Op
from retrograde.ops.emit.python import on_floats
from retrograde.ops.expr import (
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
    calls,
    walk,
)
from retrograde.ops.op import PRIMITIVES, RESULT
from retrograde.ops.special import ROUTINES

COMPARISONS = {
    "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
ARITHMETIC = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "neg": operator.neg,
}  # fmt: skip
EXACT = frozenset({"add", "sub", "mul", "div", "neg", "sqrt", "abs", "floor", "fmod"})
"""The functions that IEEE 754 defines to the last bit."""


class NotStated(ArithmeticError):
    """A partial was needed that the law does not state."""


def evaluate(
    node: Expr | Condition,
    variables: Mapping[str, Any],
    call: Callable[..., Any],
    number: Callable[[float], Any] = float,
) -> Any:
    """An expression or condition in the number type of its variables.

    ``call(name, *args)`` applies a function; ``number`` brings in a number of the expression. In
    any type but float a rounded constant is what it stands for.
    """

    def read(part: Expr | Condition) -> Any:
        return evaluate(part, variables, call, number)

    if isinstance(node, Var):
        return variables[node.name]
    if isinstance(node, Absent):
        if number is not float:
            raise NotStated
        return math.nan
    if isinstance(node, Num):
        if node.exact is not None and number is not float:
            return read(node.exact)
        return number(node.value)
    if isinstance(node, Call):
        return call(node.name, *map(read, node.args))
    if isinstance(node, Where):
        return read(node.then) if read(node.condition) else read(node.otherwise)
    if isinstance(node, Compare):
        return COMPARISONS[node.symbol](read(node.left), read(node.right))
    if isinstance(node, Either):
        return read(node.left) or read(node.right)
    assert isinstance(node, Both)
    return read(node.left) and read(node.right)


def float_call(name: str, *args: float) -> float:
    """A function the law names, on floats."""
    if name in ARITHMETIC:
        return ARITHMETIC[name](*args)
    if name in PRIMITIVES or OPS[name].tuned:
        return on_floats(name)(*args)
    row = OPS[name]
    return evaluate(row.value, dict(zip(row.inputs, args)), float_call)


def distance_to_kink(op: Op, point: tuple[float, ...]) -> float:
    """How far the comparisons and steps of a row's value are from tipping over at a point."""
    variables = dict(zip(op.inputs, point))

    def read(node: Expr) -> float:
        return evaluate(node, variables, float_call)

    def distances() -> Iterator[float]:
        for node in walk(op.value):
            if isinstance(node, Compare) and node.left != node.right:
                yield abs(read(node.left) - read(node.right))
            elif isinstance(node, Call) and node.name == "abs":
                yield abs(read(node.args[0]))
            elif isinstance(node, Call) and node.name == "fmod":
                ratio = read(node.args[0]) / read(node.args[1])
                yield abs(ratio - round(ratio))
            elif isinstance(node, Call) and node.name == "floor":
                yield abs(read(node.args[0]) - round(read(node.args[0])))

    return min(distances(), default=math.inf)


def libm_calls(node: Expr | Condition, op: Op) -> int:
    """How many results of libm, whose last bits are its own, meet in an expression of a row."""
    if isinstance(node, Var):
        return libm_calls(op.value, op) if node.name == RESULT else 0
    if isinstance(node, Where):
        return max(libm_calls(node.then, op), libm_calls(node.otherwise, op))
    if isinstance(node, Call):
        inside = sum(libm_calls(arg, op) for arg in node.args)
        if node.name in ROUTINES:
            it = ROUTINES[node.name]
            steps = (*(step for _, step in it.steps), it.value)
            return inside + sum(libm_calls(step, op) for step in steps)
        if node.name in PRIMITIVES:
            return inside + (node.name not in EXACT)
        return inside + libm_calls(OPS[node.name].value, OPS[node.name])
    return 0


def is_exact(op: Op) -> bool:
    """Whether IEEE 754 defines a row's value and partials to the last bit."""
    return not any(libm_calls(node, op) for node in (op.value, *op.partials))


def orders() -> dict[str, float]:
    """How many times the law can differentiate each row: infinitely often, or up to a partial that
    it does not state."""
    found = {name: 0.0 if op.absent else math.inf for name, op in OPS.items()}
    for _ in OPS:
        for name, op in OPS.items():
            called = frozenset[str]().union(*map(calls, op.partials)) & OPS.keys()
            found[name] = min([found[name], *(found[other] + 1 for other in called)])
    return found


ORDERS = orders()
DIFFERENTIABLE = sorted(name for name, order in ORDERS.items() if order >= 1)
SMOOTH = sorted(name for name, order in ORDERS.items() if order >= 3)
"""Rows that can be differentiated once, and three times and more."""


def same_bits(left: float, right: float) -> bool:
    """The same number, zeros told apart; any NaN is the same as any other."""
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return struct.pack("d", left) == struct.pack("d", right)


def ulps_apart(left: float, right: float) -> float:
    """How many floats lie between two: 0 for equal ones, infinite where only one is NaN."""
    if math.isnan(left) or math.isnan(right):
        return 0 if math.isnan(left) and math.isnan(right) else math.inf

    def place(number: float) -> int:
        (bits,) = struct.unpack("q", struct.pack("d", number))
        return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)

    return abs(place(left) - place(right))
