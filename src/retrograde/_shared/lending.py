"""Gradients lent to closures, on the reference core.

A rule that is a Python closure reads ``out.grad`` and adds to ``x.grad``, so a pass with closures
lends them the gradients of its whole graph. While that lasts, another pass over the same values
would add to numbers that are about to be replaced: it is refused. ``native/lent.c`` does the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import repeat
from operator import attrgetter, is_, methodcaller
from threading import RLock, get_ident
from typing import Any

from ..errors import PassInProgressError

#: Held while gradients are put in place, so that threads do not lose each other's.
settling = RLock()

_loans: list[Loan] = []

# Nothing loops in Python while the lock is held: where an interrupt falls into a comprehension
# inside a ``with``, Python 3.12 may leave it without letting go of the lock.
_gradient = attrgetter("_grad")
_nothing = methodcaller("_nothing")


def put(values: Sequence[Any], gradients: Sequence[Any]) -> None:
    """Set the gradients of all these values, or of none.

    No Python code runs inside, so neither another thread nor an interrupt comes in between.
    """
    deque(map(object.__setattr__, values, repeat("_grad"), gradients), maxlen=0)


def settle(values: Sequence[Any], totals: Sequence[Any]) -> None:
    """Take the totals of a whole pass: all of them, or none where an interrupt raises.

    A handler of signals may run another pass meanwhile: then what it left is added to.
    """
    with settling:
        refuse_lent(values)
        while True:
            before = list(map(_gradient, values))
            after = _settled(values, before, totals)
            if all(map(is_, map(_gradient, values), before)):
                put(values, after)
                return


def _settled(values: Sequence[Any], before: Sequence[Any], totals: Sequence[Any]) -> list[Any]:
    """A leaf's gradient is old + new, an interior one's is new."""
    return [
        value._settled(old, new) if value._requires_grad else old
        for value, old, new in zip(values, before, totals)
    ]


class Loan:
    """The gradients of some values, zero to begin with; put back on leaving unless kept."""

    def __init__(self, values: Sequence[Any], by_rule: bool = False) -> None:
        self.values = values
        self.thread = get_ident()
        self._others_only = by_rule  # a pass that puts everything back may run inside a rule
        self._kept = False

    def __enter__(self) -> Loan:
        try:
            with settling:
                refuse_lent(self.values, self._others_only)
                self.before = list(map(_gradient, self.values))
                self.ids = set(map(id, self.values))
                nothing = list(map(_nothing, self.values))
                _loans.append(self)
                put(self.values, nothing)
        except BaseException:  # an interrupt may come when the loan has begun
            self._give_back()
            raise
        return self

    def keep(self) -> None:
        """The pass is whole: its totals are in place, and stay."""
        put(self.values, _settled(self.values, self.before, list(map(_gradient, self.values))))
        self._kept = True

    def __exit__(self, *exception: object) -> None:
        try:
            self._give_back()
        except BaseException:  # an interrupt: what it cut short is done again
            self._give_back()
            raise

    def _give_back(self) -> None:
        with settling:
            if self in _loans:
                if not self._kept:
                    put(self.values, self.before)
                _loans.remove(self)


def refuse_lent(values: Sequence[Any], others_only: bool = False) -> None:
    """Raise if one of the values is lent: by anyone, or by other threads only."""
    if not _loans:
        return
    here = get_ident()
    for loan in _loans:
        if others_only and loan.thread == here:
            continue
        for value in values:
            if id(value) in loan.ids:
                mine = loan.thread == here
                error = PassInProgressError.here if mine else PassInProgressError.elsewhere
                raise error(value._shown())
