"""Every place that a plan names is looked at: one that is not there, or another, is refused."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from retrograde.errors import ProgramError
from retrograde.ops import OPS
from retrograde.program import layout
from retrograde.program.plan import CARRIED, ROW_OPS, STEPS, UNIFORM, Plan
from retrograde.program.plan_checker import check_plan
from retrograde.program.program import Program

NAMES = {number: name for name, number in STEPS.items()}
COUNT, OUT, X, Y, Z = 1, 2, 3, 4, 5
FAR = 1 << 20

Made = list[tuple[Plan, Program]]


def branching(rg: Any) -> Any:
    def function(x: Any, y: Any, rate: Any) -> Any:
        growth = rg.exp(rate * 2.0) + rg.sin(rate)
        if x > 0.0:
            x = x * growth
        if y > 1.0:
            y = y + x
        return rg.log(x * x + y * y + growth)

    return function, (np.array([0.5, -1.0, 2.0]), np.array([0.1, 2.0, 3.0]), 0.3)


def weighted(rg: Any) -> Any:
    def function(xs: Any, w: Any) -> Any:
        hidden = [rg.dot(xs, w) * each for each in xs]
        return rg.sum(hidden) * rg.dot(hidden, xs) + rg.sum([w[0], rg.exp(w[1])])

    rows = np.arange(24.0).reshape(3, 8) / 20.0
    return function, (rows, rows[:, ::-1].copy())


def looked_up(rg: Any) -> Any:
    def function(table: Any, at: Any) -> Any:
        squares = [each * each for each in table]
        return rg.take(squares, at) * rg.take(squares, 1)

    return function, (np.arange(12.0).reshape(3, 4) + 1.0, np.array([0, 2, 3]))


def columned(rg: Any) -> Any:
    """Eight columns and no other list: theirs ends where the extras end."""

    def function(xs: Any) -> Any:
        return rg.exp(xs[0] * xs[1]) / xs[2] - xs[3] * xs[4] + xs[5] * rg.sin(xs[6] - xs[7])

    return function, (np.arange(24.0).reshape(3, 8) / 20.0 + 0.1,)


@pytest.fixture(scope="module", params=[branching, weighted, looked_up, columned])
def made(request: pytest.FixtureRequest, native: Any) -> Made:
    """The plans of a function and of its gradients."""
    function, arguments = request.param(native)
    found: Made = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "is_asked", lambda: True)
        patch.setattr(
            layout, "check_plan", lambda plan, program: found.append((plan, program)) or plan
        )
        compiled = native.compile(function)
        compiled.value_and_grad(*arguments)
        compiled.value_and_grad(*arguments, reduce="sum")
    return found


def used(op: str, count: int) -> tuple[int, ...]:
    """The fields of a step that name places."""
    if op in ROW_OPS or op == "fma":
        return (OUT, X, Y, Z)[: 1 + (3 if op == "fma" else OPS[op].arity)]
    return {
        "load": (OUT, X),
        "eight": (X, Y),
        "fetch": (X, Y),
        "store": (X, Y),
        "reduce": (X, Y),
        "guard": (X, Y, Z),
        "scatter": (COUNT, OUT, X, Y),
        "chain": (COUNT, OUT, X, Y),
        "dot": (COUNT, OUT, X, Y),
    }.get(op, (COUNT, OUT, X))


def lists(step: tuple[int, ...]) -> list[range]:
    """The extras that a step lists."""
    op, count, x, y, z = NAMES[step[0]], step[COUNT], step[X], step[Y], step[Z]
    if op == "eight":
        return [range(y, y + 8)]
    if op == "scatter":
        return [range(x, x + 2 * y)]
    if op in ("chain", "dot"):
        more = [range(z - 1, z)] if op == "chain" and z else []
        return [range(x, x + count), range(y, y + count), *more]
    return [range(x, x + count + (op == "take"))] if op in ("sum", "take") else []


def sixes(numbers: Any) -> list[tuple[int, ...]]:
    return [tuple(numbers[at : at + 6]) for at in range(0, len(numbers), 6)]


def with_number(plan: Plan, name: str, at: int, number: int) -> Plan:
    numbers = array("I", getattr(plan, name))
    numbers[at] = number
    return replace(plan, **{name: numbers})


def refused(plan: Plan, program: Program) -> str:
    with pytest.raises(ProgramError) as caught:
        check_plan(plan, program)
    return str(caught.value)


def test_every_kind_of_step_is_met(made: Made, request: pytest.FixtureRequest) -> None:
    met = {NAMES[step[0]] for plan, _ in made for step in sixes(plan.steps)}
    which = request.node.callspec.params["made"]
    assert (
        met
        >= {
            branching: {"load", "store", "reduce", "guard", "fma"},
            weighted: {"eight", "fetch", "chain", "sum"},
            looked_up: {"take", "scatter"},
            columned: {"eight"},
        }[which]
    )


def test_what_layout_makes_passes(made: Made) -> None:
    for plan, program in made:
        assert check_plan(plan, program) is plan


@pytest.mark.parametrize("name", ["steps", "uniform_steps"])
def test_a_place_that_is_not_there(made: Made, name: str) -> None:
    for plan, program in made:
        for number, step in enumerate(sixes(getattr(plan, name))):
            for field in used(NAMES[step[0]], step[COUNT]):
                if step[field] != CARRIED:
                    refused(with_number(plan, name, 6 * number + field, FAR), program)


@pytest.mark.parametrize("name", ["steps", "uniform_steps"])
def test_a_listed_place_that_is_not_there_or_carried(made: Made, name: str) -> None:
    for plan, program in made:
        for step in sixes(getattr(plan, name)):
            for place in (each for some in lists(step) for each in some):
                refused(with_number(plan, "extras", place, FAR), program)
                if NAMES[step[0]] != "eight":
                    told = refused(with_number(plan, "extras", place, CARRIED), program)
                    assert "lists what is carried" in told


def test_a_list_that_goes_on_past_the_end(made: Made) -> None:
    for plan, program in made:
        for number, step in enumerate(sixes(plan.steps)):
            for field, some in zip((X, Y), lists(step)):
                if NAMES[step[0]] != "eight":
                    first = len(plan.extras) - len(some) + 1
                    told = refused(with_number(plan, "steps", 6 * number + field, first), program)
                    assert "lists operands past" in told
        for number, step in enumerate(sixes(plan.steps)):
            if NAMES[step[0]] in ("eight", "fetch"):
                past = 8 if NAMES[step[0]] == "fetch" else len(plan.extras) - 7
                told = refused(with_number(plan, "steps", 6 * number + Y, past), program)
                assert "goes on past the end" in told


def test_uniform_places_are_written_first(made: Made) -> None:
    for plan, program in made:
        for number, step in enumerate(sixes(plan.uniform_steps)):
            if NAMES[step[0]] not in ROW_OPS:
                continue
            later = with_number(plan, "uniform_steps", 6 * number + X, step[OUT])
            assert f"reads uniform {step[OUT]}, which" in refused(later, program)
        for number, step in enumerate(sixes(plan.steps)):
            if NAMES[step[0]] in ROW_OPS and step[X] != CARRIED:
                beyond = UNIFORM | len(plan.uniforms)
                told = refused(with_number(plan, "steps", 6 * number + X, beyond), program)
                assert "reads uniform" in told


def test_guards_are_counted_and_have_their_outcome(made: Made) -> None:
    for plan, program in made:
        for number, step in enumerate(sixes(plan.steps)):
            if NAMES[step[0]] != "guard":
                continue
            for field, other in ((COUNT, 1 - step[COUNT]), (Z, step[Z] + 1)):
                told = refused(with_number(plan, "steps", 6 * number + field, other), program)
                assert "for another outcome, or counts those before wrong" in told


def test_what_passes_on_keeps_its_result(made: Made) -> None:
    for plan, program in made:
        for number, step in enumerate(sixes(plan.steps)):
            if NAMES[step[0]] not in ROW_OPS or step[OUT] == CARRIED:
                continue
            passing = with_number(plan, "steps", 6 * number + COUNT, 1)
            nowhere = with_number(passing, "steps", 6 * number + OUT, CARRIED)
            assert "keeps its result nowhere" in refused(nowhere, program)


def test_a_scatter_writes_its_places_and_no_others(made: Made) -> None:
    for plan, program in made:
        for number, step in enumerate(sixes(plan.steps)):
            if NAMES[step[0]] == "scatter":
                last = plan.slots - step[COUNT] + 1
                told = refused(with_number(plan, "steps", 6 * number + OUT, last), program)
                assert f"writes place {plan.slots} of {plan.slots}" in told


def test_the_working_set_of_a_thread(made: Made) -> None:
    for plan, _ in made:
        assert plan.bytes == len(range(plan.slots)) * plan.block * np.dtype(float).itemsize
