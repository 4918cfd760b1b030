"""Passes: each keeps every result to the bit, on any program, and does what it is for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from retrograde.program import passes
from retrograde.program.adjoint import adjoint, with_input
from retrograde.program.checker import check
from retrograde.program.passes import (
    PASSES,
    fold_constants,
    improved,
    remove_dead_code,
    remove_stops,
    share_common_subexpressions,
)
from retrograde.program.program import CONSTANT, ROW, UNIFORM, Guard, Input, Instruction, Program

from . import oracle
from .support import execute, same, steady
from .wild import SMOOTH, Wild, wild_programs

pytestmark = pytest.mark.usefixtures("native")

NAMED = {run.__name__: run for run in PASSES}


def results(program: Program, rows: list[dict[int, float]]) -> list[list[float]]:
    """Outputs and conditions of every row."""
    found = []
    for row in rows:
        numbers = oracle.run(program, row)
        asked = [*program.outputs, *(guard.condition for guard in program.guards)]
        found.append([numbers[index] for index in asked])
    return found


def assert_kept(before: Program, after: Program, rows: list[dict[int, float]]) -> None:
    assert same(results(before, rows), results(after, rows))
    assert [(g.outcome, g.site) for g in before.guards] == [
        (g.outcome, g.site) for g in after.guards
    ]
    kept = {index: given for index, given in after.inputs.items() if index in before.inputs}
    assert repr(kept) == repr(before.inputs)  # ids of inputs stay, and NaN is not equal to itself


@pytest.mark.parametrize("name", NAMED)
@steady(max_examples=60)
@given(wild=wild_programs())
def test_a_pass_keeps_every_result(name: str, wild: Wild) -> None:
    after = check(NAMED[name](wild.program), name)
    assert_kept(wild.program, after, wild.rows(3))
    assert len(after.instructions) <= len(wild.program.instructions)


@pytest.mark.parametrize("name", NAMED)
@steady(max_examples=60)
@given(wild=wild_programs(tame=True))
def test_a_pass_keeps_every_gradient(name: str, wild: Wild) -> None:
    before = with_gradient(wild.program)
    after = check(NAMED[name](before), name)
    assert_kept(before, after, wild.rows(3))


@steady(max_examples=60)
@given(wild=wild_programs())
def test_all_passes_keep_every_result_and_are_done_after_once(wild: Wild) -> None:
    after = improved(wild.program)
    assert_kept(wild.program, after, wild.rows(3))
    assert all(instruction.op != "stop" for instruction in after.instructions)
    assert repr(improved(after).instructions) == repr(after.instructions)


@pytest.mark.parametrize("name", [name for name in NAMED if name != "remove_stops"])
@steady(max_examples=40)
@given(wild=wild_programs(ops=SMOOTH, stops=False))
def test_a_pass_keeps_the_bits_of_the_executor(name: str, wild: Wild) -> None:
    """Also where they are not those of libm: constants are folded by the executor's own kernels."""
    before = wild.program.replaced(guards=[])
    after = check(NAMED[name](before), name)
    rows = wild.rows(9)
    assert same(execute(before, rows), execute(after, rows))


def with_gradient(program: Program) -> Program:
    program, seed = with_input(program, Input(CONSTANT, "", 1.0))
    wrt = [index for index, given in program.inputs.items() if given.kind != CONSTANT]
    return adjoint(program, wrt, [(program.outputs[0], seed)])


def test_the_checker_runs_when_all_passes_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def noted(program: Program, after: str) -> Program:
        seen.append(after)
        return check(program, after)

    monkeypatch.setattr(passes, "check", noted)
    improved(Program())
    assert seen == list(NAMED)[-1:]


def test_a_pass_that_breaks_a_program_is_named(
    monkeypatch: pytest.MonkeyPatch, native: Any
) -> None:
    def lose_the_outputs(program: Program) -> Program:
        return program.replaced(outputs=[99])

    monkeypatch.setattr(passes, "PASSES", (remove_stops, lose_the_outputs))
    with pytest.raises(native.errors.ProgramError, match=r"after lose_the_outputs: output %99"):
        improved(Program())


# ---- what each is for ----------------------------------------------------------------------------


def program_of(*steps: tuple[Any, ...], outputs: list[int], **numbers: float) -> Program:
    """%0 and %1 are rows, %2 is uniform, then the constants, then the steps."""
    inputs = {0: Input(ROW, "x"), 1: Input(ROW, "y"), 2: Input(UNIFORM, "u")}
    for number in numbers.values():
        inputs[len(inputs)] = Input(CONSTANT, "", number)
    instructions = [
        Instruction(op, (len(inputs) + place,), args) for place, (op, *args) in enumerate(steps)
    ]
    instructions = [step._replace(args=tuple(step.args)) for step in instructions]
    return check(
        Program(inputs, instructions, [], outputs, [], len(inputs) + len(steps)), "building"
    )


def ops(program: Program) -> list[str]:
    return [instruction.op for instruction in program.instructions]


