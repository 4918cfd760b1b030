"""Plans: what the native executor runs, as arrays of plain numbers. Nothing here computes them.

A step is six numbers: op, count, out, x, y, z; ``native/replay.h`` and ``kernels/kernels.h`` say
what they mean. ``layout.py`` makes plans, ``plan_checker.py`` validates them.
"""

from __future__ import annotations

from array import array
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
            *("load", "eight", "fetch", "store", "reduce", "guard"),
        )
    )
}
"""The executor's instructions by name; native/kernels/kernels.h has the same order."""

ROW_OPS = frozenset(_ROWS)
UNIFORM = 0x80000000
CARRIED = 0x7FFFFFFF
"""The place of what the step before hands on in registers."""
IN_PLACE = ROW_OPS | {"fma"}
"""What reads its operands from anywhere; the rest wants them in slots."""


@dataclass(frozen=True)
class Plan:
    """What the executor runs.

    ``uniforms`` begins with places for the numbers of captured leaves, and has the constants in
    theirs; ``arguments`` says where those of uniform arguments go, beside their ids. ``outputs``
    are the ids that it stores per row or reduces.
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

    @property
    def block(self) -> int:
        """How many rows a thread works on at once."""
        return executor.lanes

    @property
    def bytes(self) -> int:
        """The working set of one thread."""
        return self.slots * self.block * 8


def in_slot(place: int) -> bool:
    """Whether a place is a slot: neither the same for all rows nor only carried."""
    return place < CARRIED
