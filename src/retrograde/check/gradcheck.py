"""``rg.gradcheck``: the backward pass held against differences of the function itself.

The order of evidence: differences of the function (they see everything, also what never entered
the graph); where they are too noisy, a complex step through the graph; and every step by
itself, which also says where a wrong gradient is made. docs/checking.md has the whole story.
"""

from __future__ import annotations

from collections.abc import Callable
from math import fabs, frexp, isfinite
from random import Random
from typing import Any

from ..errors import CheckError, GradcheckError
from ..value import core_name
from . import complexstep
from .differences import (
    JUMP,
    LOST,
    SMOOTH,
    Line,
    Slope,
    along_direction,
    along_number,
    scales_of,
)
from .mistakes import causes_of_entries
from .rounding import Bars, error_bars
from .second import second_order
from .steps import StepsFound, check_steps
from .subject import Subject, subject_of
from .tape import Tape, read
from .tolerances import (
    DIRECTION_TOLERANCE,
    DIRECTIONS,
    EPSILON,
    ONE_BY_ONE,
    ROUNDINGS,
    SAFETY,
    TOLERANCE,
    WORST,
)
from .verdicts import BAD, KINKED, NOISE, RIGHT, WRONG, Coverage, Entry, Report, judged

CENTRAL, ONE_SIDED, COMPLEX = "central differences", "one-sided differences", "complex step"


DROWNED = 1e-4
"""Inputs whose part is below this share of the largest have directions of their own,"""
LEVEL, MOST_LEVELS = 13, 8
"""one for each such many powers of 2, and at most so many of them."""


