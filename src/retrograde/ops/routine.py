"""Routines: functions of numbers that no libm has, spelled out in the law's own language.

A routine is a list of named steps and a result. The printers turn it into C, lanes, Python and
JavaScript, so it is written once and every core computes the same; where a partial calls one, its
steps are differentiated like any formula. Both sides of a choice are computed, so the side that is
not taken must stay finite wherever a routine is to be differentiated.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature

from .expr import Call, Expr, Operand, Var, as_expr, calls, function, variables, where

BIGGEST = sys.float_info.max
"""Beyond it there is only infinity."""


@dataclass(frozen=True, eq=False)
class Routine:
    """A named function: its inputs, its steps in order, and its value in terms of both.

    ``latex`` is how a page writes it: a name, or a formula of its inputs ``#1`` and ``#2``.
    """

    name: str
    inputs: tuple[str, ...]
    steps: tuple[tuple[str, Expr], ...]
    value: Expr
    latex: str

    def __post_init__(self) -> None:
        known = set(self.inputs)
        for name, expression in (*self.steps, ("", self.value)):
            if unknown := variables(expression) - known:
                raise ValueError(f"routine {self.name!r} reads {sorted(unknown)} before it is made")
            known.add(name)

    def __call__(self, *operands: Operand) -> Call:
        """A call of it in a formula."""
        return Call(self.name, tuple(as_expr(operand) for operand in operands))

    @property
    def calls(self) -> frozenset[str]:
        """The functions it calls."""
        return calls(self.value).union(*(calls(expression) for _, expression in self.steps))


class Steps:
    """Makes steps: ``let(expression)`` names one, and what it gives back stands for it."""

    def __init__(self) -> None:
        self.made: list[tuple[str, Expr]] = []

    def __call__(self, expression: Operand) -> Var:
        """Make one more step."""
        self.made.append((f"s{len(self.made) + 1}", as_expr(expression)))
        return Var(self.made[-1][0])

    def read_by(self, value: Expr) -> tuple[tuple[str, Expr], ...]:
        """The steps that the value needs."""
        read, kept = set(variables(value)), []
        for name, expression in reversed(self.made):
            if name in read:
                read |= variables(expression)
                kept.append((name, expression))
        return tuple(reversed(kept))


def routine(latex: str) -> Callable[[Callable[..., Expr]], Routine]:
    """Make a routine of a function of ``let`` and its inputs that gives back its value."""

    def make(function: Callable[..., Expr]) -> Routine:
        let = Steps()
        _, *inputs = signature(function).parameters
        value = function(let, *map(Var, inputs))
        return Routine(function.__name__, tuple(inputs), let.read_by(value), value, latex)

    return make


def polynomial(at: Expr, coefficients: Sequence[float]) -> Expr:
    """A polynomial by Horner's rule; the coefficients from the lowest power on."""
    *rest, result = map(as_expr, coefficients)
    for coefficient in reversed(rest):
        result = coefficient + at * result
    return result


def product(let: Steps, x: Expr, y: Expr) -> tuple[Var, Var]:
    """x * y as a sum of two numbers, without error: by Dekker, where nothing overflows."""
    high = let(x * y)
    (x_high, x_low), (y_high, y_low) = _halves(let, x), _halves(let, y)
    low = let(((x_high * y_high - high) + x_high * y_low + x_low * y_high) + x_low * y_low)
    return high, low


def _halves(let: Steps, x: Expr) -> tuple[Var, Var]:
    shifted = let(x * 134217729.0)
    high = let(shifted - (shifted - x))
    return high, let(x - high)


def turned(let: Steps, x: Expr) -> tuple[Expr, Expr]:
    """How far x is from the nearest whole number, and the sign of cos(πx) at that number."""
    floor = function("floor")
    below = let(floor(x))
    nearest = let(where(let(x - below) > 0.5, below + 1, below))
    return let(x - nearest), let(1 - 2 * (nearest - 2 * floor(0.5 * nearest)))
