"""Which lines cut parameters off from the loss, by ``detach()`` or ``no_grad()``, and when.

A line is remembered with the parameters found under what it cut, and the latest pass it cut before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._shared.numerics import np
from .._shared.sites import Site
from .._values.cuts import OFTEN

MOST_LINES = 64
"""How many lines that cut are told apart."""


@dataclass
class Line:
    """A line that cuts: how, where, which parameters, how often, and the pass that came next."""

    how: str
    site: Site | None
    under: Any
    times: int = 0
    number: int = 0
    strength: int = 0

    def since(self, began: Any) -> Any:
        """Whether it has cut since a pass. Past so many times not every cut is reported."""
        return (self.number >= began) | (self.times >= OFTEN)


class Cuts:
    """The lines that cut, for ``count`` parameters."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._lines: dict[Any, Line] = {}

    def __bool__(self) -> bool:
        return bool(self._lines)

    def inherit(self, other: Cuts) -> None:
        """Take over the lines that cut parameters which come first here too."""
        for key, line in other._lines.items():
            under = np.zeros(self._count, dtype=bool)
            under[: len(line.under)] = line.under
            self._lines[key] = replace(line, under=under)

    def line(self, how: str, site: Site | None, number: int) -> Line | None:
        """The line that is cutting now, before the end of pass ``number``; None past the most."""
        line = self._lines.get((how, site))
        if line is None:
            if len(self._lines) >= MOST_LINES:
                return None
            line = self._lines[how, site] = Line(how, site, np.zeros(self._count, dtype=bool))
        line.times += 1
        line.number = number
        return line

    def note(
        self, numbers: Sequence[int], how: str, site: Site | None, number: int, strength: int = 0
    ) -> None:
        """Parameters that lie under a value which lost its history. Of several lines the one of
        the greatest ``strength`` is to blame: programs also print, and choose by argmax."""
        line = self.line(how, site, number)
        if line is not None:
            line.strength = strength
            line.under[list(numbers)] = True

    def cut_since(self, began: Any) -> Any:
        """Which parameters were cut since the passes given, one a parameter."""
        found = np.zeros(self._count, dtype=bool)
        for line in self._lines.values():
            found |= line.under & line.since(began)
        return found

    def of(self, number: int, began: int) -> Line | None:
        """The line that cut a parameter since a pass: the strongest, and of those the latest."""
        lines = [x for x in self._lines.values() if x.under[number] and x.since(began)]
        return max(lines, key=lambda line: (line.strength, line.number), default=None)
