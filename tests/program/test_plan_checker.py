"""The checker of plans: what layout makes passes, and a plan that is off by one number does not."""

from __future__ import annotations

import random
from array import array
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrograde.errors import ProgramError
from retrograde.program.layout import laid_out
from retrograde.program.passes import improved
from retrograde.program.plan import STEPS, Plan
from retrograde.program.plan_checker import check_plan, is_asked
from retrograde.program.program import Program

from . import support
from .support import execute, same, steady
from .wild import Wild, wild_programs


def outputs_of(program: Program, chance: random.Random) -> list[tuple[str, int]]:
    return [(chance.choice(("store", "reduce")), output) for output in program.outputs]


@steady(max_examples=100)
@given(wild=wild_programs(), seed=st.integers(0, 2**20))
def test_what_layout_makes_computes_the_program(wild: Wild, seed: int) -> None:
    program = improved(wild.program)
    plan = laid_out(program, outputs_of(program, random.Random(seed)))
    assert check_plan(plan, program) is plan


FIELDS = ("steps", "uniform_steps", "extras")


def mutated(plan: Plan, chance: random.Random) -> Plan:
    """The plan with one of its numbers changed, a little or to another one that is in it."""
    name = chance.choice([each for each in FIELDS if len(getattr(plan, each)) > 1])
    numbers = array("I", getattr(plan, name))
    at = chance.randrange(len(numbers))
    near = [number for number in (numbers[at] - 1, numbers[at] + 1) if 0 <= number < 2**32]
    numbers[at] = chance.choice([*near, chance.choice(numbers)])
    return replace(plan, **{name: numbers})


@pytest.mark.usefixtures("native")
@steady(max_examples=150)
@given(wild=wild_programs(), seed=st.integers(0, 2**20))
def test_a_mutated_plan_is_refused_or_computes_the_same(wild: Wild, seed: int) -> None:
    program = improved(wild.program.replaced(guards=[]))
    plan = laid_out(program, [("store", output) for output in program.outputs])
    other = mutated(plan, random.Random(seed))
    if is_sound(other, program):
        rows = wild.rows(5)
        with pytest.MonkeyPatch.context() as patch:
            expected = execute(program, rows)
            patch.setattr(support, "laid_out", lambda program, outputs: other)
            assert same(execute(program, rows), expected)


def is_sound(plan: Plan, program: Program) -> bool:
    try:
        return check_plan(plan, program) is plan
    except ProgramError:
        return False


def small() -> tuple[Plan, Program]:
    from retrograde.program.program import ROW, Input, Instruction

    program = Program(
        inputs={0: Input(ROW, "x"), 1: Input(ROW, "y")},
        instructions=[
            Instruction("exp", (2,), (0,)),
            Instruction("exp", (3,), (1,)),
            Instruction("mul", (4,), (2, 3)),
            Instruction("add", (5,), (4, 2)),
        ],
        outputs=[5],
        count=6,
    )
    return laid_out(program, [("store", 5)]), program


def changed(plan: Plan, step: int, field: int, number: int) -> Plan:
    steps = array("I", plan.steps)
    steps[6 * step + field] = number
    return replace(plan, steps=steps)


def step_of(plan: Plan, op: str) -> int:
    return next(at // 6 for at in range(0, len(plan.steps), 6) if plan.steps[at] == STEPS[op])


FAULTS: dict[str, tuple[Any, str]] = {
    "a slot that is not there": (
        lambda plan: changed(plan, step_of(plan, "load"), 2, 99), "step 0 writes place 99 of 2"),
    "an op that is not there": (
        lambda plan: changed(plan, 0, 0, 9999), "step 0 has unknown op 9999"),
    "a column that is not there": (
        lambda plan: changed(plan, step_of(plan, "load"), 3, 7), "step 0 loads column 7 of 2"),
    "a slot that was never written": (
        lambda plan: replace(changed(plan, step_of(plan, "add"), 4, 2), slots=3),
        "reads slot 2, which nothing has written"),
    "another operand": (
        lambda plan: changed(plan, step_of(plan, "mul"), 0, STEPS["sub"]),
        "does store 0 of another number than %5"),
    "nothing stored": (
        lambda plan: replace(plan, steps=plan.steps[:-6]), "it does 0 of 1 steps store"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_named(name: str) -> None:
    change, words = FAULTS[name]
    plan, program = small()
    with pytest.raises(ProgramError) as caught:
        check_plan(change(plan), program)
    assert words in str(caught.value)


def test_a_slot_given_away_before_its_last_use_is_found() -> None:
    plan, program = small()
    outs = [(at, plan.steps[at + 2]) for at in range(0, len(plan.steps), 6)]
    loads = [each for each in outs if plan.steps[each[0]] == STEPS["load"]]
    (exp,) = [
        out for at, out in outs if plan.steps[at] == STEPS["exp"] and out < plan.slots
    ]  # the first one, which is needed again at the end
    assert loads[1][1] != exp
    second = changed(plan, loads[1][0] // 6, 2, exp)
    reads = step_of(plan, "load") + 3  # the exp of the second column, which now lies there
    with pytest.raises(ProgramError, match="does store 0 of another number"):
        check_plan(changed(second, reads, 3, exp), program)


def test_plans_are_checked_when_the_environment_asks(monkeypatch: Any) -> None:
    assert is_asked()  # in every test of programs
    monkeypatch.delenv("RETROGRADE_CHECK_PLANS")
    import sys

    if not sys.flags.dev_mode and not hasattr(sys, "gettotalrefcount"):
        assert not is_asked()


def test_plans_are_the_same_on_both_cores(native: Any, reference: Any) -> None:
    def price(rg: Any) -> Any:
        def f(x: Any, y: Any) -> Any:
            if x > 0.0:
                return rg.exp(x) * y
            return rg.dot([x, y], [y, x])

        f = rg.compile(f)
        f.value_and_grad(np.array([1.0, -1.0]), 2.0)
        return [ready.plan for trace in f.traces for ready in trace.plans.values()]

    for one, other in zip(price(native), price(reference), strict=True):
        assert (one.steps, one.uniform_steps, one.extras, one.columns) == (
            other.steps, other.uniform_steps, other.extras, other.columns,
        )  # fmt: skip
        assert same(one.uniforms, other.uniforms)
