"""A unit over time: in how many rows it was shut, since when, and how long before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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

        Passes of few rows show a unit off by chance, so there it must be half of all rows.
        """
        if self.shut == self.rows:
            return True
        if self.passes < patience or self.run < rows or self.run <= 2 * self.longest:
            return False
        return self.run >= rows * self.passes or 2 * self.run >= self.rows

    @property
    def site(self) -> Site | None:
        """Where it is, worked out when asked for."""
        return self.made if isinstance(self.made, Site) else site_of(self.made)
