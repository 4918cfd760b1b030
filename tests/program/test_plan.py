"""Plans: programs laid out in slots and run by the executor, against the oracle, to the bit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrograde.program.layout import laid_out
from retrograde.program.passes import improved, remove_stops
from retrograde.program.plan import CARRIED, STEPS
from retrograde.program.program import CONSTANT, ROW, UNIFORM, Input, Instruction, Program

from . import oracle
from .support import LEVELS, execute, kernels, same, steady
from .wild import Wild, wild_programs

pytestmark = pytest.mark.usefixtures("native")


def runnable(wild: Wild, passes: bool) -> Program:
    """The program without guards, which numbers at random would not satisfy."""
    program = wild.program.replaced(guards=[])
    return improved(program) if passes else remove_stops(program)


@pytest.mark.parametrize("passes", [False, True])
@steady(max_examples=200)
@given(wild=wild_programs(), count=st.integers(1, 20))
def test_the_executor_is_the_oracle_to_the_bit(passes: bool, wild: Wild, count: int) -> None:
    rows = wild.rows(count)
    expected = [oracle.outputs(wild.program, row) for row in rows]
    assert same(execute(runnable(wild, passes), rows), expected)


@pytest.mark.parametrize("level", LEVELS)
@steady(max_examples=50)
@given(wild=wild_programs(most=30))
def test_every_simd_level_is_the_oracle_to_the_bit(level: str, wild: Wild) -> None:
    rows = wild.rows(11)
    expected = [oracle.outputs(wild.program, row) for row in rows]
    with kernels(level):
        assert same(execute(runnable(wild, True), rows), expected)


@steady(max_examples=60)
@given(wild=wild_programs(most=30))
def test_guards_are_checked_row_by_row(wild: Wild) -> None:
    program = improved(wild.program)
    rows = wild.rows(9)
    wrong = [place for place, row in enumerate(rows) if not all(oracle.guards_hold(program, row))]
    failed: list[int] = []
    got = execute(program, rows, failed=failed)
    assert failed == wrong
    right = [place for place in range(len(rows)) if place not in wrong]
    for place in right:
        assert same(got[place], oracle.outputs(wild.program, rows[place]))


@steady(max_examples=60)
@given(wild=wild_programs())
def test_sums_are_in_a_fixed_order(wild: Wild) -> None:
    """Eight lanes a chunk of 1024 rows, a tree of eight, then chunk after chunk."""
    program = runnable(wild, True)
    few = wild.rows(19)
    rows = [few[place % 19] for place in range(1024 + 19)]
    values = np.array([oracle.outputs(program, row) for row in few])[np.arange(len(rows)) % 19]
    with np.errstate(all="ignore"):
        assert same(execute(program, rows, reduce=True), [summed(column) for column in values.T])


def summed(column: Any) -> float:
    total = 0.0
    for first in range(0, len(column), 1024):
        lanes = [0.0] * 8
        for place, number in enumerate(column[first : first + 1024].tolist()):
            lanes[place % 8] += number
        low = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
        total += low + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
    return total


# ---- the layout ----------------------------------------------------------------------------------


def chain(length: int, kind: str = ROW) -> Program:
    """x * c, again and again."""
    return Program(
        inputs={0: Input(kind, "x"), 1: Input(CONSTANT, "", 1.5)},
        instructions=[
            Instruction("mul", (place + 2,), (place + 1 if place else 0, 1))
            for place in range(length)
        ],
        outputs=[length + 1],
        count=length + 2,
    )


def test_slots_are_used_again() -> None:
    plan = laid_out(chain(1000), [("store", 1001)])
    assert plan.slots <= 2
    assert len(plan.steps) // 6 == 1002  # a load and a store


@pytest.mark.parametrize("op", ["sum", "dot", "take"])
def test_slots_of_wide_instructions_are_used_again(op: str) -> None:
    wide = {"sum": lambda i: (i, i), "dot": lambda i: (i, i), "take": lambda i: (i, i, 0)}[op]
    program = Program(
        inputs={0: Input(ROW, "x")},
        instructions=[Instruction(op, (place + 1,), wide(place)) for place in range(100)],
        outputs=[100],
        count=101,
    )
    assert laid_out(program, [("store", 100)]).slots <= 3


def test_what_is_the_same_for_all_rows_is_computed_once() -> None:
    plan = laid_out(chain(10, UNIFORM), [("store", 11)])
    assert len(plan.uniform_steps) // 6 == 10
    assert len(plan.steps) // 6 == 1
    assert plan.slots == 0


def test_only_the_columns_that_are_used_are_loaded() -> None:
    program = Program(
        inputs={index: Input(ROW, f"x{index}") for index in range(5)},
        instructions=[Instruction("add", (5,), (1, 3))],
        outputs=[5, 4],
        count=6,
    )
    plan = laid_out(program, [("store", 5), ("reduce", 4)])
    assert sorted(plan.columns) == [1, 3, 4]
    assert (plan.stored, plan.reduced, plan.guards) == (1, 1, 0)


@pytest.mark.parametrize("what", ["store", "reduce"])
def test_an_output_may_be_asked_for_often(what: str) -> None:
    program = chain(3).replaced(outputs=[4, 4, 0, 1, 2])
    rows = [{0: float(x)} for x in range(5)]
    expected = [oracle.outputs(program, row) for row in rows]
    got = execute(program, rows, reduce=what == "reduce")
    assert same(got, expected if what == "store" else np.sum(expected, axis=0))


def steps_of(plan: Any) -> list[tuple[int, ...]]:
    return [tuple(plan.steps[at : at + 6]) for at in range(0, len(plan.steps), 6)]


def test_what_only_the_next_step_needs_is_carried_and_takes_no_slot() -> None:
    plan = laid_out(chain(3), [("store", 4)])
    _, first, second, third, stored = steps_of(plan)
    assert plan.slots == 1  # the column
    assert [step[2] for step in (first, second, third)] == [CARRIED] * 3
    assert [step[3] for step in (second, third, stored)] == [CARRIED] * 3


def test_what_is_needed_later_is_carried_and_has_a_slot() -> None:
    program = Program(
        inputs={0: Input(ROW, "x")},
        instructions=[
            Instruction("exp", (1,), (0,)),
            Instruction("neg", (2,), (1,)),
            Instruction("mul", (3,), (1, 2)),
        ],
        outputs=[3],
        count=4,
    )
    _, exp, neg, mul, _ = steps_of(laid_out(program, [("store", 3)]))
    assert exp[2] != CARRIED
    assert neg[2:4] == (CARRIED, CARRIED)
    assert mul[3:5] == (exp[2], CARRIED)


def test_what_is_needed_sooner_is_handed_on() -> None:
    """The square is needed twice more, the product only later: the product goes to a slot alone."""
    program = Program(
        inputs={0: Input(ROW, "x"), 1: Input(ROW, "y")},
        instructions=[
            Instruction("square", (2,), (0,)),
            Instruction("mul", (3,), (2, 1)),
            Instruction("add", (4,), (2, 1)),
            Instruction("sub", (5,), (4, 3)),
        ],
        outputs=[5],
        count=6,
    )
    steps = steps_of(laid_out(program, [("store", 5)]))
    square, mul, add, sub = (step for step in steps if step[0] < STEPS["fma"])
    assert square[2] == CARRIED
    assert mul[1] == 1
    assert mul[2] != CARRIED
    assert mul[3] == add[3] == CARRIED
    assert sub[3:5] == (CARRIED, mul[2])
    rows = [{0: 0.5 * x, 1: 3.0 - x} for x in range(70)]
    assert same(execute(program, rows), [oracle.outputs(program, row) for row in rows])


def test_the_columns_of_the_next_rows_are_fetched_evenly() -> None:
    inputs = {index: Input(ROW, f"x[{index}]", 0.0, "x", index) for index in range(16)}
    instructions = [
        Instruction("add", (index + 16,), (index, index + 15 if index else 0))
        for index in range(16)
    ]
    program = Program(inputs=inputs, instructions=instructions, outputs=[31], count=32)
    ops = [step[0] for step in steps_of(laid_out(program, [("store", 31)]))]
    places = [place for place, op in enumerate(ops) if op == STEPS["fetch"]]
    assert len(places) == 16
    apart = [after - before for before, after in pairwise(places)]
    assert max(apart) - min(apart) <= 1


def test_what_a_sum_reads_is_in_a_slot() -> None:
    program = Program(
        inputs={0: Input(ROW, "x")},
        instructions=[Instruction("exp", (1,), (0,)), Instruction("sum", (2,), (1, 0))],
        outputs=[2],
        count=3,
    )
    plan = laid_out(program, [("store", 2)])
    load, exp, added, _ = steps_of(plan)
    assert added[0] == STEPS["sum"]
    assert list(plan.extras[added[3] : added[3] + 2]) == [exp[2], load[2]]


@pytest.mark.parametrize("width", [1, 3, 200])
def test_wide_instructions_do_not_overwrite_what_they_read(width: int) -> None:
    """A sum and a dot write while they read, so their operands keep their slots until the end."""
    inputs = {index: Input(ROW, f"x{index}") for index in range(width)}
    ids = tuple(range(width))
    program = Program(
        inputs=inputs,
        instructions=[
            Instruction("sum", (width,), ids),
            Instruction("dot", (width + 1,), (*ids, *reversed(ids))),
            Instruction("sum", (width + 2,), (width, width + 1, width)),
        ],
        outputs=[width, width + 1, width + 2],
        count=width + 3,
    )
    rows = [{place: float(row + place) for place in ids} for row in range(9)]
    expected = [oracle.outputs(program, row) for row in rows]
    assert same(execute(program, rows), expected)
