"""Sets of rows, told by conditions of a program: in which rows something is done.

A set is a decision diagram over the ids of conditions, the one met last asked first, and every set
is there once: so equal sets are equal numbers, and what is disjoint or contained is found exactly.
Conditions made of others are taken apart, since a loop goes on in the rows in which it went on
before and its condition holds again.
"""

from __future__ import annotations

from typing import Any

from .doubts import DoubtError
from .program import CHOICE, Program

NONE, ALL = 0, 1

DEEPEST = 600
"""Conditions that are asked one after another in one comparison of sets."""
MOST_SETS = 600_000
"""Sets of one program; what has more is not worth its price. Two conditions a round that go by each
other make sets by the square of the rounds: 300,000 for a year of days, some seconds, once."""


class Masks:
    """The sets of one program."""

    def __init__(self, program: Program) -> None:
        self._made_of = _conditions(program)
        self._holds: dict[int, int] = {}
        # the order of the program: another would tell the same sets in exponentially more parts
        made = [result for each in program.instructions for result in each.results]
        self._levels = {i: level for level, i in enumerate([*program.inputs, *made])}
        self._nodes: list[tuple[int, int, int]] = [(-1, NONE, NONE), (-1, ALL, ALL)]
        self._others: list[int] = [ALL, NONE]
        self._known: dict[tuple[int, int, int], int] = {}
        self._both: dict[tuple[int, int], int] = {}
        self.common: dict[int, tuple[int, int]] = {}
        """By set: two sets whose common rows it has, as it was first asked for."""

    def parts(self, rows: int) -> tuple[int, int, int]:
        """The condition asked first, and the sets where it holds and where it does not."""
        return self._nodes[rows]

    def where(self, condition: int) -> int:
        """The rows in which a condition holds."""
        known = self._holds
        pending = [condition]
        while pending:
            now = pending[-1]
            if now in known:
                pending.pop()
                continue
            op, *parts = self._made_of.get(now, ("asked",))
            missing = [part for part in parts if part not in known]
            if missing and op != "known":
                pending += missing
                continue
            known[now] = self._of(now, op, parts)
        return known[condition]

    def _of(self, condition: int, op: str, parts: list[int]) -> int:
        if op == "known":
            return parts[0]
        given = [self._holds[part] for part in parts]
        if op == "stop":
            return given[0]
        if op == "sub":
            return self._others[given[1]]
        if op == "mul":
            return self.both(given[0], given[1])
        if op == "maximum":
            return self.either(given[0], given[1])
        if op == CHOICE:
            where, holds, fails = given
            return self.either(self.both(where, holds), self.both(self._others[where], fails))
        return self._make(condition, ALL, NONE)

    def _make(self, condition: int, holds: int, fails: int) -> int:
        if holds == fails:
            return holds
        key = (condition, holds, fails)
        known = self._known.get(key)
        if known is None:
            known = len(self._nodes)
            if known > MOST_SETS:
                raise DoubtError("its conditions combine in too many ways")
            self._nodes += [key, (condition, self._others[holds], self._others[fails])]
            self._others += [known + 1, known]
            self._known[key] = known
            self._known[self._nodes[known + 1]] = known + 1
        return known

    def other(self, rows: int) -> int:
        """All rows but these."""
        return self._others[rows]

    def both(self, one: int, other: int, depth: int = 0) -> int:
        """The rows in both sets."""
        if one == other or other == ALL:
            return one
        if one == ALL:
            return other
        if one == NONE or other == NONE or self._others[one] == other:
            return NONE
        key = (one, other) if one < other else (other, one)
        known = self._both.get(key)
        if known is None:
            if depth > DEEPEST:
                raise DoubtError("its conditions depend on each other too deeply")
            asked = self._first(one, other)
            known = self._make(
                asked,
                self.both(self._side(one, asked, 1), self._side(other, asked, 1), depth + 1),
                self.both(self._side(one, asked, 2), self._side(other, asked, 2), depth + 1),
            )
            self._both[key] = known
            if depth == 0 and known not in (NONE, one, other):
                self.common.setdefault(known, key)
        return known

    def either(self, one: int, other: int) -> int:
        """The rows in one of two sets or in both."""
        return self._others[self.both(self._others[one], self._others[other])]

    def chosen(self, condition: int, holds: int, fails: int) -> int:
        """The rows of one set where a condition holds, and of the other where it does not."""
        where = self.where(condition)
        return self.either(self.both(where, holds), self.both(self._others[where], fails))

    def simpler(self, rows: int, among: int, depth: int = 0) -> int:
        """A set that is told more easily, and is the same among some rows."""
        if rows in (NONE, ALL) or among == ALL or depth > 3:
            return rows
        if self.both(rows, among) == among:
            return ALL
        asked = self._first(rows, among)
        holds, fails = self._side(among, asked, 1), self._side(among, asked, 2)
        if holds == NONE:
            return self.simpler(self._side(rows, asked, 2), fails, depth + 1)
        if fails == NONE:
            return self.simpler(self._side(rows, asked, 1), holds, depth + 1)
        if self._nodes[rows][0] != asked:
            return self.simpler(rows, self.either(holds, fails), depth + 1)
        return self._make(
            asked,
            self.simpler(self._side(rows, asked, 1), holds, depth + 1),
            self.simpler(self._side(rows, asked, 2), fails, depth + 1),
        )

    def _first(self, one: int, other: int) -> int:
        """The condition that is asked first in two sets."""
        if one <= ALL:
            return self._nodes[other][0]
        if other <= ALL:
            return self._nodes[one][0]
        first, second = self._nodes[one][0], self._nodes[other][0]
        return first if self._levels[first] >= self._levels[second] else second

    def _side(self, rows: int, asked: int, side: int) -> int:
        node = self._nodes[rows]
        return node[side] if rows > ALL and node[0] == asked else rows


def _conditions(program: Program) -> dict[int, tuple[Any, ...]]:
    """By id: how a condition is made of others."""
    found: dict[int, tuple[Any, ...]] = {
        i: ("known", int(given.number))
        for i, given in program.inputs.items()
        if given.is_known and given.number in (0.0, 1.0)
    }
    for op, results, args, _, _ in program.instructions:
        if op in ("less", "less_equal", "equal"):
            found[results[0]] = ("asked",)
        elif (op in ("stop", "mul", "maximum", CHOICE) and all([arg in found for arg in args])) or (
            op == "sub" and args[1] in found and found.get(args[0]) == ("known", 1)
        ):
            found[results[0]] = (op, *args)
    return found
