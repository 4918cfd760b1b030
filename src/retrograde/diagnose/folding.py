"""One illness, one alarm: what follows from another verdict is told under it.

A row of the table says which kinds can follow from a kind, and what must hold of the two. A
consequence is no alarm of its own; it stands in ``consequences`` of its cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from .report import ALARM, Verdict
from .zeros import DEAD_GATE, DETACHED, SATURATED_GATE, UNREACHABLE, ZERO_FACTOR

Test = Callable[[Verdict, Verdict], bool]


def always(cause: Verdict, other: Verdict) -> bool:
    """It follows wherever both are."""
    return True


def same_line(cause: Verdict, other: Verdict) -> bool:
    """Both are on one line, or the other names the cause's line as where its zero comes from."""
    if cause.site is None:
        return False
    return cause.site in (other.site, other.source)


def same_gate(cause: Verdict, other: Verdict) -> bool:
    """Both are the same units and nothing else."""
    return same_line(cause, other) and set(cause.groups) == set(other.groups)


def whole_layer(cause: Verdict, other: Verdict) -> bool:
    """Both are the gates of one layer of arrays, of which the units say more."""
    return same_line(cause, other) and other.source == other.site


def same_groups(cause: Verdict, other: Verdict) -> bool:
    """The other is about nothing but groups of the cause."""
    return bool(other.groups) and set(other.groups) <= set(cause.groups)


def made_zero(cause: Verdict, other: Verdict) -> bool:
    """The line of the cause computed the other's zero."""
    return cause.site is not None and cause.site == other.source != other.site


def later(cause: Verdict, other: Verdict) -> bool:
    """The other began after the cause or with it, or at a time that is not known."""
    return cause.began > 0 and (other.began == 0 or cause.began <= other.began)


def late(cause: Verdict, other: Verdict) -> bool:
    """Both began while learning, the other not before the cause."""
    return 1 < cause.began <= other.began


def after(cause: Verdict, other: Verdict) -> bool:
    """The other began after the cause."""
    return 0 < cause.began < other.began


BIRTHS = ("birth forward", "birth backward")
DEAD, SATURATED = "dead units", "saturated units"
SHUT = (DEAD, SATURATED, DEAD_GATE, SATURATED_GATE, ZERO_FACTOR)

FOLLOWS: tuple[tuple[str, tuple[str, ...], Test], ...] = (
    ("rebuilt", (UNREACHABLE, "never reached", "no optimizer", "no step", "learning rate"), always),
    ("reset too soon", ("no step", "learning rate", "ascent"), always),
    ("growing graph", ("no step",), always),
    ("growing graph", ("vanishing", "exploding", *BIRTHS), later),
    (
        "ascent",
        ("learning rate", "exploding", "exploding loss", "vanishing", *SHUT, *BIRTHS),
        later,
    ),
    ("stale", ("learning rate", "exploding", "exploding loss", "ascent", *SHUT, *BIRTHS), later),
    ("exploding", ("learning rate", "vanishing", *SHUT, *BIRTHS), later),
    ("learning rate", ("exploding", "exploding loss", "vanishing", *SHUT, *BIRTHS), later),
    ("strangers", ("no optimizer", "no step", "learning rate", UNREACHABLE), always),
    ("overwritten", (UNREACHABLE, "no step"), always),
    ("no history", (UNREACHABLE, DETACHED, "no step"), always),
    ("exploding", ("exploding loss",), always),
    ("exploding loss", ("learning rate", "vanishing", *SHUT, *BIRTHS), always),
    ("tied", (DETACHED,), always),
    ("birth forward", ("birth backward",), always),
    ("birth backward", ("birth forward",), always),
    ("birth forward", (DEAD, SATURATED, "stale", "ascent", "learning rate"), later),
    ("birth backward", (DEAD, SATURATED, "stale", "ascent", "learning rate"), after),
    (DEAD, (DEAD_GATE,), whole_layer),
    (SATURATED, (SATURATED_GATE,), whole_layer),
    (DEAD_GATE, (DEAD,), same_gate),
    (DEAD, (DEAD_GATE, ZERO_FACTOR), same_line),
    (DEAD, (DEAD,), after),
    (SATURATED_GATE, (SATURATED,), same_gate),
    (SATURATED, (SATURATED_GATE,), same_line),
    (SATURATED, ("vanishing", "learning rate"), always),
    ("vanishing", ("vanishing", "learning rate"), always),
    ("vanishing", (DEAD, DEAD_GATE), after),
    ("exploding", ("exploding",), always),
    (DETACHED, ("never reached", UNREACHABLE), same_groups),
    ("never reached", (UNREACHABLE,), same_groups),
    (ZERO_FACTOR, (ZERO_FACTOR,), made_zero),
    (ZERO_FACTOR, (DEAD, DEAD_GATE), late),
    (ZERO_FACTOR, ("identical units",), always),
    ("identical units", ("identical units",), always),
)
"""Causes, what follows from them, and when. Causes that come first are deeper."""


def folded_under_causes(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts, alarms first, each under its cause where it has one."""
    found = list(verdicts)
    under: dict[int, int] = {}  # by place: the place of the cause
    for kind, others, test in FOLLOWS:
        for place, cause in enumerate(found):
            if cause.kind != kind or cause.ended:
                continue
            for other, verdict in enumerate(found):
                free = other not in under and other != _root(under, place)
                if (
                    free
                    and verdict.kind in others
                    and _may(cause, verdict)
                    and test(cause, verdict)
                ):
                    under[other] = _root(under, place)
    kept = [
        replace(verdict, consequences=_consequences(found, under, place))
        for place, verdict in enumerate(found)
        if place not in under
    ]
    return tuple(sorted(kept, key=lambda verdict: verdict.severity != ALARM))


def _may(cause: Verdict, other: Verdict) -> bool:
    """A note is no cause of an alarm, and what is over follows from nothing now."""
    return not other.ended and (cause.severity == ALARM or other.severity != ALARM)


def _root(under: dict[int, int], place: int) -> int:
    while place in under:
        place = under[place]
    return place


def _consequences(found: list[Verdict], under: dict[int, int], place: int) -> tuple[Verdict, ...]:
    return tuple(found[other] for other in sorted(under) if _root(under, other) == place)
