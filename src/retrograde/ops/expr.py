"""A small symbolic language in which the law states values and partials.

An expression is a variable, a number, a call, a comparison of two expressions, or a
combination of such conditions. Expressions are frozen data: they are built by ordinary
arithmetic on ``x`` and ``y``, and read by ``fold``, the one walker, on which all printers stand.
Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar, Union

Operand = Union["Expr", float, int]
T = TypeVar("T")


class Expr:
    """Anything that has a value when its variables have values."""

    __slots__ = ()

    def __add__(self, other: Operand) -> Call:
        return Call("add", (self, as_expr(other)))

    def __radd__(self, other: Operand) -> Call:
        return Call("add", (as_expr(other), self))

    def __sub__(self, other: Operand) -> Call:
        return Call("sub", (self, as_expr(other)))

    def __rsub__(self, other: Operand) -> Call:
        return Call("sub", (as_expr(other), self))

    def __mul__(self, other: Operand) -> Call:
        return Call("mul", (self, as_expr(other)))

    def __rmul__(self, other: Operand) -> Call:
        return Call("mul", (as_expr(other), self))

    def __truediv__(self, other: Operand) -> Call:
        return Call("div", (self, as_expr(other)))

    def __rtruediv__(self, other: Operand) -> Call:
        return Call("div", (as_expr(other), self))

    def __neg__(self) -> Call:
        return Call("neg", (self,))

    def __le__(self, other: Operand) -> Compare:
        return Compare("<=", self, as_expr(other))

    def __lt__(self, other: Operand) -> Compare:
        return Compare("<", self, as_expr(other))

    def __ge__(self, other: Operand) -> Compare:
        return Compare(">=", self, as_expr(other))

    def __gt__(self, other: Operand) -> Compare:
        return Compare(">", self, as_expr(other))


@dataclass(frozen=True)
class Var(Expr):
    """An input of the op, or ``z``, its result."""

    name: str


@dataclass(frozen=True)
class Num(Expr):
    """A number. ``latex`` is how a page shows it when digits would hide what it is.

    ``exact`` is what a rounded number stands for, as an expression: ln 2 is ``log(2)``.
    """

    value: float
    latex: str = ""
    exact: Expr | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", float(self.value))


@dataclass(frozen=True)
class Call(Expr):
    """A named function of expressions: a primitive, or an op further up in the table."""

    name: str
    args: tuple[Expr, ...]


@dataclass(frozen=True)
class Absent(Expr):
    """In place of a partial that the law does not state: a number that nobody knows."""


class Condition:
    """Anything that is true or false when its variables have values."""

    __slots__ = ()

    def __or__(self, other: Condition) -> Either:
        return Either(self, other)

    def __and__(self, other: Condition) -> Both:
        return Both(self, other)


@dataclass(frozen=True)
class Compare(Condition):
    """``left symbol right``, as IEEE compares: false when either is NaN, except ``!=``."""

    symbol: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Either(Condition):
    """True when at least one side is."""

    left: Condition
    right: Condition


@dataclass(frozen=True)
class Both(Condition):
    """True when both sides are."""

    left: Condition
    right: Condition


@dataclass(frozen=True)
class Where(Expr):
    """``then`` where the condition holds, ``otherwise`` elsewhere."""

    condition: Condition
    then: Expr
    otherwise: Expr


def as_expr(operand: Operand) -> Expr:
    """Let numbers stand in formulas: ``1 - z`` needs no ``Num(1) - z``."""
    return operand if isinstance(operand, Expr) else Num(float(operand))


def where(condition: Condition, then: Operand, otherwise: Operand) -> Where:
    """Choose by a condition."""
    return Where(condition, as_expr(then), as_expr(otherwise))


def equal(left: Operand, right: Operand) -> Compare:
    """``left == right`` (a function, because ``==`` compares expressions as data)."""
    return Compare("==", as_expr(left), as_expr(right))


def unequal(left: Operand, right: Operand) -> Compare:
    """``left != right``; ``unequal(x, x)`` asks whether x is NaN."""
    return Compare("!=", as_expr(left), as_expr(right))


def function(name: str) -> Callable[..., Call]:
    """The spelling of a named function in formulas: ``exp = function("exp")``."""

    def call(*operands: Operand) -> Call:
        return Call(name, tuple(as_expr(operand) for operand in operands))

    call.__name__ = name
    return call


def _sides(node: Any) -> tuple[Expr | Condition, ...]:
    return (node.left, node.right)


_PARTS: Final[Mapping[type, Callable[[Any], tuple[Expr | Condition, ...]]]] = {
    Call: lambda node: node.args,
    Where: lambda node: (node.condition, node.then, node.otherwise),
    Compare: _sides, Either: _sides, Both: _sides,
}  # fmt: skip


def parts(node: Expr | Condition) -> tuple[Expr | Condition, ...]:
    """What a node of the language is made of, left to right."""
    found = _PARTS.get(type(node))
    return found(node) if found else ()


def walk(node: Expr | Condition) -> Iterator[Expr | Condition]:
    """Every node of an expression, itself included."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(parts(current)))


Rules = Mapping[type, Callable[[Any, Callable[["Expr | Condition"], T]], T]]
"""By class of node: what becomes of one, given what became of those under it."""


def fold(node: Expr | Condition, rules: Rules[T], into: str) -> T:
    """Turn an expression into something else, from its leaves up; ``into`` names what, for errors.

    A rule is given the node and a function that tells what became of any node under it. Parts are
    turned left to right, and a part that stands in several places once.

    >>> depth = {Var: lambda node, of: 1, Call: lambda node, of: 1 + max(map(of, node.args))}
    >>> fold(Var("x") * -Var("y"), depth, "a depth")
    3
    """
    made: dict[int, T] = {}

    def of(part: Expr | Condition) -> T:
        return made[id(part)]

    pending = [node]
    while pending:
        current = pending[-1]
        missing = [part for part in parts(current) if id(part) not in made]
        if missing and id(current) not in made:
            pending.extend(reversed(missing))
            continue
        pending.pop()
        if id(current) not in made:
            rule = rules.get(type(current))
            if rule is None:
                raise TypeError(f"no {into} for {type(current).__name__}")
            made[id(current)] = rule(current, of)
    return made[id(node)]


def variables(node: Expr) -> frozenset[str]:
    """The names of the variables an expression reads."""
    found, pending = set(), [node]
    while pending:  # as walk does, at half its price: every row is asked when the law is loaded
        current = pending.pop()
        if type(current) is Var:
            found.add(current.name)
        else:
            pending.extend(parts(current))  # type: ignore[arg-type]
    return frozenset(found)


def calls(node: Expr) -> frozenset[str]:
    """The names of the functions an expression calls."""
    return frozenset(part.name for part in walk(node) if isinstance(part, Call))
