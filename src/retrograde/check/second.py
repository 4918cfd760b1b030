"""Second order: differences of our gradient against the derivative of its gradient."""

from __future__ import annotations

from math import fabs
from random import Random
from typing import Any

from .._derivatives.derivatives import gradients
from .._values.functions import dot
from ..errors import CheckError
from ..value import Value
from .differences import Line, along_direction, along_number, scales_of
from .subject import Subject
from .tolerances import EPSILON
from .verdicts import RIGHT, Entry, judged

FULL = 16
"""Up to this many inputs every second derivative is checked; beyond, Hessian times direction."""

DIRECTIONS = 2
SHOWN = 8


def second_order(
    subject: Subject, gradient: list[float], bars: list[float], rng: Random
) -> list[Entry]:
    """An entry a second derivative, or a component of Hessian × direction where there are many."""
    graph = subject.graph(subject.numbers)
    if graph is None:
        raise CheckError.too_many_rows("gradcheck with order=2", 256)
    root, leaves = graph
    first = gradients(root, leaves) if root.requires_grad else [0.0] * len(leaves)
    count = len(leaves)
    if count <= FULL:
        return [
            entry
            for index in range(count)
            for entry in _row(subject, first, leaves, index, gradient, bars)
        ]
    scales = scales_of(subject.numbers)
    entries = []
    for number in range(DIRECTIONS):
        moves = [rng.choice((-s, s)) for s in scales]
        entries += _direction(subject, first, leaves, moves, number, gradient, bars)
    return entries


def _times(first: list[Any], leaves: list[Value], moves: list[float]) -> list[float]:
    """The Hessian times a direction, by differentiating the gradient once more."""
    slope = dot(first, moves)
    if not isinstance(slope, Value) or not slope.requires_grad:
        return [0.0] * len(leaves)
    return [float(g.data) for g in gradients(slope, leaves)]


class _Gradients:
    """Our gradient at moved points, each asked for once."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._known: dict[tuple[float, ...], list[float]] = {}

    def at(self, numbers: list[float]) -> list[float]:
        key = tuple(numbers)
        if key not in self._known:
            try:
                self._known[key] = self._subject.gradient(numbers)
            except (ArithmeticError, ValueError):
                self._known[key] = [float("nan")] * len(numbers)
            self._subject.evaluations += 1
        return self._known[key]


def _judge(line: Line, mine: float, natural: float, entry: tuple[str, float, str]) -> Entry:
    slope = line.quick()
    bar = 64.0 * EPSILON * fabs(mine)
    verdict, note = ("", "") if slope is None else judged(mine, bar, natural, slope)
    if slope is None or verdict != RIGHT:
        slope = line.slope()
        verdict, note = judged(mine, bar, natural, slope)
    place, at, of = entry
    how = "differences of the gradient"
    return Entry(
        place, at, mine, slope.value, slope.error, verdict, how, slope.left, slope.right, note, of
    )


def _row(
    subject: Subject,
    first: list[Any],
    leaves: list[Value],
    index: int,
    gradient: list[float],
    bars: list[float],
) -> list[Entry]:
    moves = [float(i == index) for i in range(len(leaves))]
    mine = _times(first, leaves, moves)
    known, at = _Gradients(subject), subject.numbers[index]
    entries = []
    for other in range(len(leaves)):

        def along(x: float, other: int = other) -> float:
            numbers = [*subject.numbers[:index], x, *subject.numbers[index + 1 :]]
            return known.at(numbers)[other]

        line = along_number(along, at, bars[other] + EPSILON * fabs(gradient[other]))
        natural = max(fabs(gradient[other]) / max(fabs(at), 1.0), max(map(fabs, mine)))
        of = f"d/d{subject.places[other]}"
        entries.append(_judge(line, mine[other], natural, (subject.places[index], at, of)))
    return entries


def _direction(
    subject: Subject,
    first: list[Any],
    leaves: list[Value],
    moves: list[float],
    number: int,
    gradient: list[float],
    bars: list[float],
) -> list[Entry]:
    mine = _times(first, leaves, moves)
    known = _Gradients(subject)
    largest = sorted(range(len(mine)), key=lambda i: -fabs(mine[i]))[:SHOWN]
    entries = []
    for other in largest:

        def along(by: float, other: int = other) -> float:
            return known.at([x + by * move for x, move in zip(subject.numbers, moves)])[other]

        line = along_direction(along, bars[other] + EPSILON * fabs(gradient[other]))
        natural = max(fabs(gradient[other]), fabs(mine[other]))
        of = f"d/d{subject.places[other]}"
        entries.append(_judge(line, mine[other], natural, (f"direction {number + 1}", 0.0, of)))
    return entries
