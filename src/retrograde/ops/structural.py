"""Structural rows: ops of as many values as there are, stated once like the rows of the table.

A row says what it adds up or chooses, the partial of each operand, its words, and how it expands
into rows of the table, to which tests hold every core. The cores compute them by hand-written loops
(``native/wide.c``, ``native/kernels``); everything else asks the row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from .expr import Expr, Num, Var, equal, where
from .words import WORDS

Step = tuple[str, tuple["int | float", ...]]
"""A row of the table and its operands: the place of an operand or of an earlier step, or a number.

Operands have the places from 0 on, steps those after them.
"""


def operand(place: int) -> Var:
    """The operand at a place, in the formulas of a structural row."""
    return Var(f"x{place}")


@dataclass(frozen=True, eq=False)
class Structural:
    """One structural row. Operands are ``sides`` lists of the same length, one after another.

    One that ``chooses`` has one list, and after it an operand that says which item it is.
    ``recorded`` ones are made while a function is recorded only; eagerly, the choice is made at
    once. ``latex`` is the value as an equation, and the partial along each list; ``written`` is how
    Python writes it, ``why`` what it is for.

    >>> DOT.evaluate([1.0, 2.0, 3.0, 4.0]), DOT.slopes([1.0, 2.0, 3.0, 4.0])
    (11.0, [3.0, 4.0, 1.0, 2.0])
    >>> TAKE.evaluate([10.0, 20.0, 30.0, 1.0]), TAKE.slopes([10.0, 20.0, 30.0, 1.0])
    (20.0, [0.0, 1.0, 0.0, 0.0])
    """

    name: str
    kind: str
    sides: int
    latex: tuple[str, ...]
    written: str
    why: str
    chooses: bool = False
    recorded: bool = False
    noun: str = ""

    def __post_init__(self) -> None:
        if self.kind not in WORDS:
            raise ValueError(f"{self.name!r}: kind {self.kind!r} has no sentence in words.py")
        if not self.noun:
            object.__setattr__(self, "noun", self.name)

    # ---- its operands ---------------------------------------------------------------------------

    @property
    def least(self) -> int:
        """The fewest operands it has in a program."""
        return self.sides + self.chooses

    def fits(self, count: int) -> bool:
        """Whether it can have so many operands."""
        return (count - self.chooses) % self.sides == 0

    def items(self, operands: Sequence[Any]) -> Sequence[Any]:
        """The operands that a gradient may go to: all but the one that only chooses."""
        return operands[:-1] if self.chooses else operands

    def lists(self, operands: Sequence[Any]) -> list[Sequence[Any]]:
        """The items as the lists they are."""
        items = self.items(operands)
        length = len(items) // self.sides
        return [items[side * length : (side + 1) * length] for side in range(self.sides)]

    # ---- its value ------------------------------------------------------------------------------

    def terms(self, operands: Sequence[Any]) -> list[Any]:
        """What it adds up, in order: items, or products of one item of each list."""
        first, *others = self.lists(operands)
        terms = list(first)
        for other in others:
            terms = [term * item for term, item in zip(terms, other)]
        return terms

    def chosen(self, operands: Sequence[Any]) -> int:
        """Which item it takes: an index out of range takes the nearest."""
        return min(max(int(operands[-1]), 0), len(operands) - 2)

    def evaluate(self, operands: Sequence[Any]) -> Any:
        """Its value on anything that is added and multiplied; 0 of nothing."""
        if self.chooses:
            return operands[self.chosen(operands)]
        terms = self.terms(operands)
        if not terms:
            return 0.0
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    # ---- its partials ---------------------------------------------------------------------------

    def partners(self, count: int) -> Sequence[int | None]:
        """By operand: the place of the one that is its partial; None where that is 1."""
        return [None] * count if self.sides == 1 else self.slopes(range(count))

    def partial(self, place: int, count: int) -> Expr:
        """The partial of the operand at a place among ``count``, of ``operand(0)`` and so on.

        >>> SUM.partial(2, 5), DOT.partial(1, 6)
        (Num(value=1.0, latex='', exact=None), Var(name='x4'))
        """
        if self.chooses:
            taken = equal(operand(count - 1), place)
            return where(taken, 1, 0) if place < count - 1 else Num(0)
        partner = self.partners(count)[place]
        return Num(1) if partner is None else operand(partner)

    def slopes(self, operands: Sequence[Any]) -> list[Any]:
        """The partials of all operands, on numbers or on values."""
        if self.chooses:
            chosen = self.chosen(operands)
            return [float(place == chosen) for place in range(len(operands))]
        if self.sides == 1:
            return [1.0] * len(operands)
        left, right = self.lists(operands)
        return [*right, *left]

    @property
    def linear(self) -> bool:
        """Whether its partials are constants, or depend on nothing that takes a gradient."""
        return self.sides == 1

    # ---- what it stands for ---------------------------------------------------------------------

    def expansion(self, count: int) -> tuple[Step, ...]:
        """The rows of the table that it stands for; the last one is its value.

        Without any, it is its first operand. An index is one of the items'.

        >>> DOT.expansion(4)
        (('mul', (0, 2)), ('mul', (1, 3)), ('add', (4, 5)))
        """
        steps: list[Step] = []

        def made(op: str, *on: int | float) -> int:
            steps.append((op, on))
            return count + len(steps) - 1

        if self.chooses:
            *others, found = range(count - 1)
            for place in reversed(others):
                found = made("where", made("equal", count - 1, float(place)), place, found)
            return tuple(steps)
        first, *more = self.lists(range(count))
        terms = list(first)
        for side in more:
            terms = [made("mul", term, item) for term, item in zip(terms, side)]
        found = terms[0]
        for term in terms[1:]:
            found = made("add", found, term)
        return tuple(steps)


SUM: Final = Structural(
    "sum",
    kind="copy",
    sides=1,
    latex=(r"z = \sum_i x_i", "1"),
    written="rg.sum(xs)",
    why="one node, added in order",
)
DOT: Final = Structural(
    "dot",
    kind="weigh",
    sides=2,
    latex=(r"z = \sum_i x_i\,y_i", "y_i", "x_i"),
    written="rg.dot(xs, ys)",
    why="one node, products added in order",
)
TAKE: Final = Structural(
    "take",
    kind="choose",
    sides=1,
    chooses=True,
    recorded=True,
    latex=("z = x_k", r"\begin{cases} 1 & i = k \\ 0 & \text{otherwise} \end{cases}"),
    written="rg.take(xs, k)",
    why="one node in compiled functions; eagerly the item itself",
)

STRUCTURAL: Final[Mapping[str, Structural]] = MappingProxyType(
    {row.name: row for row in (SUM, DOT, TAKE)}
)
"""The structural rows by name, in the order of their codes."""

EAGER: Final = tuple(name for name, row in STRUCTURAL.items() if not row.recorded)
"""Those that values are made by at any time."""
