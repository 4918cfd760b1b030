"""Layout: a program becomes a plan.

Instructions whose operands are the same for all rows are hoisted: they run once. The others hand
their result to the next one in registers; where it is needed later, it also gets a slot, a tile of
lanes, for as long as that. Columns of the rows are loaded where they are first used.
"""

from __future__ import annotations

from array import array
from typing import Any, NamedTuple

import numpy as np

from ..ops.structural import DOT, STRUCTURAL, TAKE
from .chains import gathered
from .plan import CARRIED, IN_PLACE, STEPS, UNIFORM, Plan, in_slot
from .plan_checker import check_plan, is_asked
from .program import CAPTURED, CONSTANT, ROW, SEED, Input, Instruction, Program

After = dict[int, list[tuple[int, int, int]]]
"""By id: the steps that store, reduce or check it as soon as it is there."""


class Carries(NamedTuple):
    """What the steps hand on: which results need a slot, and which steps pass on what they got."""

    in_slot: dict[int, bool]
    passing: set[int]


def carried_along(lanes: list[Instruction]) -> Carries:
    """Choose at every step what is handed on: its result, or what it was handed, whichever is
    needed sooner."""
    uses: dict[int, list[int]] = {}
    in_slot: dict[int, bool] = {}
    for position, (op, results, args, _, _) in enumerate(lanes):
        for arg in args:
            uses.setdefault(arg, []).append(position)
        in_slot.update(dict.fromkeys(results, False))
        if op not in IN_PLACE:
            in_slot.update(dict.fromkeys(args, True))
    passing: set[int] = set()
    never = len(lanes)
    carried = -1
    later: list[int] = []  # where what is carried will be used, the next place last
    for position, (op, results, _, _, _) in enumerate(lanes):
        while later and later[-1] <= position:
            later.pop()
        if op == "scatter":
            continue
        result = results[0]
        mine = uses.get(result, [])
        if op in IN_PLACE and later and later[-1] < (mine[0] if mine else never):
            passing.add(position)
            in_slot[result] = True
            continue
        if later:
            in_slot[carried] = True
        carried, later = result, mine[::-1]
    return Carries(in_slot, passing)


