"""The checker of plans on one plan written by hand, in which all kinds of steps stand: it is
accepted, and refused as soon as any of its numbers is another one, unless nothing reads that."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from retrograde.errors import ProgramError
from retrograde.program import plan_checker
from retrograde.program.plan import CARRIED, STEPS, Plan
from retrograde.program.plan import UNIFORM as SAME
from retrograde.program.plan_checker import check_plan, is_asked
from retrograde.program.program import (
    CAPTURED,
    CONSTANT,
    ROW,
    UNIFORM,
    Guard,
    Input,
    Instruction,
    Program,
)

pytestmark = pytest.mark.usefixtures("native")

INPUTS = {
    **{column: Input(ROW, f"a[{column}]", 0.0, "a", column) for column in range(8)},
    8: Input(ROW, "x"), 9: Input(CAPTURED, "c"), 10: Input(UNIFORM, "u"),
    11: Input(CONSTANT, "", 0.0),
}  # fmt: skip

INSTRUCTIONS = [
    # the same for all rows
    ("mul", (12,), (9, 10)),
    ("scatter", (13, 14), (9, 10, 11, 12)),
    ("sum", (15,), (12, 13, 14)),
    ("dot", (16,), (9, 10, 11, 12)),
    ("take", (17,), (10, 15, 16)),
    ("mul", (18,), (9, 17)),
    ("fma", (19,), (10, 15, 18)),
    ("fma", (20,), (12, 11, 19)),
    ("fma", (35,), (20, 16, 14)),
    # row by row
    ("exp", (21,), (8,)),
    ("mul", (22,), (21, 0)),
    ("fma", (23,), (21, 1, 22)),
    ("add", (24,), (21, 35)),
    ("less", (25,), (24, 2)),
    ("less", (36,), (24, 23)),
    ("scatter", (26, 27), (3, 4, 22, 23)),
    ("sum", (28,), (26, 27, 5)),
    ("take", (29,), (6, 28, 7)),
    ("dot", (30,), (0, 1, 26, 27)),
    ("mul", (31,), (2, 28)),
    ("fma", (32,), (3, 29, 31)),
    ("fma", (33,), (4, 30, 32)),
    ("fma", (34,), (5, 26, 33)),
]

OUTPUTS = [("store", 34), ("reduce", 24), ("store", 27), ("reduce", 36)]

LISTS: dict[str, tuple[int, ...]] = {
    "eight": (0, 1, 2, 3, 4, 5, 6, 7),
    "uniform scatter": (0, 1, 2, 3), "uniform sum": (3, 4, 5),
    "uniform dot, left": (0, 1), "uniform dot, right": (2, 3), "uniform take": (1, 6, 7),
    "uniform chain, left": (0, 1), "uniform chain, right": (8, 6),
    "from uniform": (9,), "on uniform, left": (3,), "on uniform, right": (2,),
    "scatter": (3, 4, 9, 10), "sum": (17, 18, 5), "take": (6, 13, 7),
    "dot, left": (0, 1), "dot, right": (17, 18),
    "chain, left": (2, 3), "chain, right": (13, 14),
    "from": (16,), "on, left": (4, 5), "on, right": (15, 17),
}  # fmt: skip
"""What the steps list, in the order of the extras."""


def at(name: str) -> int:
    """Where a list begins among the extras."""
    return sum(len(LISTS[each]) for each in list(LISTS)[: list(LISTS).index(name)])


UNIFORM_STEPS = [
    ("mul", 0, 3, 0, 1, 0),
    ("scatter", 2, 4, at("uniform scatter"), 2, 0),
    ("sum", 3, 6, at("uniform sum"), 0, 0),
    ("dot", 2, 7, at("uniform dot, left"), at("uniform dot, right"), 0),
    ("take", 2, 8, at("uniform take"), 0, 0),
    ("chain", 2, 9, at("uniform chain, left"), at("uniform chain, right"), 0),
    ("chain", 1, 10, at("on uniform, left"), at("on uniform, right"), at("from uniform") + 1),
    ("fma", 0, 11, 10, 7, 5),
]

ROW_STEPS = [
    ("eight", 0, 0, 0, 0, 0),
    ("fetch", 0, 0, 0, 7, 0),
    ("load", 0, 8, 8, 0, 0),
    ("exp", 0, CARRIED, 8, 0, 0),
    ("mul", 1, 9, CARRIED, 0, 0),
    ("fma", 1, 10, CARRIED, 1, 9),
    ("add", 0, 11, CARRIED, SAME | 11, 0),
    ("reduce", 0, 0, CARRIED, 0, 0),
    ("less", 0, 12, CARRIED, 2, 0),
    ("guard", 1, 0, CARRIED, 1, 0),
    ("less", 0, CARRIED, 11, 10, 0),
    ("guard", 0, 0, CARRIED, 0, 2),
    ("reduce", 0, 0, CARRIED, 1, 0),
    ("guard", 1, 0, 12, 2, 3),
    ("scatter", 2, 17, at("scatter"), 2, 0),
    ("store", 0, 0, 18, 1, 0),
    ("sum", 3, 13, at("sum"), 0, 0),
    ("take", 2, 14, at("take"), 0, 0),
    ("dot", 2, 15, at("dot, left"), at("dot, right"), 0),
    ("chain", 2, 16, at("chain, left"), at("chain, right"), 0),
    ("chain", 2, CARRIED, at("on, left"), at("on, right"), at("from") + 1),
    ("store", 0, 0, CARRIED, 0, 0),
]

TWO, LISTED = (0, 2, 3, 4), (0, 1, 2, 3)
READ = {
    "mul": TWO, "add": TWO, "less": TWO, "exp": TWO[:3], "fma": (*TWO, 5), "sum": LISTED,
    "take": LISTED, "dot": (*LISTED, 4), "scatter": (*LISTED, 4), "chain": (*LISTED, 4, 5),
    "eight": (0, 3, 4), "fetch": (), "load": TWO[:3], "store": (0, 3, 4), "reduce": (0, 3, 4),
    "guard": (0, 1, 3, 4, 5),
}  # fmt: skip
"""Which of a step's six numbers are read; ``fetch`` reads no number of the program's."""

HANDS_OUT = {STEPS[name] for name in ("store", "reduce", "guard")}
"""What may be done later, as long as its number is there."""


def numbers_of(steps: Sequence[tuple[Any, ...]]) -> array[int]:
    return array("I", [n for name, *rest in steps for n in (STEPS[name], *rest)])


def by_hand() -> tuple[Plan, Program]:
    program = Program(
        inputs=INPUTS,
        instructions=[Instruction(*each) for each in INSTRUCTIONS],
        guards=[Guard(36, False), Guard(25, True), Guard(25, True)],
        outputs=[index for _, index in OUTPUTS],
        count=37,
    )
    plan = Plan(
        steps=numbers_of(ROW_STEPS),
        uniform_steps=numbers_of(UNIFORM_STEPS),
        extras=array("I", [place for places in LISTS.values() for place in places]),
        uniforms=np.zeros(12),
        arguments=[1],
        argument_ids=[10],
        columns=array("I", range(9)),
        slots=19,
        stored=2,
        reduced=2,
        guards=3,
        outputs=OUTPUTS,
        places=12,
    )
    return plan, program


def refusal(plan: Plan, program: Program) -> str | None:
    """Why a plan is refused; None where it is not."""
    try:
        assert check_plan(plan, program) is plan
    except ProgramError as error:
        return str(error)
    return None


def test_it_computes_its_program() -> None:
    assert refusal(*by_hand()) is None


def others(number: int) -> Iterator[int]:
    """Numbers a little off, far off, and those that mean another kind of place."""
    for other in (number - 1, number + 1, number - 2, 999, CARRIED, number ^ SAME):
        if 0 <= other < 2**32 and other != number:
            yield other


def changed(numbers: array[int], place: int, number: int) -> array[int]:
    after = array("I", numbers)
    after[place] = number
    return after


@pytest.mark.parametrize("which", ["steps", "uniform_steps"])
def test_any_other_number_of_a_step_is_refused(which: str) -> None:
    plan, program = by_hand()
    numbers = getattr(plan, which)
    accepted = []
    for place, number in enumerate(numbers):
        step, field = divmod(place, 6)
        name = (ROW_STEPS if which == "steps" else UNIFORM_STEPS)[step][0]
        for other in others(number) if field in READ[name] else ():
            if refusal(replace(plan, **{which: changed(numbers, place, other)}), program) is None:
                accepted.append((step, name, field, number, other))
    assert not accepted, "\n".join(map(str, accepted))


def test_any_other_listed_place_is_refused() -> None:
    plan, program = by_hand()
    accepted = [
        (place, number, other)
        for place, number in enumerate(plan.extras)
        for other in others(number)
        if refusal(replace(plan, extras=changed(plan.extras, place, other)), program) is None
    ]
    assert not accepted, "\n".join(map(str, accepted))


@pytest.mark.parametrize("which", ["steps", "uniform_steps"])
def test_a_step_left_out_or_done_too_late_is_refused(which: str) -> None:
    plan, program = by_hand()
    numbers = getattr(plan, which)
    for place in range(0, len(numbers), 6):
        step = numbers[place : place + 6]
        if step[0] == STEPS["fetch"]:
            continue  # asked for ahead of time, and no number
        rest = numbers[:place] + numbers[place + 6 :]
        assert refusal(replace(plan, **{which: rest}), program), place // 6
        if place + 6 < len(numbers) - 6 and step[0] not in HANDS_OUT:
            assert refusal(replace(plan, **{which: rest + step}), program), place // 6


def test_a_step_that_passes_on_what_it_was_handed_is_told_from_one_that_hands_on() -> None:
    plan, program = by_hand()
    for place, (name, passes, *_) in enumerate(ROW_STEPS):
        if name in ("exp", "mul", "fma", "add", "less"):
            other = replace(plan, steps=changed(plan.steps, 6 * place + 1, 1 - passes))
            assert refusal(other, program), place


def with_step(plan: Plan, place: int, step: tuple[Any, ...]) -> Plan:
    """The plan with another step in a place."""
    steps = [*ROW_STEPS[:place], step, *ROW_STEPS[place + 1 :]]
    return replace(plan, steps=numbers_of(steps))


FAULTS = {
    "fetches past the columns": (
        lambda plan: with_step(plan, 1, ("fetch", 0, 0, 2, 7, 0)), "step 1 loads column 9 of 9"),
    "fetches a ninth share": (
        lambda plan: with_step(plan, 1, ("fetch", 0, 0, 0, 8, 0)),
        "step 1 goes on past the end at 8"),
    "loads eight past the extras": (
        lambda plan: with_step(plan, 0, ("eight", 0, 0, 0, 45, 0)),
        "step 0 goes on past the end at 45"),
    "loads eight past the columns": (
        lambda plan: with_step(plan, 0, ("eight", 0, 0, 2, 0, 0)), "step 0 loads column 9 of 9"),
    "writes past the slots": (
        lambda plan: with_step(plan, 2, ("load", 0, 19, 8, 0, 0)), "step 2 writes place 19 of 19"),
    "scatters past the slots": (
        lambda plan: with_step(plan, 14, ("scatter", 2, 18, at("scatter"), 2, 0)),
        "step 14 writes place 19 of 19"),
    "lists past the extras": (
        lambda plan: with_step(plan, 16, ("sum", 3, 15, 50, 0, 0)),
        "step 16 lists operands past the 52 extras"),
    "lists what is carried": (
        lambda plan: replace(plan, extras=changed(plan.extras, at("sum") + 2, CARRIED)),
        "step 16 lists what is carried, which only operands in place may be"),
    "keeps a result nowhere": (
        lambda plan: with_step(plan, 10, ("less", 1, CARRIED, 11, 10, 0)),
        "step 10 passes on what it was handed and keeps its result nowhere"),
    "reads what is carried first": (
        lambda plan: with_step(plan, 0, ("exp", 0, 1, CARRIED, 0, 0)),
        "step 0 reads what is carried, which nothing has written"),
    "reads a uniform past the last": (
        lambda plan: with_step(plan, 6, ("add", 0, 11, CARRIED, SAME | 12, 0)),
        "step 6 reads uniform 12, which nothing has written"),
    "reads a slot past the last": (
        lambda plan: with_step(plan, 3, ("exp", 0, CARRIED, 19, 0, 0)),
        "step 3 reads slot 19, which nothing has written"),
    "chains nothing": (
        lambda plan: with_step(plan, 19, ("chain", 0, 18, 0, 0, 0)),
        "step 19 is a chain of nothing"),
    "stores twice": (
        lambda plan: with_step(plan, 15, ROW_STEPS[21]),
        "step 15 does store 0 of another number than %34"),
    "stores a third": (
        lambda plan: with_step(plan, 15, ("store", 0, 0, 14, 2, 0)),
        "step 15 does store 2 again, or there is none"),
    "does a guard again": (
        lambda plan: with_step(plan, 11, ROW_STEPS[9]), "step 11 does guard 1 again"),
    "forgets a guard": (
        lambda plan: with_step(plan, 13, ROW_STEPS[1]), "it does 2 of 3 steps guard"),
    "counts other outputs": (
        lambda plan: replace(plan, stored=3),
        "it counts other outputs and guards than there are"),
    "counts other sums": (
        lambda plan: replace(plan, reduced=1),
        "it counts other outputs and guards than there are"),
    "counts other guards": (
        lambda plan: replace(plan, guards=2),
        "it counts other outputs and guards than there are"),
    "fills other arguments": (
        lambda plan: replace(plan, arguments=[2]),
        "its uniform arguments are not the program's"),
    "names other arguments": (
        lambda plan: replace(plan, argument_ids=[9]),
        "its uniform arguments are not the program's"),
    "has another zero": (
        lambda plan: replace(plan, uniforms=np.full(12, -0.0)),
        "uniform 2 is not the constant %11"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_named(name: str) -> None:
    change, words = FAULTS[name]
    plan, program = by_hand()
    assert words in (refusal(change(plan), program) or "")


def test_the_last_eight_columns_are_fetched() -> None:
    plan, program = by_hand()
    assert refusal(with_step(plan, 1, ("fetch", 0, 0, 1, 7, 0)), program) is None


def test_the_last_eight_extras_may_be_slots() -> None:
    plan, program = by_hand()
    moved = with_step(plan, 0, ("eight", 0, 0, 0, len(plan.extras), 0))
    assert refusal(replace(moved, extras=plan.extras + array("I", range(8))), program) is None


@pytest.mark.parametrize(
    ("development", "debug", "asked"),
    [(False, False, False), (True, False, True), (False, True, True)],
)
def test_what_python_is_asks(
    development: bool, debug: bool, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RETROGRADE_CHECK_PLANS")
    python = SimpleNamespace(flags=SimpleNamespace(dev_mode=development))
    if debug:
        python.gettotalrefcount = int
    monkeypatch.setattr(plan_checker, "sys", python)
    assert is_asked() is asked
