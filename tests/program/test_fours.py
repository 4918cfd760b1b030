"""Four dots or chains at once, where a tile is one vector: the bits of one by one, and never where
one of them needs what another yields."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograde.program.layout import laid_out
from retrograde.program.plan import STEPS
from retrograde.program.program import ROW, Input, Instruction, Program

from .support import AWKWARD, execute, same

WIDTH = 5


def four(op: str, later: bool, needs: tuple[int, int] | None = None, count: int = 7) -> Program:
    """Wide instructions over one list of rights; ``needs`` makes one of them read another.

    What they yield is used ``later``, or is an output at once.
    """
    inputs = {index: Input(ROW, f"x{index}") for index in range(4 * WIDTH)}
    rights = tuple(range(3 * WIDTH, 4 * WIDTH))
    first = len(inputs)
    ends = [first + number for number in range(count)]
    made = iter(range(first + count, 1000))
    steps = [Instruction("sum", (next(made),), tuple(inputs))]  # every column is loaded before
    for number, end in enumerate(ends):
        lefts = [(number * 3 + place * 2) % (3 * WIDTH) for place in range(WIDTH)]
        if needs is not None and number == needs[1]:
            lefts[2] = ends[needs[0]]
        if op == "dot":
            steps.append(Instruction("dot", (end,), (*lefts, *rights)))
            continue
        results = [*(next(made) for _ in range(WIDTH - 1)), end]
        steps.append(Instruction("mul", (results[0],), (lefts[0], rights[0])))
        for place in range(1, WIDTH):
            args = (lefts[place], rights[place], results[place - 1])
            steps.append(Instruction("fma", (results[place],), args))
    outputs = [next(made) for _ in ends] if later else ends
    if later:
        steps += [Instruction("neg", (out,), (end,)) for out, end in zip(outputs, ends)]
    total = next(made)
    steps.append(Instruction("sum", (total,), (*inputs, first + count)))
    return Program(inputs, steps, outputs=[*outputs, total], count=total + 1)


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("op", ["dot", "chain"])
def test_the_steps_stand_next_to_each_other(op: str, later: bool) -> None:
    program = four(op, later)
    plan = laid_out(program, [("reduce", output) for output in program.outputs])
    places = [place for place, step in enumerate(plan.steps[::6]) if step == STEPS[op]]
    assert places == list(range(places[0], places[0] + 7 * (1 if later else 2), 1 if later else 2))


@pytest.mark.parametrize("needs", [None, (0, 1), (1, 3), (2, 3), (3, 4), (0, 6)])
@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("reduce", [False, True])
@pytest.mark.parametrize("op", ["dot", "chain"])
def test_few_rows_have_the_bits_of_many(
    native: Any, op: str, reduce: bool, later: bool, needs: tuple[int, int] | None
) -> None:
    program = four(op, later, needs)
    draw = np.random.default_rng(3)
    numbers = np.concatenate([draw.standard_normal(40), AWKWARD])
    rows = [{i: float(draw.choice(numbers)) for i in program.inputs} for _ in range(40)]
    many = execute(program, rows)
    for few in (1, 3, 8):
        got = execute(program, rows[:few], reduce=reduce)
        assert same(got, _added(many[:few]) if reduce else many[:few])


def _added(values: Any) -> Any:
    with np.errstate(all="ignore"):
        lanes = np.zeros((8, values.shape[1]))
        lanes[: len(values)] += values
        low = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
        return 0.0 + (low + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])))
