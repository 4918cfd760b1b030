"""Sets of rows as numbers of a program, and numbers selected by them.

A set is 1 in its rows and 0 elsewhere. It is made of sets that are numbers already wherever it can
be: one choice, where its diagram alone would ask every condition of a long loop again.
"""

from __future__ import annotations

from .adjoint import Builder
from .masks import ALL, NONE, Masks
from .program import CHOICE


class Selections:
    """The sets that are numbers of a program by now."""

    def __init__(self, build: Builder, masks: Masks) -> None:
        self._build, self._masks = build, masks
        self._ids: dict[int, int] = {}

    def where(self, condition: int) -> int:
        """The rows in which a condition holds, which is their number."""
        rows = self._masks.where(condition)
        if rows not in (NONE, ALL):
            self._ids.setdefault(rows, condition)
        return rows

    def select(self, rows: int, one: int, other: int, among: int, site: int) -> int:
        """One number in some rows and another in the rest of those it matters in."""
        if one == other:
            return one
        simpler = self._masks.simpler(rows, among)
        if simpler == ALL:
            return one
        if simpler == NONE:
            return other
        if self._price(rows) <= self._price(simpler):
            simpler = rows
        others = self._masks.other(simpler)
        if self._price(others) < self._price(simpler):
            simpler, one, other = others, other, one
        return self._build.emit(CHOICE, (self.number(simpler), one, other), site)

    def number(self, rows: int) -> int:
        """A set as a number."""
        build, ids = self._build, self._ids
        wanted, pending = rows, [rows]
        while pending:
            rows = pending[-1]
            if rows in ids:
                pending.pop()
                continue
            choice = self._choice(rows)
            missing = [each for each in choice[1:] if each not in ids]
            if missing:
                pending += missing
            elif rows in (NONE, ALL):
                ids[rows] = build.constant(float(rows))
            elif choice[1:] == (ALL, NONE):
                ids[rows] = choice[0]
            else:
                condition, holds, fails = choice
                ids[rows] = build.emit(CHOICE, (condition, ids[holds], ids[fails]), -1)
        return ids[wanted]

    def _price(self, rows: int) -> int:
        """How many choices a set takes to be a number, roughly."""
        if rows in self._ids or rows in (NONE, ALL):
            return 0
        _, holds, fails = self._choice(rows)
        if (holds, fails) == (ALL, NONE):
            return 0
        missing = [each for each in (holds, fails) if each not in self._ids and each > ALL]
        return 1 + 2 * len(missing)

    def _choice(self, rows: int) -> tuple[int, ...]:
        """The number that is asked first, and the sets where it is 1 and where it is 0."""
        masks, ids = self._masks, self._ids
        if rows in (NONE, ALL):
            return (rows,)
        others = masks.other(rows)
        if others in ids:
            return ids[others], NONE, ALL
        for made, is_other in ((rows, False), (others, True)):
            for one, other in _turned(masks.common.get(made)):
                rest = masks.other(other) if is_other else other
                if rest not in ids:
                    continue
                if one in ids:
                    return (ids[one], rest, ALL) if is_other else (ids[one], rest, NONE)
                without = masks.other(one)
                if without in ids:
                    return (ids[without], ALL, rest) if is_other else (ids[without], NONE, rest)
        return masks.parts(rows)


def _turned(pair: tuple[int, int] | None) -> list[tuple[int, int]]:
    return [] if pair is None else [pair, pair[::-1]]
