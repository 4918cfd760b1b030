"""Plans: what the native executor runs, as arrays of plain numbers. Nothing here computes them.

A step is six numbers: op, count, out, x, y, z; ``native/replay.h`` and ``kernels/kernels.h`` say
what they mean. ``layout.py`` makes plans, ``plan_checker.py`` validates them.

A loop is its steps and then ``again``, which goes back to the first of them until they were done
``count`` times. Behind it stand its moves: what is added to which field of which step of it before
the next round. When the loop is done everything is again as in its first round.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..ops.structural import DOT, SUM, TAKE
from ..value import core
from .executor import executor

_ROWS: tuple[str, ...] = core.OP_NAMES[: core.OP_NAMES.index("leaf")]
_FIRST = len(_ROWS)
STEPS = {name: index for index, name in enumerate(_ROWS)} | {
    name: _FIRST + place
    for place, name in enumerate(
        (
            *("fma", SUM.name, DOT.name, "chain", TAKE.name, "scatter"),
            *("load", "eight", "fetch", "store", "reduce", "guard", "copy", "again", "move"),
        )
    )
}
"""The executor's instructions by name; native/kernels/kernels.h has the same order."""

ROW_OPS = frozenset(_ROWS)
UNIFORM = 0x80000000
CARRIED = 0x7FFFFFFF
"""The place of what the step before hands on in registers."""
EXTRA = 4
"""Which field a move of a number among the extras names; those of steps are out, x, y, z."""
IN_PLACE = ROW_OPS | {"fma"}
"""What reads its operands from anywhere; the rest wants them in slots."""


@dataclass(frozen=True)
class Plan:
    """What the executor runs.

    ``uniforms`` begins with places for the numbers of captured leaves, and has the constants in
    theirs; ``places`` is how many there are with those of results. ``arguments`` says where the
    numbers of uniform arguments go, beside their ids. ``outputs`` are the ids that it stores per
    row or reduces.
    """

    steps: array[int]
    uniform_steps: array[int]
    extras: array[int]
    uniforms: Any
    arguments: list[int]
    argument_ids: list[int]
    columns: array[int]
    slots: int
    stored: int
    reduced: int
    guards: int
    outputs: list[tuple[str, int]]
    places: int

    @property
    def block(self) -> int:
        """How many rows a thread works on at once."""
        return executor.lanes

    @property
    def bytes(self) -> int:
        """The working set of one thread."""
        return self.slots * self.block * 8

    @property
    def done(self) -> int:
        """How many steps are done for a block: those of loops in every round."""
        return done_steps(self.steps)


def done_steps(steps: Sequence[int]) -> int:
    """How many steps are done when loops go round."""
    total = 0
    around: list[tuple[int, int]] = []  # where the loops at hand begin, how often they are done
    for at in range(len(steps) // 6 - 1, -1, -1):
        while around and at < around[-1][0]:
            around.pop()
        times = around[-1][1] if around else 1
        if steps[6 * at] == STEPS["again"]:
            around.append((at - steps[6 * at + 3], times * steps[6 * at + 1]))
        elif steps[6 * at] != STEPS["move"]:
            total += times
    return total


def in_slot(place: int) -> bool:
    """Whether a place is a slot: neither the same for all rows nor only carried."""
    return place < CARRIED
