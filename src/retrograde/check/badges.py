"""Badges: what another engine says about the gradients of single values, as data.

An explanation shows them beside the values it explains; nothing is rendered here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fabs, isfinite

from ..value import Value
from . import complexstep
from .compare import AGREES, DIFFERS, Other, check_against, settled, ulps_between
from .differences import along_number
from .rounding import Bars, error_bars
from .subject import pulled_back
from .tape import LEAF, Tape, read
from .verdicts import BAD, NOISE, judged


@dataclass(frozen=True)
class Badge:
    """What another engine says about one value's gradient: for an explanation to show beside it.

    ``verdict`` is "agrees", "differs" or "convention"; ``ulps`` None where it has no meaning.
    """

    value: Value
    ours: float
    theirs: float
    ulps: float | None
    verdict: str
    against: str


def badges(
    root: Value, values: Sequence[Value] | None = None, against: str = "finite-differences"
) -> list[Badge]:
    """A badge for each value under a root: leaves that take gradients, unless told otherwise.

    Interior values may be asked for too. No gradient is changed. Differences are taken of the
    graph, worked out from the law.

    >>> import retrograde as rg
    >>> from retrograde.check.badges import badges
    >>> x, y = rg.Value(3.0), rg.Value(0.5)
    >>> [badge.verdict for badge in badges(x * y.exp(), against="complex-step")]
    ['agrees', 'agrees']
    """
    check_against("badges", against)
    tape = read(root)
    if values is None:
        values = [s.node for s in tape.steps if s.kind == LEAF and s.node.requires_grad]
    places = tape.of(values)
    ours = pulled_back(root, values)
    if against == "finite-differences":
        bars = error_bars(tape)
        theirs, verdicts = [], []
        for place, mine in zip(places, ours):
            slope, verdict = _replayed_slope(tape, bars, place, mine)
            theirs.append(slope)
            verdicts.append(verdict)
    else:
        other = Other(tape, against)
        _, theirs = other.gradients(places)
        verdicts, _ = settled(other, places, ours, theirs)
    return [
        Badge(value, mine, their, ulps_between(mine, their), verdict, against)
        for value, mine, their, verdict in zip(values, ours, theirs, verdicts)
    ]


def _replayed_slope(tape: Tape, bars: Bars, place: int, mine: float) -> tuple[float, str]:
    if place < 0:
        return 0.0, AGREES
    at = tape.steps[place].data

    def along(x: float) -> float:
        return complexstep.replayed(tape, {place: x - at})

    noise = bars.data[-1] if isfinite(bars.data[-1]) else 0.0
    line = along_number(along, at, noise)
    natural = max(bars.absolute[place], fabs(tape.steps[-1].data) / max(fabs(at), 1.0))
    slope = line.quick() or line.slope()
    verdict, _ = judged(mine, bars.gradient_bars[place], natural, slope)
    if verdict in (NOISE, *BAD):
        slope = line.slope()
        verdict, _ = judged(mine, bars.gradient_bars[place], natural, slope)
    value = slope.value if isfinite(slope.value) else mine
    return value, DIFFERS if verdict in BAD else AGREES