class _Check:
    """One check under way: the subject, its gradient, its graph, and what was found so far."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.value = subject.value(subject.numbers)
        if not isfinite(self.value):
            raise CheckError.not_finite(subject.caller, subject.name, self.value)
        self.notes: list[str] = []
        again = subject.value(subject.numbers)
        self.noise = 2.0 * fabs(again - self.value)
        self.steady = self.noise == 0.0
        if not self.steady:
            self.notes.append(
                f"the function is not the same twice: {self.value!r}, then {again!r}. "
                "Fix its random numbers to check it."
            )
        self.gradient = subject.gradient(subject.numbers)
        graph = subject.graph(subject.numbers)
        count = len(subject.numbers)
        self.tape: Tape | None = None
        self.places = [-1] * count
        self.bars, self.absolute = [0.0] * count, [0.0] * count
        self.all_bars: Bars | None = None
        self.steps = StepsFound()
        self.outside: set[str] = set()
        if graph is not None:
            self._read(graph[0], graph[1])
        self.directions = 0
        self.entries: dict[int, Entry] = {}

    def _read(self, root: Any, leaves: list[Any]) -> None:
        self.tape = tape = read(root)
        self.places = tape.of(leaves)
        self.steps = check_steps(tape, tape.used_by(self.places))
        self.all_bars = bars = error_bars(tape, noise=self.steps.noise)
        self.noise = max(self.noise, bars.data[-1] if isfinite(bars.data[-1]) else 0.0)
        for index, place in enumerate(self.places):
            if place >= 0:
                bar, size = bars.gradient_bars[place], bars.absolute[place]
                self.bars[index] = bar if isfinite(bar) else 0.0
                self.absolute[index] = size if isfinite(size) else 0.0

    # ---- one input ---------------------------------------------------------------------------

    def one(self, index: int) -> Entry:
        """Check one input by itself."""
        if index in self.entries:
            return self.entries[index]
        line = along_number(
            lambda x: self.subject.moved_one(index, x), self.subject.numbers[index], self.noise
        )
        slope = line.quick()
        verdict, note = (NOISE, "") if slope is None else self._judged(index, slope)
        if slope is None or verdict != RIGHT:
            slope = line.slope()
            verdict, note = self._judged(index, slope)
        entry = self._entry(index, slope, verdict, note)
        if verdict in (NOISE, WRONG):
            entry = self._second_opinion(index, slope, entry)
        self.entries[index] = entry
        return entry

    def _judged(self, index: int, slope: Slope) -> tuple[str, str]:
        at = max(fabs(self.subject.numbers[index]), 1.0)
        natural = max(self.absolute[index], fabs(self.value) / at)
        verdict, note = judged(self.gradient[index], self.bars[index], natural, slope)
        if verdict == KINKED and slope.kind == JUMP and not self.steady:
            return NOISE, "the function is not the same twice"  # that is no jump of its own
        return verdict, note

    def _entry(self, index: int, slope: Slope, verdict: str, note: str) -> Entry:
        subject = self.subject
        return Entry(
            subject.places[index],
            subject.numbers[index],
            self.gradient[index],
            slope.value,
            slope.error,
            verdict,
            CENTRAL if slope.kind == SMOOTH else ONE_SIDED,
            slope.left,
            slope.right,
            note,
        )

    def _second_opinion(self, index: int, slope: Slope, entry: Entry) -> Entry:
        """Where differences cannot tell, or say wrong: ask the complex step."""
        place = self.places[index]
        if self.tape is None or place < 0 or not isfinite(entry.gradient):
            return entry
        if entry.verdict == NOISE and (slope.kind == LOST or not self.steady):
            return entry  # the graph is that of this point and this call, and of no other
        if complexstep.obstacle(self.tape, [place]):
            return entry
        exact = float(complexstep.slopes(self.tape, [place])[0])
        size = max(fabs(exact), fabs(entry.gradient))
        room = TOLERANCE * size + ROUNDINGS * self.bars[index]
        room += complexstep.FLOOR * max(1.0, fabs(self.value)) / complexstep.step_size(entry.at)
        agrees = fabs(exact - entry.gradient) <= room
        if not isfinite(exact):
            return entry
        if entry.verdict == WRONG:
            if not agrees:
                return entry
            if not self._same_as_graph(index, place, slope.step):
                self.outside.add(entry.place)
                return entry
        note = "" if entry.verdict == WRONG else "differences are too noisy here"
        verdict = RIGHT if agrees else WRONG
        return Entry(entry.place, entry.at, entry.gradient, exact, 0.0, verdict, COMPLEX, note=note)

    def _same_as_graph(self, index: int, place: int, step: float) -> bool:
        """Whether the function still has this graph a little way from the point."""
        assert self.tape is not None
        at = self.subject.numbers[index]
        for move in (step, -step):
            there = self.subject.moved_one(index, at + move)
            replayed = complexstep.replayed(self.tape, {place: move})
            change = fabs(there - self.value)
            room = 64.0 * (self.noise + EPSILON * fabs(there)) + 1e-9 * change
            if not fabs(there - replayed) <= room:
                return False
        return True

    # ---- many inputs at once -----------------------------------------------------------------

    def along(self, moves: list[float]) -> tuple[float, bool]:
        """How far gradient and difference are apart along a direction, in units of what is
        allowed (above 1: wrong), and whether the function is smooth along it."""
        line = along_direction(lambda by: self.subject.moved(moves, by), self.noise)
        parts = [g * move for g, move in zip(self.gradient, moves)]
        size = sum(map(fabs, parts))
        bar = sum(fabs(b * move) for b, move in zip(self.bars, moves))
        gap, slope = self._gap(line, line.quick(), sum(parts), size, bar)
        if slope is None or gap > 1.0 or SAFETY * slope.error > 1e-6 * size:
            gap, slope = self._gap(line, line.slope(), sum(parts), size, bar)
        return gap, slope is not None and slope.kind == SMOOTH

    def _gap(
        self, line: Line, slope: Slope | None, expected: float, size: float, bar: float
    ) -> tuple[float, Slope | None]:
        if slope is None:
            return float("inf"), None
        room = DIRECTION_TOLERANCE * size + SAFETY * slope.error + ROUNDINGS * bar
        gap = fabs(expected - slope.value)
        return (gap / room if room > 0.0 else float(gap > 0.0) * float("inf")), slope

    def many(self, rng: Random) -> None:
        """Random directions through all inputs; then inputs one by one, the suspects first."""
        count = len(self.subject.numbers)
        scales = scales_of(self.subject.numbers)
        usual = sorted(s for s, x in zip(scales, self.subject.numbers) if x != 0.0)
        if usual:
            middle = usual[len(usual) // 2]
            scales = [s if x else middle for s, x in zip(scales, self.subject.numbers)]
        suspects: list[int] = []
        for _ in range(DIRECTIONS):
            moves = [rng.choice((-s, s)) for s in scales]
            gap, smooth = self.along(moves)
            if not smooth:
                continue
            self.directions += 1
            if gap > 1.0 and not suspects:
                suspects = self._located(moves)
        suspects += self._faint_ones(scales, rng)
        by_size = sorted(range(count), key=lambda i: -fabs(self.gradient[i]) * scales[i])
        alone = WORST if self.directions else 2 * WORST
        chosen = [*suspects, *by_size[: alone // 2]]
        chosen += rng.sample(range(count), min(count, alone // 2))
        for index in dict.fromkeys(chosen):
            self.one(index)
        if self.directions < DIRECTIONS:
            self.notes.append(
                f"{DIRECTIONS - self.directions} of {DIRECTIONS} random directions were not smooth"
            )

    def _faint_ones(self, scales: list[float], rng: Random) -> list[int]:
        """Suspects among inputs that the others drown: those of about one size by themselves."""
        sizes = [fabs(g) * s for g, s in zip(self.gradient, scales)]
        largest = max((size for size in sizes if isfinite(size)), default=0.0)
        levels: dict[float, list[int]] = {}
        for index, size in enumerate(sizes):
            if isfinite(size) and size < DROWNED * largest:
                levels.setdefault(size and frexp(size)[1] // LEVEL, []).append(index)
        found: list[int] = []
        for _, members in sorted(levels.items())[-MOST_LEVELS:]:
            chosen = set(members)
            moves = [rng.choice((-s, s)) if i in chosen else 0.0 for i, s in enumerate(scales)]
            gap, smooth = self.along(moves)
            if smooth and gap > 1.0:
                found += self._located(moves)
        return found

    def _located(self, moves: list[float]) -> list[int]:
        """The inputs behind a direction that disagrees: halved until one is left, three times."""
        found: list[int] = []
        rest = list(moves)
        for _ in range(3):
            support = [i for i, move in enumerate(rest) if move]
            while len(support) > 1:
                half = len(support) // 2
                gaps = []
                for part in (support[:half], support[half:]):
                    chosen = set(part)
                    masked = [m if i in chosen else 0.0 for i, m in enumerate(rest)]
                    gaps.append((self.along(masked)[0], part))
                support = max(gaps, key=lambda pair: pair[0])[1]
            found += support
            for index in support:
                rest[index] = 0.0
            if self.along(rest)[0] <= 1.0:
                break
        return found

    # ---- the whole ---------------------------------------------------------------------------

    def blame(self) -> None:
        """Where differences could not tell, the steps decide."""
        tape, found = self.tape, self.steps
        for index, entry in self.entries.items():
            if entry.verdict != NOISE or tape is None:
                continue
            below = tape.used_by([self.places[index]])
            if any(below[place] for place in found.places):
                verdict, note = WRONG, "a step that leads to it has a wrong rule"
            else:
                verdict = NOISE
                note = entry.note or "differences are too noisy here"
                if found.total and found.checked == found.total:
                    note += "; every step is right by itself"
            self.entries[index] = _with(entry, verdict, note)

    def contributions(self) -> dict[str, list[float]]:
        """What arrives at each wrong input, in the order it arrives."""
        if self.tape is None or self.all_bars is None:
            return {}
        wanted = {
            self.places[index]: entry.place
            for index, entry in self.entries.items()
            if entry.verdict in BAD and self.places[index] >= 0
        }
        arrived: dict[str, list[float]] = {}
        for place in range(len(self.tape.steps) - 1, -1, -1):
            step = self.tape.steps[place]
            for partial, target in zip(step.partials, step.inputs):
                if target in wanted:
                    contribution = partial * self.all_bars.gradients[place]
                    arrived.setdefault(wanted[target], []).append(contribution)
        return arrived

    def report(self, order: int, seed: int) -> Report:
        """All that was found, with the second derivatives where they are asked for."""
        subject, found = self.subject, self.steps
        entries = [self.entries[index] for index in sorted(self.entries)]
        causes = [f"{fault.op}: {fault.cause}" for fault in found.faults]
        if not causes:
            causes = causes_of_entries(entries, self.contributions(), self.outside)
        if order == 2:
            entries += second_order(subject, self.gradient, self.bars, Random(seed))
            if not causes:
                causes = causes_of_entries(entries, {}, set())
        obstacle = "" if self.tape is None else complexstep.obstacle(self.tape, self.places)
        coverage = Coverage(
            inputs=len(subject.numbers),
            one_by_one=len(self.entries),
            directions=self.directions,
            steps=found.total,
            steps_checked=found.checked,
            evaluations=subject.evaluations,
            complex_step=obstacle or "applies",
        )
        return Report(
            subject.name,
            core_name,
            self.value,
            entries,
            found.faults,
            list(dict.fromkeys(causes)),
            coverage,
            self.notes,
        )


def _with(entry: Entry, verdict: str, note: str) -> Entry:
    return Entry(
        entry.place,
        entry.at,
        entry.gradient,
        entry.difference,
        entry.error,
        verdict,
        entry.how,
        entry.left,
        entry.right,
        note,
        entry.of,
    )


def gradcheck(
    function: Callable[..., Any],
    point: Any,
    *,
    order: int = 1,
    every: bool = False,
    seed: int = 0,
    raises: bool = True,
) -> Report:
    """Check the gradient of a function at a point; raise :class:`GradcheckError` if it is wrong.

    ``point`` is the argument: a number, or a list, dict or array of numbers; a tuple holds several
    arguments. Given leaves (or a module with ``parameters()``) and a function without arguments,
    the loss is checked over those. Compiled functions are taken too; over rows, their sum is.

    ``order=2`` checks the second derivatives as well. Beyond 64 inputs random directions come
    first and then the worst inputs; ``every=True`` checks each by itself. ``raises=False`` returns
    the report whatever it says.

    >>> import retrograde as rg
    >>> report = rg.gradcheck(lambda x, y: x * y.exp(), (3.0, 0.5))
    >>> report.verdict, [entry.verdict for entry in report.entries]
    ('right', ['right', 'right'])

    >>> @rg.custom_op
    ... def cube(x):
    ...     return x**3, (6 * x**2,)  # a factor 2 too many
    >>> report = rg.gradcheck(cube, 2.0, raises=False)
    >>> report.right, report.faults[0].cause
    (False, 'a factor 2 too many')
    """
    __tracebackhide__ = True
    if order not in (1, 2):
        raise CheckError(f"gradcheck: order={order!r} is unknown; write 1 or 2.")
    check = _Check(subject_of("gradcheck", function, point))
    count = len(check.subject.numbers)
    if count <= ONE_BY_ONE or every:
        for index in range(count):
            check.one(index)
    else:
        check.many(Random(seed))
    check.blame()
    report = check.report(order, seed)
    if raises and not report.right:
        from .report_text import gradcheck_error

        raise GradcheckError.of(gradcheck_error(report), report)
    return report


def assert_gradients(function: Callable[..., Any], point: Any, *, order: int = 1) -> None:
    """For tests: pass where the gradient is right, fail with its worst entry where it is not.

    >>> import retrograde as rg
    >>> rg.assert_gradients(lambda v: v[0] * v[1].tanh(), [2.0, 0.3])
    """
    __tracebackhide__ = True
    gradcheck(function, point, order=order)
