"""The complex step: a graph's values replayed just off the real axis.

For an analytic function ``imag f(x + ih) / h`` is the slope without any subtraction, so a step of
10⁻¹⁰⁰ costs no digits. A value is a float64 here, so the graph is evaluated anew, on
complex numbers, from the law's *values*; partials are not read. It applies where every step that
matters is a row of the law, scalar or structural, and none stands on a kink.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from ..errors import CheckError
from ..ops import STRUCTURAL
from .printed import at_a_kink, on_complex
from .tape import CUSTOM, LEAF, OPAQUE, ROW, WIDE, Step, Tape

STEP = 1e-100
"""Of the input's size, or of 1 where that is larger: far from underflow and from feeling bends."""

FLOOR = 1e-190
"""Slopes below this may be lost to underflow, or made of squares of the step."""

ROOM = 4_000_000
"""How many complex numbers a replay holds at a time."""


def step_size(number: float) -> float:
    """What the step is a share of: the input's size, at most 1."""
    return min(abs(number) or 1.0, 1.0)


def obstacle(tape: Tape, places: Sequence[int]) -> str:
    """Why the complex step does not apply to a graph: '' where it does."""
    matters = tape.used_by(places)
    for place, step in enumerate(tape.steps):
        if not matters[place] or step.kind == LEAF:
            continue
        if step.kind not in (ROW, WIDE):
            return f"'{step.op}' has no formula in the law"
        if not isfinite(step.data):
            return f"{step.op} is {step.data} here"
        if step.kind == ROW and bool(at_a_kink(step.op, *step.numbers)):
            return f"{step.op} stands on a kink or on a seam of its formula"
    return ""


def evaluated(step: Step, operands: Sequence[Any]) -> Any:
    """A step on complex arrays; a custom op's function on plain numbers only."""
    if step.kind == CUSTOM:
        outcome = step.node._rule.evaluate(*[float(np.real(x)) for x in operands])  # type: ignore[union-attr]
        return outcome[0] if isinstance(outcome, tuple) else outcome
    if step.kind == OPAQUE:
        raise CheckError.untranslatable(step.node, "a replay of the graph")
    if step.kind == WIDE:
        return STRUCTURAL[step.op].evaluate(operands)
    return on_complex(step.op)(*operands)


def replay(tape: Tape, moved: dict[int, Any]) -> Any:
    """The root where the values at some places are moved by arrays, real or complex.

    A moved value that was computed is computed and then moved, so gradients of interior values
    are the slopes along their moves.
    """
    now: list[Any] = [None] * len(tape.steps)
    for place, step in enumerate(tape.steps):
        if step.kind != LEAF:
            inputs = [now[i] if i >= 0 else None for i in step.inputs]
            if any(v is not None for v in inputs):
                operands = [n if v is None else v for v, n in zip(inputs, step.numbers)]
                now[place] = evaluated(step, operands)
        if place in moved:
            base = step.data if now[place] is None else now[place]
            now[place] = base + moved[place]
    return now[-1]


def slopes(tape: Tape, places: Sequence[int], directions: Any = None) -> Any:
    """The slope of the root along each place, or along each row of ``directions`` over them."""
    if directions is None:
        scales = np.array([step_size(tape.steps[place].data) for place in places])
        directions = np.diag(scales)
        divisors = scales
    else:
        divisors = np.ones(len(directions))
    found = np.zeros(len(directions))
    chunk = max(1, ROOM // max(1, len(tape.steps)))
    with np.errstate(all="ignore"):
        for start in range(0, len(directions), chunk):
            block = directions[start : start + chunk]
            moved = {
                place: 1j * STEP * block[:, column]
                for column, place in enumerate(places)
                if place >= 0 and block[:, column].any()
            }
            root = replay(tape, moved)
            if root is not None:
                found[start : start + chunk] = np.imag(root) / STEP
    return found / divisors


def replayed(tape: Tape, moves: dict[int, float]) -> float:
    """The root as a number where some values are moved; opaque steps cannot be replayed."""
    with np.errstate(all="ignore"):
        found = replay(tape, moves)
    return tape.steps[-1].data if found is None else float(np.real(found))
