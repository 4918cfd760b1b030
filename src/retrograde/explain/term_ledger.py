"""The ledger of one number of an array: the products it is the sum of, strongest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum, isfinite
from typing import NamedTuple

from .ledger import Entry, Ledger, Share


class Term(NamedTuple):
    """One product: what it is called, the partial, the upstream gradient, and their product."""

    label: str
    partial: float
    upstream: float
    amount: float


def added(numbers: Iterable[float]) -> float:
    """The exact sum, rounded once; what is not finite is added as it comes."""
    listed = list(numbers)
    return fsum(listed) if all(map(isfinite, listed)) else sum(listed)


def ledger_of_terms(
    name: str,
    root: str,
    gradient: float,
    terms: Sequence[Term],
    shares: Sequence[Share],
    rounding: str,
    most: int,
) -> Ledger:
    """A ledger whose entries are the ``most`` largest terms, the others as one, and what the
    engine's own summation rounds: all of them add up to the gradient's bits.

    >>> terms = [Term("x[0]", 2.0, 0.1, 0.2), Term("x[1]", 1.0, 0.1, 0.1)]
    >>> account = ledger_of_terms("w[0]", "loss", 0.1 + 0.2, terms, (), "rounding", 12)
    >>> [entry.name for entry in account.entries], account.gradient
    (['x[0]', 'x[1]', 'rounding'], 0.30000000000000004)
    >>> added(entry.amount for entry in account.entries) == account.gradient
    True
    """
    absolute = added(abs(term.amount) for term in terms)
    ordered = sorted(terms, key=lambda term: -abs(term.amount))
    rest = [term.amount for term in ordered[most:]]
    listed = list(ordered[:most])
    if rest:
        weaker = added(rest)
        listed.append(Term(f"{len(rest):,} weaker ones", 1.0, weaker, weaker))
    gap = added([gradient, *(-term.amount for term in listed)])
    if gap != 0.0 and isfinite(gap):
        listed.append(Term(rounding, 1.0, gap, gap))
    entries, running = [], 0.0
    for place, (label, partial, upstream, amount) in enumerate(listed):
        last = place == len(listed) - 1
        after = gradient if last else running + amount
        entries.append(Entry(place, label, 0, partial, upstream, amount, running, after))
        running = after
    return Ledger(
        node=0,
        name=name,
        root=root,
        gradient=gradient,
        entries=tuple(entries),
        shares=tuple(shares),
        absolute=absolute,
        cancellation=absolute / abs(gradient) if gradient else float("inf") * bool(absolute),
        routes=len(terms),
        strongest=(),
    )
