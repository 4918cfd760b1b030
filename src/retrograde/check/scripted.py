"""The doctor for a program that knows nothing of it: parameters are discovered, passes watched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..cuts import watching_cuts
from ..sites import Site
from ..value import Value, core
from ..watch import Pass, watching
from .discovery import discovered, variables_now
from .judge import report_of
from .record import Record
from .report import Report
from .thresholds import Thresholds

MOST_MODELS = 8
"""How many sets of parameters are told apart; passes of further ones are counted only."""


class Rounds:
    """What the doctor saw of a program: a record for each set of parameters it trained."""

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._records: list[Record] = []
        self._current: Record | None = None
        self._cuts: list[tuple[list[Value], str, Site | None]] = []
        self.passes = 0
        self.unexamined = 0

    def begun(self, this: Pass) -> None:
        """Before a pass: find out what it is about."""
        self.passes += 1
        leaves = {id(leaf) for leaf in core.leaves_under(this.roots)}
        self._current = next(
            (r for r in self._records if not leaves.isdisjoint(r.parameters.place)), None
        )
        if self._current is None and len(self._records) < MOST_MODELS and leaves:
            self._current = Record(discovered(this.roots, variables_now()), self._thresholds)
            self._records.append(self._current)
        if self._current is None:
            self.unexamined += 1
            return
        for leaves_cut, how, site in self._cuts:
            for leaf in leaves_cut:
                number = self._current.parameters.place.get(id(leaf))
                if number is not None:
                    self._current.note_cut(number, how, site)
        self._cuts.clear()
        self._current.begin()

    def done(self, this: Pass) -> None:
        """After a pass: examine it."""
        if self._current is not None:
            self._current.end(this.roots, this.seeds, this.site)
            self._current = None

    def cut(self, value: Value, how: str, site: Site | None) -> None:
        """History is cut: before the first pass the parameters are not known yet."""
        if self._records:
            for record in self._records:
                record.cut(value, how, site)
        elif len(self._cuts) < 64:
            self._cuts.append((core.leaves_under((value,)), how, site))

    def reports(self) -> list[Report]:
        """One report for each set of parameters."""
        for record in self._records:
            record.close()
        return [report_of(record) for record in self._records if record.passes]


@contextmanager
def watching_a_program(thresholds: Thresholds | None = None) -> Iterator[Rounds]:
    """Examine every backward pass inside the block, whatever it trains."""
    rounds = Rounds(thresholds or Thresholds())
    with watching(rounds.done, begun=rounds.begun), watching_cuts(rounds.cut):
        yield rounds
