"""What a story must not pass over: where a NaN or an infinity was born, and which slopes a leaf has
to either side where its value stands on a kink. Worked out from the story's columns; no words of
the reading itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf
from pathlib import PurePath
from typing import TYPE_CHECKING

from .._shared.birth import INFINITE_PARTIAL, WHY, cause_of, is_birth
from ..ops import OPS
from ..ops.corners import Corner, beside, corner, reason, step_at
from ..ops.sentences import shown

if TYPE_CHECKING:
    from .story import Story

MOST_BIRTHS = 8
LONGEST_WALK = 100_000
"""Values past which one-sided slopes are not worked out."""

FORWARD, BACKWARD = "forward", "backward"


@dataclass(frozen=True)
class Born:
    """A NaN or an infinity that begins at one value of a story, in words.

    ``step`` is the step of its phase; ``because`` and ``cure`` may be ''.
    """

    node: int
    phase: str
    step: int
    what: str
    where: str
    because: str
    cure: str

    def words(self) -> str:
        """``NaN is born here, script.py line 5, because log(-1) is NaN: … Cure: …``."""
        place = f", {self.where}," if self.where else ","
        return f"{self.what} is born here{place} because {self.because}.{self._cured()}"

    def brief(self) -> str:
        """The same without the reason, after a sentence that gives it."""
        return f"{self.what[0].upper()}{self.what[1:]} is born here.{self._cured()}"

    def _cured(self) -> str:
        return f" Cure: {self.cure}" if self.cure else ""


def births_of(story: Story) -> tuple[Born, ...]:
    """The first places where something is not finite: forward, else backward."""
    if story.columns.arrays is not None:
        return ()
    return tuple(_forward(story) or _backward(story))


def _forward(story: Story) -> list[Born]:
    columns, found = story.columns, list[Born]()
    for step in range(len(story.forward)):
        node = story.forward_node(step)
        data = columns.data[node]
        if math.isfinite(data) or len(found) == MOST_BIRTHS:
            continue
        inputs = columns.inputs[node]
        operands = [columns.data[it] for it in inputs]
        if not is_birth(data, operands, not inputs):
            continue
        op = columns.ops[node]
        if not inputs:
            because = f"{columns.names[node]} was given as {shown(data)}"
            cure = "look at what was put in"
        else:
            why = reason(op, operands, data)
            because = f"{story.numbers(node)} is {shown(data)}" + (f": {why}" if why else "")
            cure = OPS[op].cure if op in OPS else ""
        found.append(Born(node, FORWARD, step, shown(data), _where(story, node), because, cure))
    return found


def _backward(story: Story) -> list[Born]:
    """The contributions that are not finite though what they are made of is."""
    columns, found = story.columns, list[Born]()
    grads = story.pulled.grads
    if all(map(math.isfinite, grads)):
        return found
    pulled = story.pulled
    for step, node in enumerate(pulled.order):
        upstream = grads[node]
        if not math.isfinite(upstream):
            continue
        for at in range(pulled.starts[step], pulled.starts[step + 1]):
            before, after = pulled.befores[at], pulled.afters[at]
            born = not math.isfinite(after) and (
                math.isfinite(before) or (math.isnan(after) and not math.isnan(before))
            )
            if not born or len(found) == MOST_BIRTHS:
                continue
            partial = columns.partials[node][pulled.positions[at]]
            cause = cause_of(partial, upstream, before)
            why = WHY.get(cause, "")
            because = f"{shown(partial)} × {shown(upstream)} is {shown(pulled.amounts[at])}"
            if cause == INFINITE_PARTIAL:
                because = f"{story.expression(node)} is infinitely steep here"
            elif why:
                because += f": {why}"
            op = columns.ops[node]
            cure = OPS[op].cure if op in OPS and not math.isfinite(partial) else ""
            kind = "a NaN" if math.isnan(after) else "an infinite"
            what = f"{kind} gradient of {columns.names[pulled.to[at]]}"
            found.append(Born(node, BACKWARD, step, what, _where(story, node), because, cure))
    return found


def _where(story: Story, node: int) -> str:
    place = story.columns.places[node]
    if place < 0:
        return ""
    site = story.columns.sites[place]
    if site.file.startswith("<"):
        return f"line {site.line}"
    return f"{PurePath(site.file).name} line {site.line}"


# ---- slopes to either side ----------------------------------------------------------------------


@dataclass(frozen=True)
class Sides:
    """What the root does when a value is moved a little, one entry a side, below and above: its
    slope, NaN where it has no value, and whether it jumps; and the convention of the corner that
    is met first."""

    slopes: tuple[float, float]
    jumps: tuple[bool, bool]
    why: str


class Corners:
    """The corners of a story, and the slopes to either side that they lead to."""

    def __init__(self, story: Story) -> None:
        self._columns, self._root = story.columns, story.root
        self._grads, self._seed = story.pulled.grads, story.seed
        self.at: dict[int, Corner] = {}
        if story.columns.arrays is None:
            self._find()
        self._under = self._reaching()

    def _find(self) -> None:
        columns = self._columns
        for node, inputs in enumerate(columns.inputs):
            if inputs and columns.requires_grad[node]:
                numbers = [columns.data[it] for it in inputs]
                found = corner(columns.ops[node], numbers, columns.partials[node])
                if found is not None:
                    self.at[node] = found

    def _reaching(self) -> set[int]:
        """The values with a corner among their uses, however far on."""
        inputs, under = self._columns.inputs, set(self.at)
        if under:
            for node in range(max(under), -1, -1):
                if node in under:
                    under.update(inputs[node])
        return under

    def sides(self, node: int) -> Sides | None:
        """The slopes to either side of a value; None where they are both its gradient."""
        if node not in self._under or len(self._columns.ops) > LONGEST_WALK or not self._seed:
            return None
        gradient = self._grads[node] / self._seed
        if math.isnan(gradient):
            return None
        above, met, jumped = self._along(node, 1.0)
        below, more, fell = self._along(node, -1.0)
        met = met if met is not None else more
        if met is None or (_alike(above, gradient) and _alike(-below, gradient)):
            return None
        slopes = (-below * self._seed, above * self._seed)
        return Sides(slopes, (fell, jumped), self.at[met].why)

    def _along(self, node: int, way: float) -> tuple[float, int | None, bool]:
        """How the root moves as the value does, one way; the first corner met; whether it jumps."""
        columns = self._columns
        moves: dict[int, float] = {node: way}
        met: int | None = None
        jumped = False
        for use in range(node + 1, self._root + 1):
            inputs = columns.inputs[use]
            if not any(it in moves for it in inputs):
                continue
            given = [moves.get(it, 0.0) for it in inputs]
            if use in self.at and any(given):
                met = use if met is None else met
                moved, jumps = self._at_corner(use, given)
                jumped = jumped or jumps
            else:
                partials = columns.partials[use]
                moved = sum(
                    p * move for p, move in zip(partials, given) if move and (p or not isinf(move))
                )
            moves[use] = moved
        return moves.get(self._root, 0.0), met, jumped

    def _at_corner(self, node: int, moves: Sequence[float]) -> tuple[float, bool]:
        """How a value at a corner moves, its inputs moving so."""
        columns = self._columns
        row = OPS[columns.ops[node]]
        inputs = [columns.data[it] for it in columns.inputs[node]]
        if not all(map(math.isfinite, moves)):
            return math.nan, any(map(math.isinf, moves))
        scale = max(step_at(x) / abs(move) for x, move in zip(inputs, moves) if move)
        steps = [scale * move for move in moves]
        near, slopes = beside(row, inputs, steps)
        value = columns.data[node]
        if math.isnan(near) or math.isinf(near) > math.isinf(value):
            return math.nan, False
        moved = sum(slope * move for slope, move in zip(slopes, moves) if move)
        step, expected = near - value, abs(moved) * scale
        steep = [p for p, move in zip(columns.partials[node], moves) if move and math.isinf(p)]
        if steep:
            return math.copysign(math.inf, moved), False
        if abs(step) > 64.0 * (math.ulp(value) + expected):
            return math.copysign(math.inf, step), True
        return moved, False


def _alike(one: float, other: float) -> bool:
    return one == other or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-300)
