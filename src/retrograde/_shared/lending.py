"""Gradients lent to closures, on the reference core.

A rule that is a Python closure reads ``out.grad`` and adds to ``x.grad``, so a pass with closures
lends them the gradients of its whole graph. While that lasts, another pass over the same values
would add to numbers that are about to be replaced: it is refused. ``native/lent.c`` does the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock, get_ident
from typing import Any

from ..errors import PassInProgressError

#: Held while gradients are put in place, so that threads do not lose each other's.
settling = Lock()

_loans: list[Loan] = []


class Loan:
    """The gradients of some values, zero to begin with; put back on leaving unless kept."""

    def __init__(self, values: Sequence[Any], by_rule: bool = False) -> None:
        self.values = values
        self.thread = get_ident()
        self._others_only = by_rule  # a pass that puts everything back may run inside a rule
        self._kept = False

    def __enter__(self) -> Loan:
        with settling:
            refuse_lent(self.values, self._others_only)
            self.before = [value._grad for value in self.values]
            self.ids = set(map(id, self.values))
            for value in self.values:
                value._grad = value._nothing()
            _loans.append(self)
        return self

    def keep(self) -> None:
        """The pass is whole: a leaf's gradient is old + new, an interior one's is new."""
        for value, old in zip(self.values, self.before):
            if not value._requires_grad:
                value._grad = old
            else:
                value._settle(old, value._grad)
        self._kept = True

    def __exit__(self, *exception: object) -> None:
        with settling:
            if not self._kept:
                for value, old in zip(self.values, self.before):
                    value._grad = old
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
                raise error(value)
