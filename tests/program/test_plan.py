"""Plans: programs laid out in slots and run by the executor, against the oracle, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrograde.program import plan as planning
from retrograde.program.passes import improved, remove_stops
from retrograde.program.plan import block_for, laid_out
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


def test_blocks_are_powers_of_two_that_fit_the_cache() -> None:
    blocks = [block_for(slots) for slots in range(1, 5000)]
    assert set(blocks) <= {8, 16, 32, 64, 128, 256, 512, 1024}
    assert blocks == sorted(blocks, reverse=True)
    assert block_for(0) == block_for(1) == 1024
    for slots in (10, 100, 1000):
        assert slots * block_for(slots) * 8 <= planning.CACHE_FAR


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
