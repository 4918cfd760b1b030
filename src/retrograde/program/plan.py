"""Plans: a program laid out for the executor, as arrays of plain numbers.

Instructions whose operands are the same for all rows are hoisted: they run once. The others get a
slot, a block of lanes, for as long as their result is needed. Columns of the rows are loaded where
they are first used.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..value import core
from .program import CAPTURED, CONSTANT, ROW, SEED, Input, Program

_ROWS = core.OP_NAMES[: core.OP_NAMES.index("leaf")]
_FIRST = len(_ROWS)
STEPS = {name: index for index, name in enumerate(_ROWS)} | {
    name: _FIRST + place
    for place, name in enumerate(
        ("fma", "sum", "dot", "take", "scatter", "load", "store", "reduce", "guard")
    )
}
"""The executor's instructions by name; native/replay.h has the same order."""

ROW_OPS = frozenset(_ROWS)
UNIFORM = 0x80000000
IN_PLACE = ROW_OPS | {"fma"}

CACHE_NEAR = 36 * 1024
"""Bytes of slots that stay in the innermost cache."""
CACHE_FAR = 1024 * 1024
"""Bytes of slots that stay in the next."""


@dataclass(frozen=True)
class Plan:
    """What the executor runs.

    ``uniforms`` has the constants in their places; ``captured`` and ``arguments`` say where the
    numbers of captured leaves and of uniform arguments go, the latter with their ids.
    """

    steps: array[int]
    uniform_steps: array[int]
    extras: array[int]
    uniforms: Any
    captured: list[int]
    arguments: list[int]
    argument_ids: list[int]
    columns: array[int]
    slots: int
    block: int
    stored: int
    reduced: int
    guards: int

    @property
    def bytes(self) -> int:
        """The working set of one thread."""
        return self.slots * self.block * 8


def block_for(slots: int) -> int:
    """How many lanes a block has: a power of two that keeps the slots in cache."""
    slots = max(slots, 1)
    block = 1024
    while block > 64 and slots * block * 8 > CACHE_NEAR:
        block //= 2
    while block > 8 and slots * block * 8 > CACHE_FAR:
        block //= 2
    return block