class _Layout:
    """Gives ids their places while steps are written."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.steps: list[int] = []
        self.uniform_steps: list[int] = []
        self.extras: list[int] = []
        self.lists: dict[bytes, int] = {}
        self.place: dict[int, int] = {}
        self.free: list[int] = []
        self.slots = 0
        self.uniforms = 0
        self.columns: list[int] = []
        self.carried = -1
        self.last_use: dict[int, int] = {}
        self.constants: list[tuple[int, float]] = []
        self.arguments: list[int] = []
        self.argument_ids: list[int] = []
        self.checked: set[int] = set()
        self.next_guard = 0
        self.after: After = {}
        self.row_inputs: set[int] = set()
        self.loaded: set[int] = set()
        self.eights: dict[int, list[int]] = {}
        self.counts = {"store": 0, "reduce": 0}

    def uniform(self, index: int) -> int:
        """A place for a number that is the same for all rows."""
        self.place[index] = self.uniforms | UNIFORM
        self.uniforms += 1
        return self.uniforms - 1

    def _place_input(self, index: int, given: Input) -> None:
        place = self.uniform(index)
        if given.kind == CONSTANT:
            self.constants.append((place, given.number))
        elif given.kind != CAPTURED:
            self.arguments.append(place)
            self.argument_ids.append(index)

    def _filled_uniforms(self) -> Any:
        """The uniform numbers: constants are there, the rest comes with a run."""
        uniforms = np.zeros(self.uniforms + 1)
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
        self._place_inputs()
        instructions = gathered(program, [index for _, index in outputs])
        self._hoist(instructions)
        self._ask_for(outputs)
        lanes = [i for i in instructions if i.results[0] not in self.place]
        for position, instruction in enumerate(lanes):
            for arg in instruction.args:
                self.last_use[arg] = position
        self.eights = self._eights(self.row_inputs & (self.last_use.keys() | self.after.keys()))
        for guard in program.guards:
            if guard.condition in self.place:  # the same for all rows: known before any of them
                self._finish(guard.condition)
        carries = carried_along(lanes)
        for position, instruction in enumerate(lanes):
            self._lay(position, instruction, carries)
        for index in list(self.after):
            if index in self.row_inputs and index not in self.loaded:
                self._load(index)
            else:
                self._finish(index)
        return Plan(
            array("I", with_fetches(self.steps)),
            array("I", self.uniform_steps),
            array("I", self.extras or [0]),
            self._filled_uniforms(),
            self.arguments,
            self.argument_ids,
            array("I", self.columns),
            self.slots,
            self.counts["store"],
            self.counts["reduce"],
            len(program.guards),
            outputs,
            self.uniforms + 1,
        )

    def _place_inputs(self) -> None:
        """Captured leaves first, so that their numbers are read in one go."""
        inputs = self.program.inputs.items()
        for index, given in sorted(inputs, key=lambda i: i[1].kind != CAPTURED):
            if given.kind in (ROW, SEED):
                self.row_inputs.add(index)
            else:
                self._place_input(index, given)

    def _hoist(self, instructions: list[Instruction]) -> None:
        """What is the same for all rows is computed once."""
        place = self.place
        for op, results, args, _, _ in instructions:
            if op == TAKE.name and self.program.guards:
                continue  # its index may be meant for rows that pass them
            if all([arg in place for arg in args]):
                for result in results:
                    self.uniform(result)
                self._write(self.uniform_steps, op, results, args, strip=True)

    def _ask_for(self, outputs: list[tuple[str, int]]) -> None:
        """Outputs and guards, to be dealt with as soon as their numbers are there."""
        for what, index in outputs:
            self.after.setdefault(index, []).append((STEPS[what], 0, self.counts[what]))
            self.counts[what] += 1
        for number, guard in enumerate(self.program.guards):
            step = (STEPS["guard"], int(guard.outcome), number)
            self.after.setdefault(guard.condition, []).append(step)

    def _lay(self, position: int, instruction: Instruction, carries: Carries) -> None:
        """One instruction on lanes: what it loads, its step, and the slots it sets free."""
        op, results, args, _, _ = instruction
        place, last = self.place, self.last_use
        for arg in args:
            if arg in self.row_inputs and arg not in self.loaded:
                self._load(arg)
        dying = [a for a in dict.fromkeys(args) if last[a] == position and in_slot(place[a])]
        in_place = op in IN_PLACE
        if in_place:
            self.free.extend(place[a] for a in dying)
        if op == "scatter":
            base = self.slots
            self.slots += len(results)
            place.update((result, base + offset) for offset, result in enumerate(results))
            self._write(self.steps, op, results, args)
        else:
            result = results[0]
            if carries.in_slot[result]:
                self.slot(result)
            else:
                place[result] = CARRIED
            passes = position in carries.passing
            self._write(self.steps, op, results, args, passes=passes)
            if not passes:
                self.carried = result
        for result in results:
            self._finish(result)
            if result not in last and in_slot(place[result]):
                self.free.append(place[result])
        if not in_place:
            self.free.extend(place[a] for a in dying)

    def _eights(self, used: set[int]) -> dict[int, list[int]]:
        """Columns that are loaded together: eight adjacent ones of one array, all of them used."""
        by_place: dict[tuple[str, int], list[int]] = {}
        for index in sorted(used):
            given = self.program.inputs[index]
            if given.column >= 0:
                by_place.setdefault((given.array, given.column // 8), []).append(index)
        return {i: group for group in by_place.values() if len(group) == 8 for i in group}

    def _load(self, first: int) -> None:
        """Load one column, or eight together."""
        group = self.eights.get(first, [first])
        self.loaded.update(group)
        slots = [self.slot(index) for index in group]
        offset = len(self.extras)
        if len(group) > 1:
            self.extras += slots
        op = STEPS["eight" if len(group) > 1 else "load"]
        self.steps += (op, 0, slots[0], len(self.columns), offset, 0)
        self.columns += group
        for index in group:
            self._finish(index)

    def _finish(self, index: int) -> None:
        """Store, reduce or check a number as soon as it is there."""
        for step, count, target in self.after.pop(index, ()):
            if step == STEPS["guard"]:
                self.checked.add(target)
                while self.next_guard in self.checked:
                    self.next_guard += 1
            done = self.next_guard if step == STEPS["guard"] else 0
            place = CARRIED if index == self.carried else self.place[index]
            self.steps += (step, count, 0, place, target, done)

    def _write(
        self,
        steps: list[int],
        op: str,
        results: tuple[int, ...],
        args: tuple[int, ...],
        strip: bool = False,
        passes: bool = False,
    ) -> None:
        """One step; among the uniform steps every operand is the number of a uniform."""
        place = self.place
        out = place[results[0]] & ~UNIFORM
        if op in IN_PLACE:
            carried = self.carried
            operands = [CARRIED if arg == carried else place[arg] for arg in args]
            if strip:
                operands = [operand & ~UNIFORM for operand in operands]
            operands += [0] * (3 - len(operands))
            steps += (STEPS[op], int(passes), out, *operands)
            return
        operands = [place[arg] & ~UNIFORM if strip else place[arg] for arg in args]
        half = len(args) // 2
        if op == "scatter":
            steps += (STEPS[op], len(results), out, self._list(operands), half, 0)
        elif op in (DOT.name, "chain"):
            lefts, rights = self._list(operands[:half]), self._list(operands[half : 2 * half])
            start = self._list(operands[-1:]) + 1 if len(args) % 2 else 0
            steps += (STEPS[op], half, out, lefts, rights, start)
        else:
            count = len(STRUCTURAL[op].items(args))
            steps += (STEPS[op], count, out, self._list(operands), 0, 0)

    def _list(self, operands: list[int]) -> int:
        """Where a list of operands is among the extras.

        What is listed again and again, as the input of a matrix for each of its rows, is there
        once: that is a small part of it all, and stays in the cache.
        """
        key = array("I", operands).tobytes()
        known = self.lists.setdefault(key, len(self.extras))
        if known == len(self.extras):
            self.extras += operands
        return known


def with_fetches(steps: list[int]) -> list[int]:
    """The steps, and evenly among them those that fetch the next rows' columns ahead of time."""
    wanted = [
        fetch
        for at in range(0, len(steps), 6)
        if steps[at] == STEPS["eight"]
        for fetch in [(STEPS["fetch"], 0, 0, steps[at + 3], share, 0) for share in range(8)]
    ]
    if not wanted:
        return steps
    apart = len(steps) // 6 / len(wanted)
    mixed: list[int] = []
    done = 0
    for number, fetch in enumerate(wanted):
        until = int((number + 1) * apart) * 6
        mixed += steps[done:until]
        mixed += fetch
        done = until
    return mixed + steps[done:]


def laid_out(program: Program, outputs: list[tuple[str, int]]) -> Plan:
    """The plan for a program; ``outputs`` say what to ``store`` per row and what to ``reduce``."""
    plan = _Layout(program).run(outputs)
    return check_plan(plan, program) if is_asked() else plan
