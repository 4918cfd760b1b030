"""Sets of rows, told by conditions of a program: in which rows something is done.

A set is a decision diagram over the ids of conditions, the lower id asked first, and every set is
there once: so equal sets are equal numbers, and what is disjoint or contained is found exactly.
"""

from __future__ import annotations

from .doubts import DoubtError

NONE, ALL = 0, 1

DEEPEST = 200
"""Conditions that are asked one after another in one comparison of sets."""
MOST_SETS = 200_000
"""Sets of one program; what has more is not worth its price."""


class Masks:
    """The sets of one program."""

    def __init__(self) -> None:
        self._nodes: list[tuple[int, int, int]] = [(-1, NONE, NONE), (-1, ALL, ALL)]
        self._others: list[int] = [ALL, NONE]
        self._known: dict[tuple[int, int, int], int] = {}
        self._both: dict[tuple[int, int], int] = {}

    def parts(self, rows: int) -> tuple[int, int, int]:
        """The condition asked first, and the sets where it holds and where it does not."""
        return self._nodes[rows]

    def where(self, condition: int) -> int:
        """The rows in which a condition holds."""
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
            known = self._both[key] = self._make(
                asked,
                self.both(self._side(one, asked, 1), self._side(other, asked, 1), depth + 1),
                self.both(self._side(one, asked, 2), self._side(other, asked, 2), depth + 1),
            )
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
        if rows in (NONE, ALL) or among == ALL or depth > 2 * 16:
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
        asked = [self._nodes[each][0] for each in (one, other) if each > ALL]
        return min(asked)

    def _side(self, rows: int, asked: int, side: int) -> int:
        node = self._nodes[rows]
        return node[side] if rows > ALL and node[0] == asked else rows
