"""Programs that call Python: run in stages, natively up to each call and on from it.

A stage computes the operands of calls for a block of rows; then Python is called once with arrays
of those rows, and what it returns are further columns for the stages that follow. What several
stages need is computed in each. The calls hold the GIL; everything between them does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .layout import laid_out
from .passes import remove_dead_code
from .program import ROW, Guard, Input, Instruction, Program
from .replay import CHUNK, Part, Ready, run

BLOCK = 64 * CHUNK
"""Rows of one call."""
SPREAD = 4 * BLOCK
"""Rows that a block may lie apart: memory is set aside for all of them."""


def prepared(program: Program, outputs: list[tuple[str, int]], arguments: int) -> Ready:
    """A program laid out; ``outputs`` say what to ``store`` per row and what to ``reduce``."""
    calls = [each for each in program.instructions if each.op in program.functions]
    if not calls:
        return Ready.of(program, laid_out(program, outputs), arguments)
    levels = _levels(program)
    made = [result for each in calls for result in each.results]
    columns = {result: place for place, result in enumerate(made)}
    stages = []
    for level in range(1, max(levels[result] for result in made) + 1):
        now = [each for each in calls if levels[each.results[0]] == level]
        wanted = sorted({arg for each in now for arg in each.args})
        part = _cut(program, level, levels, made, wanted)
        stored: list[tuple[str, int]] = [("store", i) for i in wanted]
        ready = _ready(part, laid_out(part, stored), arguments, columns)
        stages.append(_Stage(ready, now, {i: at for at, i in enumerate(wanted)}))
    kept = list(dict.fromkeys([*program.outputs, *(index for _, index in outputs)]))
    last = _cut(program, len(stages) + 1, levels, made, kept)
    ready = _ready(last, laid_out(last, outputs), arguments, columns)
    ready.program = program
    ready.stages = _Stages(stages, columns, _ready(last, ready.plan, arguments, columns))
    return ready


def _levels(program: Program) -> dict[int, int]:
    """By id: how many calls, one after the other, it waits for."""
    levels = dict.fromkeys(program.inputs, 0)
    for op, results, args, _, _ in program.instructions:
        level = max(levels[arg] for arg in args) + (op in program.functions)
        levels.update(dict.fromkeys(results, level))
    return levels


def _cut(
    program: Program, level: int, levels: dict[int, int], made: list[int], wanted: list[int]
) -> Program:
    """What leads to some numbers, with what calls have made so far as rows."""
    inputs = dict(program.inputs)
    inputs |= {i: Input(ROW, f"call {i}") for i in made if levels[i] < level}
    kept = [
        each
        for each in program.instructions
        if each.op not in program.functions and levels[each.results[0]] < level
    ]
    guards = [
        guard if levels[guard.condition] < level else Guard(_HOLDS, True, guard.site)
        for guard in program.guards
    ]
    if any(guard.condition == _HOLDS for guard in guards):
        guards, inputs, count = _with_unknown(guards, inputs, program.count)
    else:
        count = program.count
    cut = program.replaced(
        inputs=inputs, instructions=kept, guards=guards, outputs=wanted, count=count, functions={}
    )
    return remove_dead_code(cut)


_HOLDS = -1


def _with_unknown(
    guards: list[Guard], inputs: dict[int, Input], count: int
) -> tuple[list[Guard], dict[int, Input], int]:
    """Guards that wait for a call hold until it is made, so that the others keep their numbers."""
    inputs[count] = Input("constant", "", 1.0)
    waiting = [
        Guard(count, True, guard.site) if guard.condition == _HOLDS else guard for guard in guards
    ]
    return waiting, inputs, count + 1


def _ready(program: Program, plan: Any, arguments: int, columns: dict[int, int]) -> Ready:
    """Number the columns: arguments, seeds, then what calls make."""
    seeds = sum(given.kind == "seed" for given in program.inputs.values())
    own = program.replaced(inputs={i: g for i, g in program.inputs.items() if i not in columns})
    position = Ready.positions(own, arguments)
    position |= {i: arguments + seeds + place for i, place in columns.items()}
    return Ready.placed(program, plan, position)


@dataclass
class _Stage:
    """What leads to calls, and the calls."""

    ready: Ready
    calls: list[Instruction]
    place: dict[int, int]


@dataclass
class _Stages:
    """How a program with calls is run, block by block."""

    stages: list[_Stage]
    columns: dict[int, int]
    last: Ready

    def run(self, part: Part, inputs: Any, outputs: Any, threads: int) -> None:
        """Run a part and fill its sums and failures."""
        first = 0
        while first < part.rows:
            index = self._block(part, first)
            done = self._run_block(part, index, inputs, outputs, threads)
            last = first + len(index)
            if part.sums.size:
                part.sums[first // CHUNK : -(-last // CHUNK)] = done.sums
            if len(part.failed):
                part.failed[first:last] = done.failed
            first = last

    def _block(self, part: Part, first: int) -> Any:
        """The rows of the next block."""
        if part.index is None:
            return np.arange(first, min(first + BLOCK, part.rows), dtype=np.int64)
        index = part.index[first : first + BLOCK]
        return index[: max(int(np.searchsorted(index, index[0] + SPREAD)), 1)]

    def _run_block(self, part: Part, index: Any, inputs: Any, outputs: Any, threads: int) -> Part:
        low, span = int(index[0]), int(index[-1] - index[0]) + 1
        made = np.full((len(self.columns), span), np.nan)
        table = np.concatenate([inputs.reshape(-1, 2), _places(made, low)])
        functions = part.ready.program.functions
        for stage in self.stages:
            operands = np.empty((len(stage.place), span))
            now = Part.of(stage.ready, len(index), part.numbers, part.captured, index)
            run([now], table, _places(operands, low), threads)
            rows = index - low if not now.any_failed else (index - low)[now.failed < 0]
            for each in stage.calls if len(rows) else ():
                compute = functions[each.op].rows
                assert compute is not None
                given = [operands[stage.place[arg], rows] for arg in each.args]
                for result, column in zip(each.results, compute(given)):
                    made[self.columns[result], rows] = column
        done = Part.of(self.last, len(index), part.numbers, part.captured, index)
        run([done], table, outputs, threads)
        return done


def _places(block: Any, low: int) -> Any:
    """(address, stride) of the rows of an array, as if its first column were row ``low``."""
    start, width = block.__array_interface__["data"][0], block.strides[0]
    places = [(start + place * width - low * 8, 8) for place in range(len(block))]
    return np.array(places, dtype=np.int64).reshape(-1, 2)
