"""Steps that name rooms: places side by side, taken for as long as anything in them is needed.

A room has no place before all steps are written: only then is it known how long each is needed, and
which may follow which in the same place. Where a place moves with a loop, the loop ends with a move
of it. What is written, and where it is kept, is ``looped_steps.py``'s affair.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .nodes import Around, Moves, Nest
from .plan import CARRIED, EXTRA, IN_PLACE, STEPS, UNIFORM

OUT = 0
"""The field of a step that it writes to."""


@dataclass(eq=False)
class Room:
    """Places side by side. ``home`` are the loops in one round of which all of its life is,
    ``touched`` is when it is read or written, and in which loops: a read comes before the write of
    the same step, if that may overwrite its operands."""

    size: int
    home: Nest
    touched: list[tuple[int, Nest]] = field(default_factory=list)
    first: int = -1


@dataclass(frozen=True)
class At:
    """A place that moves: in a room, or among the numbers that are the same for all rows."""

    room: Room | None
    base: int
    moves: Moves = ()

    def after(self, loops: Sequence[Around]) -> At:
        """Where it is after the last round of some loops."""
        ends = sum(stride * (loop.trips - 1) for loop, stride in self.moves if loop in loops)
        return At(self.room, self.base + ends, tuple([m for m in self.moves if m[0] not in loops]))


HANDED = At(None, CARRIED)
"""What the step before hands on in registers."""


class Writer:
    """Steps as they are written: those that are done ``once``, or those for every row."""

    def __init__(self, extras: list[int], once: bool) -> None:
        self.extras, self.once = extras, once
        self.steps: list[list[int]] = []
        self.spans: dict[Around, tuple[int, int]] = {}
        self.moves: dict[Around, list[tuple[int, int, int]]] = {}
        self.fixes: list[tuple[int, int, Room]] = []

    @property
    def words(self) -> array[int]:
        """The steps as a plan has them."""
        return array("I", [number for step in self.steps for number in step])

    def step(self, name: str, count: int = 0, nest: Nest = (), **fields: Any) -> None:
        """One more step; its fields are numbers, or places that it reads, and ``out``."""
        number = len(self.steps)
        self.steps.append([STEPS[name], count, 0, 0, 0, 0])
        for which, key in enumerate(("out", "x", "y", "z")):
            value = fields.get(key, 0)
            if isinstance(value, At):
                late = which == OUT or name not in (*IN_PLACE, "copy")
                self._put(number, which, value, 2 * number + late, nest)
            else:
                base, moves = value if isinstance(value, tuple) else (value, ())
                self.steps[number][2 + which] = base
                self._move(number, which, moves)

    def listed(self, operands: Sequence[At], nest: Nest) -> int:
        """A list of operands of the step to come."""
        first, when = len(self.extras), 2 * len(self.steps) + 1
        for at in operands:
            self.extras.append(0)
            self._put(len(self.extras) - 1, EXTRA, at, when, nest)
        return first

    def _put(self, number: int, which: int, at: At, when: int, nest: Nest) -> None:
        base = at.base
        if at.room is not None:
            at.room.touched.append((when, nest))
            self.fixes.append((number, which, at.room))
        elif not self.once and at is not HANDED:
            base |= UNIFORM
        if which == EXTRA:
            self.extras[number] = base
        else:
            self.steps[number][2 + which] = base
        self._move(number, which, at.moves)

    def _move(self, number: int, which: int, moves: Moves) -> None:
        for loop, stride in moves:
            self.moves.setdefault(loop, []).append((number, which, stride))

    def copy(self, what: At, where: At, nest: Nest) -> None:
        """A step that brings a number to another place."""
        self.step("copy", 0, nest, out=where, x=what)

    def again(self, loop: Around, begin: int) -> None:
        """The end of a loop."""
        at = len(self.steps)
        moves = self.moves.pop(loop, [])
        self.steps.append([STEPS["again"], loop.trips, 0, at - begin, len(moves), 0])
        for number, which, stride in moves:
            far = number if which == EXTRA else at - number
            self.steps.append([STEPS["move"], which, far, stride & 0xFFFFFFFF, 0, 0])
        self.spans[loop] = begin, len(self.steps)

    # ---- places ----------------------------------------------------------------------------

    def settled(self, first: int) -> int:
        """Give the rooms their places from ``first`` on; how many places there are then."""
        rooms = {id(room): room for _, _, room in self.fixes}
        lives = [(*self._life(room), room) for room in rooms.values()]
        lives.sort(key=lambda life: life[:2])
        free: list[int] = []
        busy: list[tuple[int, int]] = []
        count = first
        for begin, end, room in lives:
            for each in [each for each in busy if each[0] < begin]:
                busy.remove(each)
                free.append(each[1])
            if room.size == 1 and free:
                room.first = free.pop()
            else:
                room.first = count
                count += room.size
            if room.size == 1:
                busy.append((end, room.first))
        for number, which, room in self.fixes:
            if which == EXTRA:
                self.extras[number] += room.first
            else:
                self.steps[number][2 + which] += room.first
        return count

    def _life(self, room: Room) -> tuple[int, int]:
        """From when to when a room is taken: all of a loop whose rounds it outlives."""
        begins, ends = [], []
        for when, nest in room.touched:
            if len(nest) > len(room.home):
                begin, end = self.spans[nest[len(room.home)]]
                begins.append(2 * begin)
                ends.append(2 * end)
            else:
                begins.append(when)
                ends.append(when)
        return min(begins), max(ends)
