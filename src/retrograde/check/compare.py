"""``rg.compare``: the same function through another engine, both gradients side by side.

The function is called once; its graph is handed to the other engine op by op, which takes
its own gradient by its own rules. Where the two differ on purpose (docs/conventions.md) the
comparison knows: it takes the other's partials at the ties and kinks met here, and sees whether
that accounts for the whole of the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import fabs, isfinite, isnan, ulp
from typing import Any

import numpy as np

from .._shared.birth import spelled
from ..errors import CheckError
from ..ops import OPS
from ..value import core, core_name
from . import complexstep
from .array_engines import array_engine
from .engines import ENGINES, Engine, engine
from .gradcheck import _Check
from .held import held_by
from .printed import at_a_kink
from .rounding import Bars, error_bars
from .subject import MOST_ROWS, Subject, subject_of
from .tape import ROW, Tape, read
from .tolerances import ROUNDINGS, ULPS
from .verdicts import BAD

AGREES, DIFFERS, CONVENTION = "agrees", "differs", "convention"
VALUES = 1e-13
"""The share that the values of two engines may differ by beside rounding: their libraries'."""

ARRAYS = 1e-13
"""The same where arrays are added up in another order, of the largest gradient."""

AGAINST = (*ENGINES, "finite-differences", "complex-step")


@dataclass(frozen=True)
class Compared:
    """One gradient by both; ``ulps`` is None where one of them is not finite."""

    place: str
    at: float
    ours: float
    theirs: float
    ulps: float | None
    verdict: str
    note: str = ""


@dataclass(frozen=True)
class Comparison:
    """Both columns. ``agrees`` is False where any gradient differs beyond rounding and
    conventions; differences on purpose are listed in ``conventions``."""

    function: str
    core: str
    against: str
    version: str
    ours: float
    theirs: float
    values_agree: bool
    rows: list[Compared]
    conventions: list[str]

    @property
    def agrees(self) -> bool:
        """Whether nothing differs but by convention."""
        return self.values_agree and all(row.verdict != DIFFERS for row in self.rows)

    @property
    def largest(self) -> float:
        """The largest difference among those that agree, in ulps."""
        found = [row.ulps for row in self.rows if row.ulps is not None and row.verdict == AGREES]
        return max(found, default=0.0)

    def data(self) -> dict[str, Any]:
        """The comparison as plain data, for JSON."""
        found: dict[str, Any] = spelled({"agrees": self.agrees, **asdict(self)})
        return found

    def __str__(self) -> str:
        from .report_text import compare_text

        return compare_text(self)

    def _repr_html_(self) -> str:
        from .page import compare_html

        return compare_html(self)


def ulps_between(ours: float, theirs: float) -> float | None:
    """How many units in the last place apart; None where that has no meaning.

    >>> ulps_between(1.0, 1.0 + 2**-52)
    1.0
    """
    if ours == theirs or (isnan(ours) and isnan(theirs)):
        return 0.0
    if not isfinite(ours) or not isfinite(theirs):
        return None
    return fabs(ours - theirs) / ulp(max(fabs(ours), fabs(theirs)))


def same(ours: float, theirs: float, bar: float) -> bool:
    """Whether two gradients are the same but for rounding."""
    apart = ulps_between(ours, theirs)
    if apart is None:
        return False
    return apart <= ULPS or fabs(ours - theirs) <= ROUNDINGS * bar


class Other:
    """The other side of a comparison on one graph."""

    def __init__(self, tape: Tape, against: str) -> None:
        self.tape, self.against = tape, against
        self.engine: Engine | None = engine(against) if against in ENGINES else None
        self.version = self.engine.version if self.engine else ""
        self.bars: Bars = error_bars(tape)

    def gradients(self, places: Sequence[int]) -> tuple[float, list[float]]:
        """The root by the other engine, and the gradients at places of the graph (-1: 0)."""
        met = [place for place in places if place >= 0]
        if self.engine is not None:
            value, found = self.engine.gradients(self.tape, met)
        else:
            why = complexstep.obstacle(self.tape, met)
            if why:
                raise CheckError(
                    f"compare: no complex step here, for {why}. Compare against "
                    "'finite-differences', 'torch' or 'jax'."
                )
            value = self.tape.steps[-1].data
            found = [float(x) for x in complexstep.slopes(self.tape, met)]
        given = iter(found)
        return value, [next(given) if place >= 0 else 0.0 for place in places]

    def conventions(self) -> tuple[dict[int, tuple[float, ...]], list[str]]:
        """The steps at awkward points where the other engine has other partials, and words."""
        replaced: dict[int, tuple[float, ...]] = {}
        words: list[str] = []
        if self.engine is None:
            return replaced, words
        for place, step in enumerate(self.tape.steps):
            if step.kind != ROW or not _awkward(step.op, step.numbers):
                continue
            theirs = self.engine.partials(step)
            if any(not same(o, t, 0.0) for o, t in zip(step.partials, theirs)):
                replaced[place] = theirs
                operands = ", ".join(f"{x:g}" for x in step.numbers)
                words.append(
                    f"{step.op}({operands}) has partials {_shown(step.partials)} here, "
                    f"{_shown(theirs)} in {self.engine.name}"
                    + (f"\n    at {step.node.site}" if step.node.site else "")
                )
        return replaced, list(dict.fromkeys(words))


