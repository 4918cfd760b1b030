"""Chains: the same bits as link by link, nothing swallowed that is needed elsewhere, and only where
they free more slots than they keep waiting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograde.program import chains
from retrograde.program.chains import gathered
from retrograde.program.layout import laid_out
from retrograde.program.plan import STEPS
from retrograde.program.program import CONSTANT, ROW, UNIFORM, Guard, Input, Instruction, Program

from .support import AWKWARD, execute, same


def sum_of_products(links: int, kind: str = ROW, start: bool = False) -> Program:
    """x0*y0 + x1*y1 + …, link by link, or to a start; and the sum of all, so that they are there
    to the end."""
    inputs = {index: Input(kind, f"x{index}") for index in range(2 * links + 1)}
    made = len(inputs)
    steps = [Instruction("fma", (made,), (0, 1, 2 * links))]
    if not start:
        steps = [Instruction("mul", (made,), (0, 1))]
    for link in range(1, links):
        before = made + link - 1
        steps.append(Instruction("fma", (before + 1,), (2 * link, 2 * link + 1, before)))
    steps.append(Instruction("sum", (made + links,), tuple(inputs)))
    return Program(inputs, steps, outputs=[made + links - 1, made + links], count=made + links + 1)


def ops(program: Program) -> list[str]:
    return [instruction.op for instruction in gathered(program, program.outputs)]


def rows_of(program: Program, count: int) -> list[dict[int, float]]:
    draw = np.random.default_rng(count)
    numbers = np.concatenate([draw.standard_normal(200), AWKWARD])
    return [{i: float(draw.choice(numbers)) for i in program.inputs} for _ in range(count)]


def link_by_link(program: Program, rows: Any, monkeypatch: Any, **options: Any) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(chains, "LEAST_LINKS", 10**9)
        return execute(program, rows, **options)


@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize("links", [3, 4, 5, 40])
def test_a_sum_of_products_is_one_step(links: int, start: bool) -> None:
    found = ops(sum_of_products(links, start=start))
    assert found[-1] == "sum"
    assert (found[:-1] == ["chain"]) == (links >= chains.LEAST_LINKS)
    assert len(found) - 1 in (1, links)


@pytest.mark.parametrize("rows", [1, 2, 8, 9, 33, 1100])
@pytest.mark.parametrize("reduce", [False, True])
@pytest.mark.parametrize("start", [False, True])
def test_it_has_the_bits_of_its_links(
    native: Any, monkeypatch: Any, start: bool, reduce: bool, rows: int
) -> None:
    program = sum_of_products(12, start=start)
    given = rows_of(program, rows)
    with np.errstate(all="ignore"):
        expected = link_by_link(program, given, monkeypatch, reduce=reduce)
        assert same(execute(program, given, reduce=reduce), expected)


def test_what_is_needed_on_the_way_is_not_swallowed() -> None:
    program = sum_of_products(8)
    middle = program.outputs[0] - 3
    assert "chain" in ops(program)
    shown = program.replaced(outputs=[*program.outputs, middle])
    assert ops(shown) == ["chain", "fma", "fma", "fma", "sum"]
    guarded = program.replaced(guards=[Guard(middle, True)])
    assert ops(guarded) == ["chain", "fma", "fma", "fma", "sum"]
    used = program.replaced(
        instructions=[*program.instructions, Instruction("exp", (program.count,), (middle,))],
        outputs=[*program.outputs, program.count],
        count=program.count + 1,
    )
    assert ops(used) == ["chain", "fma", "fma", "fma", "sum", "exp"]


def test_a_number_that_is_a_factor_too_is_no_link() -> None:
    square = Instruction("fma", (2,), (1, 1, 1))
    inputs = {0: Input(ROW, "x")}
    steps = [Instruction("mul", (1,), (0, 0)), square]
    steps += [Instruction("fma", (place,), (0, 0, place - 1)) for place in range(3, 8)]
    program = Program(inputs, steps, outputs=[7], count=8)
    assert gathered(program, [7])[0] == steps[0]
    assert gathered(program, [7])[1].args == (1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1)


def test_what_is_the_same_for_all_rows_is_left_to_be_hoisted() -> None:
    assert "chain" not in ops(sum_of_products(8, UNIFORM))


def test_operands_that_would_wait_for_long_are_not_kept_waiting() -> None:
    """A loop whose every step gives one contribution: gathered, all of them would be kept."""
    inputs = {0: Input(ROW, "x"), 1: Input(CONSTANT, "", 0.9)}
    steps, state, total = [Instruction("mul", (2,), (0, 0))], 0, 2
    for place in range(3, 203, 2):
        steps.append(Instruction("exp", (place,), (state,)))
        steps.append(Instruction("fma", (place + 1,), (place, 1, total)))
        state, total = place, place + 1
    program = Program(inputs, steps, outputs=[total], count=total + 1)
    assert "chain" not in ops(program)
    assert laid_out(program, [("store", total)]).slots < 10


def test_the_gradient_of_a_matrix_is_gathered_and_its_lists_are_kept_once(native: Any) -> None:
    weights = [[native.Value(0.1 * i - 0.2 * j) for j in range(16)] for i in range(16)]

    def twice(x: Any) -> Any:
        once = [native.dot(row, x).tanh() for row in weights]
        return native.sum([native.dot(row, once).tanh() for row in weights])

    step = native.compile(twice)
    rows = np.random.default_rng(0).standard_normal((3, 16))
    step.backward(rows)
    (ready,) = step.traces[0].plans.values()
    steps = list(ready.plan.steps[::6])
    assert steps.count(STEPS["chain"]) >= 16
    assert steps.count(STEPS["fma"]) <= 2 * 256  # two links of each weight are too few
    assert len(ready.plan.extras) <= 700  # rows, columns, and what goes in and comes back
