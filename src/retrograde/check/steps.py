"""Every step of a graph by itself: is its partial the slope of what it computes?

A gradient is partials multiplied and added up, so a wrong gradient has a wrong step, and here it is
found with its line. Rows of the law are held against a complex step of their value, all nodes of an
op at once; custom ops, and rows on a kink, against differences of their own function. Of a rule
that is only known as a function (closure style, vjp) it is also seen whether it adds (+=) and
whether it multiplies by the upstream.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import fabs, isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np

from .._shared.sites import Site
from ..ops import OPS, STRUCTURAL
from .complexstep import FLOOR, STEP
from .differences import EDGE, SMOOTH, Slope, along_number
from .mistakes import cause_of_step
from .printed import at_a_kink, on_complex
from .rounding import _partial_bars
from .tape import CUSTOM, LEAF, ROW, WIDE, Step, Tape, effective_partials
from .tolerances import EPSILON, ROUNDINGS, STEP_TOLERANCE
from .verdicts import WRONG, Fault, judged

_HOME = str(Path(__file__).parent)
_TINY = 1e-180  # below, a complex step would underflow

MOST = 400
"""Steps of one op that are asked again one by one; the others are taken to be alike."""


@dataclass
class StepsFound:
    """The faults with their places, how many steps were looked at, and how far the values of
    custom ops scatter."""

    faults: list[Fault] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    noise: dict[int, float] = field(default_factory=dict)
    checked: int = 0
    total: int = 0


def check_steps(tape: Tape, matters: Sequence[bool]) -> StepsFound:
    """Check the steps that matter, each by itself."""
    found = StepsFound()
    groups: dict[tuple[str, str], list[int]] = {}
    for place, step in enumerate(tape.steps):
        if matters[place] and step.kind != LEAF:
            groups.setdefault((step.kind, step.op), []).append(place)
    for (kind, op), places in groups.items():
        found.total += len(places)
        if kind == ROW:
            _check_rows(tape, op, places, found)
        elif kind == WIDE:
            _check_wide(tape, places, found)
        else:
            _check_own_rules(tape, kind, places, found)
    return found


def _check_rows(tape: Tape, op: str, places: list[int], found: StepsFound) -> None:
    steps = [tape.steps[place] for place in places]
    numbers = np.array([step.numbers for step in steps])
    partials = np.array([step.partials for step in steps])
    columns = list(numbers.T)
    plain = ~np.broadcast_to(at_a_kink(op, *columns), len(steps))
    sizes_of_results = np.maximum(1.0, np.abs([step.data for step in steps]))
    plain &= np.isfinite(sizes_of_results)
    plain &= ((np.abs(numbers) > _TINY) | (numbers == 0.0)).all(axis=1)
    slopes, floors = np.empty_like(partials), np.empty_like(partials)
    formula = on_complex(op)
    smallest = np.where(numbers == 0.0, 1.0, np.abs(numbers)).min(axis=1, initial=1.0)
    with np.errstate(all="ignore"):
        for index in range(numbers.shape[1]):
            sizes = np.where(
                columns[index] == 0.0, smallest, np.minimum(np.abs(columns[index]), 1.0)
            )
            moved: list[Any] = list(columns)
            moved[index] = columns[index] + 1j * STEP * sizes
            slopes[:, index] = np.imag(formula(*moved) + 0j) / STEP / sizes
            floors[:, index] = FLOOR * sizes_of_results / sizes
        gap = np.abs(slopes - partials)
        room = STEP_TOLERANCE * np.maximum(np.abs(slopes), np.abs(partials)) + floors
        suspects = plain & (gap > room).any(axis=1)
    found.checked += int(plain.sum())
    for row in np.flatnonzero(suspects).tolist():
        step = steps[row]
        bars = _partial_bars(step, [0.0] * len(tape.steps), 2.0 * EPSILON * fabs(step.data))
        for index, bar in enumerate(bars):
            if gap[row, index] > room[row, index] + ROUNDINGS * bar:
                _add(found, places[row], step, index, [float(x) for x in slopes[row]])
    kinked = np.flatnonzero(~plain).tolist()
    _one_by_one(tape, [places[row] for row in kinked], found, lambda step: OPS[step.op].evaluate)


def _check_wide(tape: Tape, places: list[int], found: StepsFound) -> None:
    for place in places:
        step = tape.steps[place]
        expected = tuple(STRUCTURAL[step.op].slopes(step.numbers))
        found.checked += 1
        if expected != step.partials and not any(x != x for x in expected):
            index = next(i for i, (e, p) in enumerate(zip(expected, step.partials)) if e != p)
            _add(found, place, step, index, list(expected))


def _check_own_rules(tape: Tape, kind: str, places: list[int], found: StepsFound) -> None:
    """What has its own rule: an opaque value's number cannot be asked for again, so of its partial
    only the whole function tells."""
    for place in places[:MOST]:
        step = tape.steps[place]
        cause = "" if step.node.partials else _behaviour(step)
        if cause:
            _append(found, place, step, 0, None, cause)
    if kind == CUSTOM:
        _one_by_one(tape, places, found, _own_function)


def _own_function(step: Step) -> Callable[..., float]:
    """A custom op's function on numbers, without the partials it may return along."""
    function = step.node._rule.evaluate  # type: ignore[union-attr]

    def value(*numbers: float) -> float:
        outcome = function(*numbers)
        outcome = outcome[0] if isinstance(outcome, tuple) else outcome
        return nan if isinstance(outcome, complex) else float(outcome)  # Python's (-1.0)**0.5

    return value


