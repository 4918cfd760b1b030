"""How far rounding alone can take a gradient: a running error analysis of both passes.

Every value gets an error bar, first in the forward pass (what its operands' bars and its own
rounding make of it), then in the backward pass (what the bars of partials and upstreams make of
each contribution). First order, so it is an estimate and not a proof; thresholds leave room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import fabs, isfinite, sqrt

from ..ops import OPS, STRUCTURAL
from .printed import magnitudes
from .tape import LEAF, ROW, WIDE, Step, Tape
from .tolerances import EPSILON

_SWITCHES = ("gate", "choose", "flat", "sign")
"""Kinds of ops whose partials switch: at a tie, and a tie is a kink and not a rounding error."""


@dataclass(frozen=True)
class Bars:
    """Per step: its data's bar, its gradient, that gradient's bar, and the absolute adjoint."""

    data: list[float]
    gradients: list[float]
    gradient_bars: list[float]
    absolute: list[float]


def _product(left: float, right: float) -> float:
    """left × right, where no error times an infinite slope is still none."""
    return 0.0 if left == 0.0 or right == 0.0 else left * right


def _forward(step: Step, bars: list[float]) -> float:
    terms = [
        _product(fabs(partial), bars[place])
        for partial, place in zip(step.partials, step.inputs)
        if place >= 0
    ]
    if step.kind == WIDE:
        numbers = STRUCTURAL[step.op].terms(step.numbers)
        own = sqrt(len(numbers)) * sum(map(fabs, numbers))
    else:
        own = 2.0 * fabs(step.data)
    return sum(terms) + EPSILON * own


@cache
def _partials_of(name: str) -> tuple[Callable[..., tuple[float, ...]], bool, bool]:
    op = OPS[name]
    steady = op.linear or op.kind in _SWITCHES
    return op.evaluate_partials, steady, "z" in op.saves


def _partial_bars(step: Step, bars: list[float], own: float) -> list[float]:
    """How uncertain each partial is: what it changes by when an operand moves by its bar."""
    widths = [4.0 * EPSILON * fabs(partial) for partial in step.partials]
    if step.kind == WIDE:
        partners = STRUCTURAL[step.op].partners(len(step.inputs))
        others = [-1 if partner is None else step.inputs[partner] for partner in partners]
        return [w + (bars[i] if i >= 0 else 0.0) for w, i in zip(widths, others)]
    if step.kind != ROW:
        return widths
    evaluate, steady, reads_result = _partials_of(step.op)
    if steady:
        return widths
    widths = [4.0 * EPSILON * size for size in magnitudes(step.op)(*step.numbers, step.data)]
    moved = [
        (place, bars[index])
        for place, index in enumerate(step.inputs)
        if index >= 0 and bars[index] > 0.0
    ]
    base = evaluate(*step.numbers, step.data)
    if reads_result:
        _widen(widths, base, evaluate(*step.numbers, step.data + own))
    for place, bar in moved:
        numbers = list(step.numbers)
        numbers[place] += bar
        _widen(widths, base, evaluate(*numbers, step.data))
    return widths


def _widen(widths: list[float], base: Sequence[float], shifted: Sequence[float]) -> None:
    for place, (here, there) in enumerate(zip(base, shifted)):
        change = fabs(there - here)
        if isfinite(change):
            widths[place] += change


def error_bars(
    tape: Tape,
    replaced: Mapping[int, Sequence[float]] | None = None,
    noise: Mapping[int, float] | None = None,
) -> Bars:
    """The error bars of a graph.

    ``replaced`` gives other partials for some of its steps, ``noise`` what the values of some are
    known to scatter by.
    """
    count = len(tape.steps)
    data, gradients, widths, absolute = ([0.0] * count for _ in range(4))
    for place, step in enumerate(tape.steps):
        if step.kind != LEAF:
            data[place] = _forward(step, data)
            if noise and place in noise:
                data[place] += noise[place]
    gradients[-1] = absolute[-1] = 1.0
    for place in range(count - 1, -1, -1):
        step = tape.steps[place]
        upstream, bar, scale = gradients[place], widths[place], absolute[place]
        if step.kind == LEAF or (scale == 0.0 and bar == 0.0):
            continue
        partials = step.partials if replaced is None else replaced.get(place, step.partials)
        partial_bars = _partial_bars(step, data, data[place])
        for partial, width, index in zip(partials, partial_bars, step.inputs):
            if index < 0:
                continue
            contribution = partial * upstream
            gradients[index] += contribution
            absolute[index] += fabs(partial) * scale
            widths[index] += (
                _product(fabs(partial), bar)
                + _product(width, fabs(upstream))
                + EPSILON * fabs(contribution)
            )
    return Bars(data, gradients, widths, absolute)
