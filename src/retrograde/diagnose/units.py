"""A unit over time: in how many rows it was shut, since when, and how long before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .._shared.numerics import np
from .._shared.sites import Site, site_of


@dataclass
class Unit:
    """Rows seen at one unit, and in how many it was shut; its op and line."""

    op: str
    saturates: bool
    made: Any = None
    rows: int = 0
    shut: int = 0
    began: int = 0
    """The pass since which every row was shut; 0 where the last pass had one that was not."""
    run: int = 0
    """How many rows that is,"""
    passes: int = 0
    """and how many passes."""
    longest: int = 0
    """The most rows of such a run that has ended,"""
    past: tuple[int, int] = (0, 0)
    """and its first and last pass."""
    last: int = 0

    def add(self, number: int, rows: int, shut: int) -> None:
        """The rows of one pass."""
        self.rows += rows
        self.shut += shut
        if shut == rows:
            self.began = self.began or number
            self.run += rows
            self.passes += 1
            self.last = number
        elif self.began:
            if self.run > self.longest:
                self.longest, self.past = self.run, (self.began, self.last)
            self.began = self.run = self.passes = 0

    def is_shut(self, rows: int, patience: int) -> bool:
        """Whether it is shut now: always so far, or for longer than it ever was before.

        Passes of few rows show a unit off by chance, so there it must be half of all rows. Passes
        between two that were looked at count as well.
        """
        if self.shut == self.rows:
            return True
        lasted = max(self.passes, self.last - self.began + 1)
        if lasted < patience or self.run < rows or self.run <= 2 * self.longest:
            return False
        return self.run >= rows * self.passes or 2 * self.run >= self.rows

    @property
    def site(self) -> Site | None:
        """Where it is, worked out when asked for."""
        return self.made if isinstance(self.made, Site) else site_of(self.made)


class Layer:
    """The units of one layer, one entry each: the same as :class:`Unit`, counted side by side."""

    def __init__(self, op: str, saturates: bool, made: Any, count: int) -> None:
        self._op, self._saturates, self._made = op, saturates, made
        self._rows = 0
        self._shut, self._began, self._run, self._passes, self._longest, self._last = (
            np.zeros(count, np.int64) for _ in range(6)
        )
        self._past = np.zeros((count, 2), np.int64)

    def add(self, number: int, rows: int, shut: Any) -> None:
        """The rows of one pass, and in how many of them each unit was shut."""
        self._rows += rows
        self._shut += shut
        off = shut == rows
        ending = ~off & (self._began > 0) & (self._run > self._longest)
        self._longest[ending] = self._run[ending]
        self._past[ending] = np.stack([self._began, self._last], 1)[ending]
        self._began = np.where(off, np.where(self._began > 0, self._began, number), 0)
        self._run = np.where(off, self._run + rows, 0)
        self._passes = np.where(off, self._passes + 1, 0)
        self._last[off] = number

    def __iter__(self) -> Iterator[Unit]:
        columns = zip(
            self._shut.tolist(), self._began.tolist(), self._run.tolist(), self._passes.tolist(),
            self._longest.tolist(), map(tuple, self._past.tolist()), self._last.tolist(),
        )  # fmt: skip
        for shut, began, run, passes, longest, past, last in columns:
            yield Unit(
                self._op, self._saturates, self._made, self._rows, shut, began, run, passes,
                longest, past, last,
            )  # fmt: skip