def _behaviour(step: Step) -> str:
    """Whether a rule that is a function adds to what is there, and multiplies by the upstream."""
    fresh = step.partials
    if any(not isfinite(p) for p in fresh):
        return ""
    on_top = effective_partials(step.node, before=1.0)
    if any(fabs(p - q) > 1e-9 * (1.0 + fabs(p)) for p, q in zip(fresh, on_top)):
        return "it sets its inputs' gradients where it should add to them: = for +="
    tripled = effective_partials(step.node, seed=3.0)
    if any(fabs(3.0 * p - q) > 1e-9 * fabs(3.0 * p) for p, q in zip(fresh, tripled)):
        return "it does not multiply by the upstream gradient"
    return ""


def _one_by_one(
    tape: Tape,
    places: Sequence[int],
    found: StepsFound,
    function_of: Callable[[Step], Callable[..., float]],
) -> None:
    """Differences of each step's own function, once for equal operands."""
    seen: dict[Any, float] = {}
    for place in places:
        step = tape.steps[place]
        key = (step.op, step.numbers, step.partials)
        if key in seen or len(seen) >= MOST or not isfinite(step.data):
            found.checked += key in seen
            found.noise[place] = seen[key] if key in seen else max(seen.values(), default=0.0)
            continue
        seen[key] = 0.0
        found.checked += 1
        function = function_of(step)
        expected: list[float | None] = []
        wrong: list[int] = []
        outside: dict[int, str] = {}
        for index, number in enumerate(step.numbers):
            target = step.inputs[index]
            if target >= 0 and step.inputs.count(target) > 1 and not step.node.partials:
                expected.append(None)  # a vjp's two contributions to one input cannot be parted
                continue
            line = along_number(
                _along(function, step.numbers, index), number, 4.0 * EPSILON * fabs(step.data)
            )
            slope = line.quick() or line.slope()
            if step.kind == CUSTOM:
                seen[key] = found.noise[place] = max(seen[key], line.seen_noise())
            expected.append(slope.value)
            scale = max(fabs(step.data) / max(fabs(number), 1.0), fabs(step.partials[index]))
            verdict, _ = judged(step.partials[index], 0.0, scale, slope)
            if verdict == WRONG:
                wrong.append(index)
            if verdict == WRONG and slope.kind not in (SMOOTH, EDGE):
                outside[index] = _not_between(slope)
        for index in wrong:
            if index in outside:
                _append(found, place, step, index, expected[index], outside[index])
            else:
                _add(found, place, step, index, expected)


def _not_between(slope: Slope) -> str:
    least, most = slope.between
    return f"the partial is not between the slopes of the two sides, {least:.6g} and {most:.6g}"


def _along(
    function: Callable[..., float], numbers: Sequence[float], index: int
) -> Callable[[float], float]:
    def at(number: float) -> float:
        moved = [*numbers[:index], number, *numbers[index + 1 :]]
        try:
            return float(function(*moved))
        except (ArithmeticError, ValueError):
            return float("nan")

    return at


def _add(
    found: StepsFound, place: int, step: Step, index: int, expected: Sequence[float | None]
) -> None:
    cause = cause_of_step(step, index, step.partials, expected)
    _append(found, place, step, index, expected[index], cause)


def _append(
    found: StepsFound, place: int, step: Step, index: int, expected: float | None, cause: str
) -> None:
    node, rule = step.node, step.node._rule
    site = node.site if node.site is None or not node.site.file.startswith(_HOME) else None
    where = None
    if rule is not None:
        code = getattr(rule._partials or rule._vjp or rule._function, "__code__", None)
        where = code and Site(code.co_filename, code.co_firstlineno, rule.name)
    found.faults.append(
        Fault(
            step.op, index, step.partials[index], expected, cause, site, node.label or None, where
        )
    )
    found.places.append(place)
