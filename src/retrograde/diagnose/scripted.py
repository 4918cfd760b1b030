"""The doctor for a program that knows nothing of it: parameters are discovered, passes watched."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from .._shared.sites import Site
from .._values.cuts import watching_cuts
from .._values.watch import WatchedPass, watching
from ..optim.optimizer import Optimizer
from ..optim.watching import watching_steps
from ..value import Value, core
from .discovery import discovered, variables_now
from .histories import AnyHistory, history_of
from .judge import report_of
from .report import Report
from .thresholds import Thresholds
from .unlearnt import Unlearnt

MOST_MODELS = 8
"""How many sets of parameters are told apart; passes of further ones are counted only."""


class Rounds:
    """What the doctor saw of a program: a history for each set of parameters it trained."""

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._histories: list[AnyHistory] = []
        self._current: list[AnyHistory] = []
        self._latest: AnyHistory | None = None
        self._strangers: deque[dict[int, Value]] = deque(maxlen=4)
        self._cuts: list[tuple[list[Value], str, Site | None]] = []
        self._unlearnt = Unlearnt()
        self.passes = 0
        self.unexamined = 0

    def begun(self, this: WatchedPass) -> None:
        """Before a pass: find out what it is about."""
        self.passes += 1
        leaves = {id(leaf): leaf for leaf in core.leaves_under(this.roots)}
        self._current = [
            r for r in self._histories if not leaves.keys().isdisjoint(r.parameters.place)
        ]
        if not self._current:
            self._adopt_or_discover(this, leaves)
        else:
            self._look_at_strangers(this, leaves)
        if not self._current:
            self.unexamined += 1
            return
        for leaves_cut, how, site in self._cuts:
            for history in self._current:
                place = history.parameters.place
                found = [place[id(leaf)] for leaf in leaves_cut if id(leaf) in place]
                if found:
                    history.cuts.note(found, how, site, history.passes + 1)
        self._cuts.clear()
        self._latest = self._current[-1]
        for history in self._current:
            history.begin()

    def _adopt_or_discover(self, this: WatchedPass, leaves: dict[int, Value]) -> None:
        """A pass over values not seen before: those of before, made anew, or another model."""
        if self._latest is not None and leaves and self._latest.adopt(list(leaves.values())):
            self._current = [self._latest]
        elif len(self._histories) < MOST_MODELS and leaves:
            self._add(history_of(discovered(this.roots, variables_now()), self._thresholds))

    def _look_at_strangers(self, this: WatchedPass, leaves: dict[int, Value]) -> None:
        """Values beside a known model's: a further model where they are met again in a later
        pass, as those of a generator are beside its discriminator's; data is new each time."""
        known = self._known()
        strangers = {key: leaf for key, leaf in leaves.items() if key not in known}
        stay = {key for key in strangers if any(key in before for before in self._strangers)}
        if stay and len(self._histories) < MOST_MODELS:
            found = discovered(this.roots, variables_now(), known)
            if not stay.isdisjoint(found.place):
                self._add(history_of(found, self._thresholds))
                return
        if strangers:
            self._strangers.append(strangers)

    def _known(self) -> set[int]:
        return {key for history in self._histories for key in history.parameters.place}

    def _add(self, history: AnyHistory) -> None:
        self._histories.append(history)
        self._current = [*self._current, history]

    def done(self, this: WatchedPass) -> None:
        """After a pass: examine it."""
        for history in self._current:
            history.end(this.roots, this.seeds, this.site)
        self._current = []

    def stepping(self, optimizer: Optimizer, site: Site | None, computes: bool) -> None:
        """Before an optimizer steps."""
        for history in self._histories:
            history.stepping(optimizer, site, computes, self.passes)

    def cut(self, value: Value, how: str, site: Site | None) -> None:
        """History is cut: before the first pass the parameters are not known yet."""
        if how == "detach()":
            self._unlearnt.note(value, site, self.passes + 1, self._known())
        if self._histories:
            for history in self._histories:
                history.cut(value, how, site)
        elif len(self._cuts) < 64:
            self._cuts.append((core.leaves_under((value,)), how, site))

    def reports(self) -> list[Report]:
        """One report for each set of parameters."""
        for history in self._histories:
            history.close()
        found = [report_of(history) for history in self._without_copies() if history.passes]
        more = self._unlearnt.verdicts(self._known(), self.passes)
        if found and more:
            found[0] = replace(found[0], verdicts=(*more, *found[0].verdicts))
        return found

    def _without_copies(self) -> list[AnyHistory]:
        """The records, less those of values that were made anew for a pass or two, or for more by
        chance in the direction of a step, while an optimizer stepped on the first ones: that is
        one model, and ill."""
        kept: list[AnyHistory] = []
        for history in self._histories:
            first = kept[-1] if kept else None
            short = history.passes < self._thresholds.patience
            if (
                first is not None
                and first.motion.astray > 1
                and (short or history.motion.astray > 1)
                and history.parameters.names == first.parameters.names
            ):
                first.rebuilding.note(2, step=False)
            else:
                kept.append(history)
        return kept


@contextmanager
def watching_a_program(thresholds: Thresholds | None = None) -> Iterator[Rounds]:
    """Examine every backward pass inside the block, whatever it trains."""
    rounds = Rounds(thresholds or Thresholds())
    with (
        watching(rounds.done, begun=rounds.begun),
        watching_cuts(rounds.cut),
        watching_steps(rounds.stepping),
    ):
        yield rounds