def test_stops_vanish_also_in_a_row() -> None:
    program = program_of(("stop", 0), ("stop", 3), ("mul", 4, 3), ("stop", 5), outputs=[6, 4])
    program.guards = [Guard(4, True)]
    after = remove_stops(program)
    assert ops(after) == ["mul"]
    assert after.instructions[0].args == (0, 0)
    assert after.outputs == [5, 0]
    assert after.guards == [Guard(0, True)]


def test_common_subexpressions_are_shared_also_those_that_become_common() -> None:
    program = program_of(
        ("exp", 0), ("exp", 0), ("mul", 3, 1), ("mul", 4, 1), ("sum", 5, 6), ("sum", 6, 5),
        outputs=[7, 8],
    )  # fmt: skip
    after = share_common_subexpressions(program)
    assert ops(after) == ["exp", "mul", "sum"]
    assert after.outputs == [7, 7]


def test_operands_the_other_way_round_are_not_common() -> None:
    after = share_common_subexpressions(program_of(("add", 0, 1), ("add", 1, 0), outputs=[3, 4]))
    assert ops(after) == ["add", "add"]


def test_constants_are_folded_through_chains_and_shared() -> None:
    program = program_of(
        ("add", 3, 4), ("sqrt", 5), ("mul", 0, 6), ("sub", 4, 3), outputs=[7, 8], a=1.0, b=3.0
    )
    after = fold_constants(program)
    assert ops(after) == ["mul"]
    numbers = {i: g.number for i, g in after.inputs.items() if g.kind == CONSTANT}
    assert sorted(numbers.values()) == [1.0, 2.0, 3.0, 4.0]
    assert numbers[after.instructions[0].args[1]] == 2.0
    assert numbers[after.outputs[1]] == 2.0


def test_uniforms_and_rows_are_not_folded() -> None:
    program = program_of(("add", 2, 3), ("add", 0, 3), outputs=[4, 5], a=1.0)
    assert ops(fold_constants(program)) == ["add", "add"]


@pytest.mark.parametrize(
    ("steps", "number"),
    [
        ([("mul", 0, 3)], 0.0), ([("add", 0, 3)], 0.0), ([("sub", 0, 0)], 0.0),
        ([("mul", 0, 3)], 1.0), ([("div", 0, 0)], 0.0), ([("add", 0, 3)], -0.0),
    ],
)  # fmt: skip
def test_nothing_is_simplified(steps: list[Any], number: float) -> None:
    program = program_of(*steps, outputs=[4], a=number)
    assert ops(improved(program)) == [steps[0][0]]
    rows = [{0: x, 1: 0.0, 2: 0.0} for x in (math.inf, math.nan, -0.0, 1.0)]
    assert_kept(program, improved(program), rows)


def test_zeros_are_told_apart_and_nans_kept() -> None:
    program = program_of(
        ("mul", 3, 4), ("div", 4, 3), ("sub", 5, 5), ("add", 0, 5), ("add", 0, 6),
        outputs=[5, 6, 7, 8, 9], zero=0.0, minus=-1.0,
    )  # fmt: skip
    after = improved(program)
    assert ops(after) == ["add", "add"]
    assert_kept(program, after, [{0: -0.0, 1: 0.0, 2: 0.0}])
    quiet = program_of(("div", 3, 3), ("div", 4, 4), outputs=[5, 6], a=0.0, b=-0.0)
    assert all(map(math.isnan, oracle.outputs(improved(quiet), {0: 0.0, 1: 0.0, 2: 0.0})))


def test_dead_code_goes_guards_and_outputs_keep_theirs() -> None:
    program = program_of(
        ("exp", 0), ("less", 0, 1), ("mul", 3, 3), ("sin", 1), ("neg", 1), outputs=[7]
    )
    program.guards = [Guard(4, True)]
    after = remove_dead_code(program)
    assert ops(after) == ["less", "neg"]
    assert after.guards == program.guards


def test_a_scatter_stays_whole_while_one_of_its_results_is_needed() -> None:
    program = Program(
        inputs={0: Input(ROW, "i"), 1: Input(ROW, "x")},
        instructions=[Instruction("scatter", (2, 3, 4), (0, 1))],
        outputs=[3],
        count=5,
    )
    assert improved(program).instructions == program.instructions
    assert remove_dead_code(program.replaced(outputs=[1])).instructions == []


def test_primal_instructions_keep_their_order_and_their_operands(native: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        a = x * y + 1.0
        b = (x - y) * (a + 0.1)
        return native.sum([b, a * 2.0, native.exp(b) * native.exp(b)])

    compiled = native.compile(f)
    compiled(np.ones(2), np.ones(2))
    compiled.grad(np.ones(2), np.ones(2))
    (trace,) = compiled.traces
    recorded = [i for i in trace.program.instructions if i.op != "stop"]
    for program in [ready.program for ready in trace.plans.values()]:
        kept = [i for i in program.instructions if i in recorded]
        assert kept == [i for i in recorded if i in kept]
        assert {"fma"} & {i.op for i in kept} == set()
