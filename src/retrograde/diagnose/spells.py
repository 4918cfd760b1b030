"""Spells: when a condition held, pass by pass, for many things at once.

For each thing it is remembered since when the condition holds, how long it ever held before, and
the longest spell that has ended. The size depends on how many things there are, never on how many
passes.
"""

from __future__ import annotations

from typing import Any

from .._shared.numerics import np


class Spells:
    """The spells of one condition for ``count`` things; ``slack`` misses in a row end a spell.

    >>> spells = Spells(1)
    >>> for number, sick in enumerate((False, True, True, True, False), start=1):
    ...     _ = spells.update(number, np.array([sick]))
    >>> int(spells.began[0]), int(spells.past_began[0]), int(spells.past_ended[0])
    (0, 2, 4)
    """

    def __init__(self, count: int, slack: int = 1) -> None:
        self._slack = slack
        self.began = np.zeros(count, dtype=np.int64)
        """The pass the present spell began with; 0 where there is none."""
        self.last = np.zeros(count, dtype=np.int64)
        self.times = np.zeros(count, dtype=np.int64)
        """In how many passes of the present spell the condition held."""
        self.seen = np.zeros(count, dtype=np.int64)
        """How many passes of the present spell counted."""
        self.total = np.zeros(count, dtype=np.int64)
        """How many passes counted at all."""
        self.longest = np.zeros(count, dtype=np.int64)
        """The most times of a spell that has ended."""
        self.past_began = np.zeros(count, dtype=np.int64)
        self.past_ended = np.zeros(count, dtype=np.int64)
        self._misses = np.zeros(count, dtype=np.int64)

    def inherit(self, other: Spells) -> None:
        """Take over the spells of the things that come first here too."""
        for name, array in vars(other).items():
            if isinstance(array, np.ndarray):
                getattr(self, name)[: len(array)] = array

    def update(self, number: int, holds: Any, counts: Any = True, many: int = 1) -> Any:
        """One pass: where the condition holds, and where the pass counts; the spells that end.

        Where ``many`` passes were alike, ``number`` is the last of them."""
        if len(self.began) == 1:
            return self._update_one(number, bool(np.all(holds)), bool(np.all(counts)), many)
        hit, miss = counts & holds, counts & ~holds
        self.total += np.multiply(counts, many)
        self._misses = np.where(hit, 0, self._misses + np.multiply(miss, many))
        open_ = self.began > 0
        ending = open_ & miss & (self._misses >= self._slack)
        if ending.any():
            longer = ending & (self.times >= self.longest)
            self.past_began = np.where(longer, self.began, self.past_began)
            self.past_ended = np.where(longer, self.last, self.past_ended)
            self.longest = np.where(longer, self.times, self.longest)
            for array in (self.began, self.times, self.seen):
                array[ending] = 0
        self.began[hit & ~open_] = number - many + 1
        self.times += np.multiply(hit, many)
        self.seen += np.multiply((self.began > 0) & counts, many)
        self.last[hit] = number
        return ending

    def _update_one(self, number: int, holds: bool, counts: bool, many: int) -> Any:
        """The same for a single thing, in plain numbers."""
        ending = False
        if not counts:
            return np.array([ending])
        self.total[0] += many
        open_ = self.began[0] > 0
        if holds:
            self._misses[0] = 0
            if not open_:
                self.began[0] = number - many + 1
            self.times[0] += many
            self.last[0] = number
        else:
            self._misses[0] += many
            ending = bool(open_ and self._misses[0] >= self._slack)
            if ending:
                if self.times[0] >= self.longest[0]:
                    self.past_began[0], self.past_ended[0] = self.began[0], self.last[0]
                    self.longest[0] = self.times[0]
                self.began[0] = self.times[0] = self.seen[0] = 0
        if self.began[0] > 0:
            self.seen[0] += many
        return np.array([ending])

    def held_since(self, thing: int, began: int, number: int) -> None:
        """Of a thing that becomes known late: the condition has held in every pass from one to
        another.

        >>> spells = Spells(1)
        >>> spells.held_since(0, 2, 4)
        >>> int(spells.began[0]), int(spells.times[0])
        (2, 3)
        """
        self.began[thing], self.last[thing] = began, number
        for array in (self.times, self.seen, self.total):
            array[thing] = number - began + 1

    def present(self, patience: int, beyond: Any = 2, share: float = 1.0) -> Any:
        """Where the condition holds now: always, or as a spell that is not the usual thing.

        Such a spell lasts ``patience`` passes or more, ``beyond`` times longer than any before it,
        and has the condition in at least a ``share`` of its passes.
        """
        lasting = (self.times >= patience) & (self.times > beyond * self.longest)
        mostly = self.times >= share * self.seen
        usual = (self.times > 0) & (self.times >= share * self.total)
        return (self.began > 0) & mostly & (lasting | usual)
