"""What a check found, as data, and the one function that decides: right, wrong, noise or kink."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import fabs, isfinite, isinf, isnan
from typing import Any

from .._shared.birth import spelled
from .._shared.sites import Site
from .differences import EDGE, JUMP, LOST, SMOOTH, Slope
from .tolerances import ROUNDINGS, SAFETY, TOLERANCE

RIGHT, WRONG, NOISE, KINKED = "right", "wrong rule", "difference noise", "kink here"
NOT_FINITE = "not finite"
BAD = (WRONG, NOT_FINITE)
"""The verdicts that make a check fail."""


@dataclass(frozen=True)
class Entry:
    """One gradient and what it was held against.

    ``error`` is the difference's own estimated error, ``left`` and ``right`` the one-sided slopes
    where they were needed. ``of`` names the gradient that was differentiated in second order.
    """

    place: str
    at: float
    gradient: float
    difference: float
    error: float
    verdict: str
    how: str
    left: float | None = None
    right: float | None = None
    note: str = ""
    of: str = ""

    @property
    def off(self) -> float:
        """How far off, as a share of the difference."""
        gap = fabs(self.gradient - self.difference)
        size = max(fabs(self.difference), fabs(self.gradient))
        return gap / size if size > 0.0 and isfinite(gap) else 0.0 if gap == 0.0 else float("inf")


@dataclass(frozen=True)
class Fault:
    """A step of the graph whose own partial is wrong, or whose rule adds it up wrongly."""

    op: str
    input: int
    given: float
    expected: float | None
    cause: str
    site: Site | None
    label: str | None
    rule: Site | None = None  # where a custom op's rule is written


@dataclass(frozen=True)
class Coverage:
    """What was looked at."""

    inputs: int
    one_by_one: int
    directions: int
    steps: int
    steps_checked: int
    evaluations: int
    complex_step: str


@dataclass(frozen=True)
class Report:
    """Everything gradcheck found. ``right`` is False where anything is wrong."""

    function: str
    core: str
    value: float
    entries: list[Entry]
    faults: list[Fault]
    causes: list[str]
    coverage: Coverage
    notes: list[str] = field(default_factory=list)

    @property
    def right(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults and all(entry.verdict not in BAD for entry in self.entries)

    @property
    def undecided(self) -> list[Entry]:
        """Where differences are too noisy to tell."""
        return [entry for entry in self.entries if entry.verdict == NOISE]

    @property
    def verdict(self) -> str:
        """Of the whole: right, wrong rule, not finite, or noise where nothing could be decided."""
        if not self.right:
            wrong = self.faults or any(entry.verdict == WRONG for entry in self.entries)
            return WRONG if wrong else NOT_FINITE
        return NOISE if self.entries and len(self.undecided) == len(self.entries) else RIGHT

    @property
    def worst(self) -> Entry | None:
        """The entry that is furthest off: among the wrong ones where there are any."""
        wrong = [entry for entry in self.entries if entry.verdict in BAD]
        return max(wrong or self.entries, key=lambda entry: entry.off, default=None)

    def data(self) -> dict[str, Any]:
        """The report as plain data, for JSON: not-finite numbers as text."""
        found = {"verdict": self.verdict, "right": self.right, **asdict(self)}
        for fault, listed in zip(self.faults, found["faults"]):
            listed["site"] = str(fault.site) if fault.site else None
            listed["rule"] = str(fault.rule) if fault.rule else None
        return spelled(found)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        from .report_text import gradcheck_text

        return gradcheck_text(self)

    def _repr_html_(self) -> str:
        from .page import gradcheck_html

        return gradcheck_html(self)


def judged(gradient: float, bar: float, natural: float, slope: Slope) -> tuple[str, str]:
    """The verdict on a gradient against a slope, and a word on it.

    ``bar`` is the gradient's own error bar; ``natural`` the size below which it counts as zero.
    """
    if isnan(gradient):
        return NOT_FINITE, "the gradient is NaN: it was born in the backward pass"
    if slope.kind == LOST:
        return NOISE, "no step on either side gives a difference"
    if slope.kind == EDGE:
        return _at_the_edge(gradient, bar, natural, slope)
    if slope.kind == JUMP:
        return KINKED, "the function jumps here, so it has no slope that could be checked"
    if slope.kind != SMOOTH:
        return _at_a_kink(gradient, bar, slope)
    return _where_smooth(gradient, bar, natural, slope)


def _where_smooth(gradient: float, bar: float, natural: float, slope: Slope) -> tuple[str, str]:
    if isinf(gradient):
        return NOT_FINITE, "the gradient is infinite where the function has a finite slope"
    gap, size = fabs(gradient - slope.value), max(fabs(gradient), fabs(slope.value))
    error, rounding = SAFETY * slope.error, ROUNDINGS * bar
    if gap > TOLERANCE * size + error + rounding:
        return WRONG, ""
    if gap > TOLERANCE * size + error:
        return NOISE, "rounding: the gradient itself has few digits here"
    if error <= 2.0 * TOLERANCE * size:
        return RIGHT, ""
    zero = gradient == 0.0 or fabs(gradient) <= rounding
    if zero and fabs(slope.value) <= error and error <= TOLERANCE * natural:
        return RIGHT, "zero"
    return NOISE, "the differences have fewer digits than the check needs"


def _at_the_edge(gradient: float, bar: float, natural: float, slope: Slope) -> tuple[str, str]:
    edge = "the edge of the domain: the slope is one-sided"
    if slope.value == gradient:
        return RIGHT, edge
    if isinf(gradient):
        if slope.growing and (slope.value > 0.0) == (gradient > 0.0):
            return RIGHT, f"{edge}, and grows without end"
        return NOT_FINITE, f"{edge}, and finite, but the gradient is infinite"
    if isinf(slope.value):
        return WRONG, edge
    verdict, note = _where_smooth(gradient, bar, natural, slope)
    if gradient == 0.0 and fabs(slope.value) <= TOLERANCE * natural + SAFETY * slope.error:
        verdict, note = RIGHT, ""  # a root of the distance goes to 0 slowly
    return verdict, f"{edge}; {note}" if note else edge


def _at_a_kink(gradient: float, bar: float, slope: Slope) -> tuple[str, str]:
    least, most = slope.between
    sizes = [fabs(x) for x in (least, most, gradient) if isfinite(x)]
    room = TOLERANCE * max(sizes, default=0.0) + ROUNDINGS * bar + SAFETY * slope.error
    if isinf(gradient) and gradient not in (least, most):
        return NOT_FINITE, f"a {slope.kind} here with finite sides, but the gradient is infinite"
    if least - room <= gradient <= most + room:
        return KINKED, f"a {slope.kind} here: any slope between the two sides will do"
    return WRONG, f"a {slope.kind} here, and the gradient is not between the two sides"


def worst_first(entries: Sequence[Entry]) -> list[Entry]:
    """Wrong entries before the others, the furthest off first; else as they came."""
    wrong = [entry for entry in entries if entry.verdict in BAD]
    others = [entry for entry in entries if entry.verdict not in BAD]
    return sorted(wrong, key=lambda entry: -entry.off) + others