class _Layout:
    """Gives ids their places while steps are written."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.steps: list[int] = []
        self.uniform_steps: list[int] = []
        self.extras: list[int] = []
        self.place: dict[int, int] = {}
        self.free: list[int] = []
        self.slots = 0
        self.uniforms = 0
        self.columns: list[int] = []
        self.last_use: dict[int, int] = {}
        self.constants: list[tuple[int, float]] = []
        self.captured: list[int] = []
        self.arguments: list[int] = []
        self.argument_ids: list[int] = []
        self.checked: set[int] = set()
        self.next_guard = 0

    def uniform(self, index: int) -> int:
        """A place for a number that is the same for all rows."""
        self.place[index] = self.uniforms | UNIFORM
        self.uniforms += 1
        return self.uniforms - 1

    def _place_input(self, index: int, given: Input) -> None:
        place = self.uniform(index)
        if given.kind == CONSTANT:
            self.constants.append((place, given.number))
        elif given.kind == CAPTURED:
            self.captured.append(place)
        else:
            self.arguments.append(place)
            self.argument_ids.append(index)

    def _filled_uniforms(self) -> Any:
        """Eight equal lanes a uniform number: constants are there, the rest comes with a run."""
        uniforms = np.zeros((self.uniforms + 1, 8))
        for place, number in self.constants:
            uniforms[place] = number
        return uniforms

    def slot(self, index: int) -> int:
        """A place for lanes."""
        if self.free:
            slot = self.free.pop()
        else:
            slot = self.slots
            self.slots += 1
        self.place[index] = slot
        return slot

    def run(self, outputs: list[tuple[str, int]]) -> Plan:
        program = self.program
        row_inputs = set()
        for index, given in program.inputs.items():
            if given.kind in (ROW, SEED):
                row_inputs.add(index)
            else:
                self._place_input(index, given)
        place = self.place
        for op, results, args, _ in program.instructions:
            if op == "take" and program.guards:
                continue  # its index may be meant for rows that pass them
            if all([arg in place for arg in args]):
                for result in results:
                    self.uniform(result)
                self._write(self.uniform_steps, op, results, args, strip=True)
        after: dict[int, list[tuple[int, int, int]]] = {}
        stored = reduced = 0
        for what, index in outputs:
            if what == "store":
                after.setdefault(index, []).append((STEPS["store"], 0, stored))
                stored += 1
            else:
                after.setdefault(index, []).append((STEPS["reduce"], 0, reduced))
                reduced += 1
        for number, guard in enumerate(program.guards):
            after.setdefault(guard.condition, []).append(
                (STEPS["guard"], int(guard.outcome), number)
            )
        lanes = [i for i in program.instructions if i.results[0] not in place]
        last = self.last_use
        for position, instruction in enumerate(lanes):
            for arg in instruction.args:
                last[arg] = position
        eights = self._eights(row_inputs & (last.keys() | after.keys()))
        for guard in program.guards:
            if guard.condition in place:  # the same for all rows: known before any of them
                self._finish(guard.condition, after)
        loaded: set[int] = set()
        for position, (op, results, args, _) in enumerate(lanes):
            for arg in args:
                if arg in row_inputs and arg not in loaded:
                    together = eights.get(arg, [arg])
                    loaded.update(together)
                    self._load(together, after)
            in_place = op in IN_PLACE
            dying = [
                a for a in dict.fromkeys(args) if last[a] == position and not a_uniform(place[a])
            ]
            if in_place:
                self.free.extend(place[a] for a in dying)
            if op == "scatter":
                base = self.slots
                self.slots += len(results)
                place.update((result, base + offset) for offset, result in enumerate(results))
            else:
                self.slot(results[0])
            self._write(self.steps, op, results, args)
            for result in results:
                self._finish(result, after)
                if result not in last:
                    self.free.append(place[result])
            if not in_place:
                self.free.extend(place[a] for a in dying)
        for index in list(after):
            if index in row_inputs and index not in loaded:
                together = eights.get(index, [index])
                loaded.update(together)
                self._load(together, after)
            else:
                self._finish(index, after)
        return Plan(
            array("I", self.steps),
            array("I", self.uniform_steps),
            array("I", self.extras or [0]),
            self._filled_uniforms(),
            self.captured,
            self.arguments,
            self.argument_ids,
            array("I", self.columns),
            self.slots,
            block_for(self.slots),
            stored,
            reduced,
            len(program.guards),
        )

    def _eights(self, used: set[int]) -> dict[int, list[int]]:
        """Columns that are loaded together: eight adjacent ones of one array, all of them used."""
        by_place: dict[tuple[str, int], list[int]] = {}
        for index in sorted(used):
            given = self.program.inputs[index]
            if given.column >= 0:
                by_place.setdefault((given.array, given.column // 8), []).append(index)
        return {i: group for group in by_place.values() if len(group) == 8 for i in group}

    def _load(self, group: list[int], after: dict[int, list[tuple[int, int, int]]]) -> None:
        """Load one column, or eight together."""
        slots = [self.slot(index) for index in group]
        offset = len(self.extras)
        if len(group) > 1:
            self.extras += slots
        count = len(group) if len(group) > 1 else 0
        self.steps += (STEPS["load"], count, slots[0], len(self.columns), offset, 0)
        self.columns += group
        for index in group:
            self._finish(index, after)

    def _finish(self, index: int, after: dict[int, list[tuple[int, int, int]]]) -> None:
        """Store, reduce or check a number as soon as it is there."""
        for step, count, target in after.pop(index, ()):
            if step == STEPS["guard"]:
                self.checked.add(target)
                while self.next_guard in self.checked:
                    self.next_guard += 1
            done = self.next_guard if step == STEPS["guard"] else 0
            self.steps += (step, count, 0, self.place[index], target, done)

    def _write(
        self,
        steps: list[int],
        op: str,
        results: tuple[int, ...],
        args: tuple[int, ...],
        strip: bool = False,
    ) -> None:
        """One step; among the uniform steps every operand is an ordinary slot of its own block."""
        place = self.place
        operands = [place[arg] & ~UNIFORM if strip else place[arg] for arg in args]
        out = place[results[0]] & ~UNIFORM
        if op in IN_PLACE:
            operands += [0] * (3 - len(operands))
            steps += (STEPS[op], 0, out, *operands)
            return
        offset = len(self.extras)
        self.extras += operands
        if op == "scatter":
            steps += (STEPS[op], len(results), out, offset, len(args) // 2, 0)
        else:
            count = {"sum": len(args), "dot": len(args) // 2, "take": len(args) - 1}[op]
            steps += (STEPS[op], count, out, offset, 0, 0)


def a_uniform(place: int) -> bool:
    """Whether a place is that of a number which is the same for all rows."""
    return place >= UNIFORM


def laid_out(program: Program, outputs: list[tuple[str, int]]) -> Plan:
    """The plan for a program; ``outputs`` say what to ``store`` per row and what to ``reduce``."""
    return _Layout(program).run(outputs)