def _awkward(op: str, numbers: tuple[float, ...]) -> bool:
    return bool(at_a_kink(op, *numbers)) or any(edge.at == numbers for edge in OPS[op].edges)


def _shown(partials: Sequence[float]) -> str:
    return "(" + ", ".join(f"{p:g}" for p in partials) + ")"


def settled(
    other: Other, places: Sequence[int], ours: Sequence[float], theirs: Sequence[float]
) -> tuple[list[str], list[str]]:
    """A verdict a gradient, and the conventions that account for differences."""
    verdicts = [
        AGREES if same(o, t, other.bars.gradient_bars[place] if place >= 0 else 0.0) else DIFFERS
        for o, t, place in zip(ours, theirs, places)
    ]
    if DIFFERS not in verdicts:
        return verdicts, []
    replaced, words = other.conventions()
    if not replaced:
        return verdicts, []
    theirs_by_us = error_bars(other.tape, replaced)
    for index, (place, verdict) in enumerate(zip(places, verdicts)):
        if verdict == DIFFERS and place >= 0:
            bar = theirs_by_us.gradient_bars[place]
            if same(theirs_by_us.gradients[place], theirs[index], bar):
                verdicts[index] = CONVENTION
    return verdicts, words if CONVENTION in verdicts else []


def compare(function: Callable[..., Any], point: Any, against: str = "torch") -> Comparison:
    """The gradient of a function at a point beside that of another engine.

    ``against`` is "torch", "jax", "finite-differences" or "complex-step"; the point is given as to
    :func:`gradcheck`. Differences are shown in ulps, units in the last place.

    >>> import retrograde as rg
    >>> found = rg.compare(lambda x, y: x * y.exp(), (3.0, 0.5), against="complex-step")
    >>> found.agrees, [row.ulps for row in found.rows]
    (True, [0.0, 0.0])
    """
    check_against("compare", against)
    subject = subject_of("compare", function, point)
    if against == "finite-differences":
        return _by_differences(subject)
    ours = subject.gradient(subject.numbers)
    graph = subject.graph(subject.numbers)
    if graph is None:
        mixed = subject.mixed(subject.numbers)
        if mixed is None:
            raise CheckError.too_many_rows("compare", MOST_ROWS)
        return _of_tensors(subject, ours, *mixed, against)
    root, leaves = graph
    tape = read(root)
    other = Other(tape, against)
    places = tape.of(leaves)
    their_value, theirs = other.gradients(places)
    verdicts, words = settled(other, places, ours, theirs)
    rows = [
        Compared(place, at, mine, their, ulps_between(mine, their), verdict)
        for place, at, mine, their, verdict in zip(
            subject.places, subject.numbers, ours, theirs, verdicts
        )
    ]
    return Comparison(
        subject.name,
        core_name,
        against,
        other.version,
        root.data,
        their_value,
        same(root.data, their_value, other.bars.data[-1] + VALUES * fabs(their_value)),
        rows,
        words,
    )


def _of_tensors(
    subject: Subject, ours: Sequence[float], root: Any, numbers: Sequence[Any], against: str
) -> Comparison:
    """The same for a graph with tensors: every leaf as one array."""
    if against not in ENGINES:
        raise CheckError.of_tensors("compare", against)
    other = array_engine(engine(against))
    leaves = list({core.key(held_by(one)): held_by(one) for one in numbers}.values())
    keys = [core.key(leaf) for leaf in leaves]

    def value_of(given: list[Any]) -> Any:
        return other.replayed(root, dict(zip(keys, given)))

    arrays = [np.asarray(leaf.data) for leaf in leaves]
    value, found = other.gradients(value_of, arrays)
    by_key = dict(zip(keys, found))
    theirs = [
        float(by_key[core.key(held_by(one))][getattr(one, "index", ())])
        for one in numbers
    ]  # fmt: skip
    scale = max(map(fabs, ours), default=0.0)
    rows = [
        Compared(
            place, at, mine, their, ulps_between(mine, their),
            AGREES if same(mine, their, ARRAYS * scale) else DIFFERS,
        )
        for place, at, mine, their in zip(subject.places, subject.numbers, ours, theirs)
    ]  # fmt: skip
    return Comparison(
        subject.name,
        core_name,
        against,
        other.engine.version,
        root.data,
        value,
        same(root.data, value, ARRAYS * fabs(value)),
        rows,
        [],
    )


def check_against(caller: str, against: object) -> None:
    """Refuse an engine that is not known."""
    if against not in AGAINST:
        raise CheckError.against(caller, against, list(AGAINST))


def _by_differences(subject: Subject) -> Comparison:
    """Differences of the function itself: the verdicts of gradcheck, in the shape of a compare."""
    check = _Check(subject)
    rows = []
    for index in range(len(subject.numbers)):
        entry = check.one(index)
        verdict = DIFFERS if entry.verdict in BAD else AGREES
        apart = ulps_between(entry.gradient, entry.difference)
        rows.append(
            Compared(
                entry.place, entry.at, entry.gradient, entry.difference, apart, verdict, entry.note
            )
        )
    return Comparison(
        subject.name,
        core_name,
        "finite-differences",
        "",
        check.value,
        check.value,
        True,
        rows,
        [],
    )
