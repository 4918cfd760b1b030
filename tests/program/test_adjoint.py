"""The gradient as a transform: against eager backward, against gradients taken by hand on the
program's data, and applied twice.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from retrograde.ops import OPS
from retrograde.program.adjoint import adjoint, templates, with_input
from retrograde.program.checker import check
from retrograde.program.passes import improved
from retrograde.program.program import CONSTANT, ROW, SEED, Input, Instruction, Program

from ..law.expressions import DIFFERENTIABLE, SMOOTH
from ..test_random_programs import engine_step, outcome, programs
from ..test_random_programs import run as run_program
from . import oracle
from .support import TOLERANCE, assert_within, execute, same, steady
from .wild import Wild, wild_programs

pytestmark = pytest.mark.usefixtures("native")


def differentiated(program: Program, wrt: list[int], output: int | None = None) -> Program:
    """The program with the gradients of one id, seeded by 1, as its only outputs."""
    program, seed = with_input(program, Input(CONSTANT, "", 1.0))
    output = program.outputs[0] if output is None else output
    return adjoint(program.replaced(outputs=[]), wrt, [(output, seed)])


def variables(program: Program) -> list[int]:
    return [index for index, given in program.inputs.items() if given.kind != CONSTANT]


# ---- against eager backward ----------------------------------------------------------------------


@pytest.mark.parametrize("row", DIFFERENTIABLE)
@steady(max_examples=5)
@given(data=st.data())
def test_replayed_gradients_are_those_of_eager_backward(
    native: Any, row: str, data: st.DataObject
) -> None:
    program = data.draw(programs(row))
    step = partial(engine_step, native)
    compiled = native.compile(lambda xs: run_program(program, xs, step)[-1])
    leaves = np.array(program.leaves)
    rows = leaves * (1.0 + 1e-7 * np.arange(3)[:, None])
    values, grads = compiled.value_and_grad(rows)
    for place, leaf in enumerate(rows):
        expected = outcome(native, type(program)(tuple(leaf.tolist()), program.steps))
        assert_within(values[place], expected.numbers[-1], expected.root_scale)
        assert_within(grads[place], expected.grads, expected.leaf_scales)


@pytest.mark.parametrize("row", SMOOTH)
@steady(max_examples=3)
@given(data=st.data())
def test_the_adjoint_of_the_adjoint_is_the_hessian(
    native: Any, row: str, data: st.DataObject
) -> None:
    program = data.draw(programs(row))
    step = partial(engine_step, native)

    def function(xs: Any) -> Any:
        return run_program(program, xs, step)[-1]

    compiled = native.compile(function)
    leaves = np.array(program.leaves)
    compiled(leaves[None, :])
    recorded = compiled.traces[0].program
    wrt = list(range(len(leaves)))
    first = differentiated(recorded, wrt)
    expected = np.array(native.hessian(function)(leaves.tolist()))
    given_row = dict(enumerate(leaves.tolist()))
    for place, output in enumerate(first.outputs):
        second = improved(differentiated(first, wrt, output))
        scale = np.array(oracle.gradients(first, given_row, output, wrt, absolute=True))
        assume(np.isfinite(scale).all())
        (got,) = execute(second, [given_row])
        assert_within(got, expected[place], np.maximum(scale, 1e-3), 1e-10)


# ---- against gradients taken by hand -------------------------------------------------------------


@steady(max_examples=250)
@given(wild=wild_programs(tame=True))
def test_the_adjoint_of_any_program(wild: Wild) -> None:
    program = wild.program
    wrt = variables(program)
    first = differentiated(program, wrt)
    for row in wild.rows(2):
        scale = oracle.gradients(program, row, program.outputs[0], wrt, absolute=True)
        assume(all(abs(number) < 1e100 for number in oracle.run(program, row).values()))
        expected = oracle.gradients(program, row, program.outputs[0], wrt)
        assert_within(oracle.outputs(first, row), expected, scale)
        assert_within(oracle.outputs(improved(first), row), expected, scale)


@steady(max_examples=250)
@given(wild=wild_programs(tame=True, most=8))
def test_the_adjoint_of_any_adjoint(wild: Wild) -> None:
    """Adjoints hold what programs do not: fma, and scatter."""
    wrt = variables(wild.program)
    first = differentiated(wild.program, wrt)
    (row,) = wild.rows(1)
    numbers = oracle.run(first, row)
    assume(all(abs(number) < 1e50 for number in numbers.values()))
    for output in first.outputs:
        scale = oracle.gradients(first, row, output, wrt, absolute=True)
        assume(all(number < 1e50 for number in scale))
        expected = oracle.gradients(first, row, output, wrt)
        second = differentiated(first, wrt, output)
        assert_within(oracle.outputs(second, row), expected, scale)
        assert_within(oracle.outputs(improved(second), row), expected, scale)


@pytest.mark.slow
@steady(max_examples=400)
@given(wild=wild_programs())
def test_the_adjoint_walks_what_each_row_reaches(wild: Wild) -> None:
    """On any numbers, NaN and infinities among them: what was not taken hands nothing on."""
    program = wild.program.replaced(guards=[])
    wrt = variables(program)
    first = differentiated(program, wrt)
    rows = wild.rows(3)
    found = execute(improved(first), rows)
    for row, got in zip(rows, found):
        numbers = [*oracle.run(program, row).values(), *oracle.run(first, row).values()]
        if any(1e100 < abs(n) < math.inf or 0.0 < abs(n) < 1e-100 for n in numbers):
            continue  # where a product overflows depends on the roundings
        expected = np.array(oracle.walked(program, row, program.outputs[0], wrt))
        with np.errstate(all="ignore"):
            size = max([abs(n) for n in numbers if abs(n) < math.inf], default=0.0)
            assert np.allclose(got, expected, rtol=1e-9, atol=1e-12 * size, equal_nan=True)


@steady(max_examples=60)
@given(wild=wild_programs(tame=True))
def test_the_executor_runs_any_adjoint(wild: Wild) -> None:
    wrt = variables(wild.program)
    first = improved(differentiated(wild.program, wrt))
    rows = wild.rows(11)
    scales = [
        oracle.gradients(wild.program, row, wild.program.outputs[0], wrt, absolute=True)
        for row in rows
    ]
    assume(all(abs(n) < 1e50 for row in rows for n in oracle.run(first, row).values()))
    expected = [oracle.outputs(first, row) for row in rows]
    assert_within(execute(first, rows), expected, np.array(scales) + 1e-3, 1e-12)


# ---- what an adjoint is made of ------------------------------------------------------------------


def one(op: str, *args: int, inputs: int = 2) -> Program:
    """A program of rows and a single instruction."""
    given = {index: Input(ROW, f"x{index}") for index in range(inputs)}
    return check(
        Program(given, [Instruction(op, (inputs,), args)], [], [inputs], [], inputs + 1), ""
    )


def added(before: Program, after: Program) -> list[str]:
    return [instruction.op for instruction in after.instructions[len(before.instructions) :]]


def test_the_primal_comes_first_and_unchanged() -> None:
    program = one("mul", 0, 1)
    extended, seed = with_input(program, Input(SEED, "seed"))
    after = adjoint(extended, [0, 1], [(2, seed)])
    assert after.instructions[:1] == program.instructions
    assert after.outputs[0] == 2
    assert added(program, after) == ["mul", "mul"]
    assert oracle.outputs(after, {0: 3.0, 1: 5.0, seed: 2.0}) == [15.0, 10.0, 6.0]


def test_the_first_contribution_is_written_and_the_others_are_fused() -> None:
    extended, seed = with_input(one("dot", 0, 1, 1, 0), Input(SEED, "seed"))
    after = adjoint(extended, [0, 1], [(2, seed)])
    assert added(extended, after) == ["mul", "mul", "fma", "fma"]
    assert oracle.outputs(after, {0: 3.0, 1: 5.0, seed: 1.0})[1:] == [10.0, 6.0]


def test_additions_copy_and_subtractions_flip() -> None:
    assert added(one("sum", 0, 1, 1), differentiated(one("sum", 0, 1, 1), [0, 1])) == ["add"]
    extended, seed = with_input(one("sub", 0, 1), Input(SEED, "seed"))
    assert added(extended, adjoint(extended, [0, 1], [(2, seed)])) == ["neg"]
    assert added(extended, adjoint(extended, [0], [(2, seed)])) == []


def test_nothing_is_zero_filled() -> None:
    for program in (one("mul", 0, 1), one("dot", 0, 1, 1, 1), one("exp", 0, inputs=1)):
        after = differentiated(program, list(program.inputs))
        assert 0.0 not in [g.number for g in after.inputs.values() if g.kind == CONSTANT]


def test_what_nothing_depends_on_has_gradient_zero() -> None:
    after = differentiated(one("exp", 0), [1, 0])
    assert oracle.outputs(after, {0: 1.0, 1: 7.0}) == [0.0, math.e]
    assert added(one("exp", 0), differentiated(one("exp", 0), [1])) == []


def test_an_output_may_be_an_input() -> None:
    program = one("exp", 0).replaced(outputs=[1])
    assert oracle.outputs(differentiated(program, [0, 1]), {0: 1.0, 1: 7.0}) == [0.0, 1.0]


def test_an_argument_may_be_asked_for_twice() -> None:
    after = differentiated(one("mul", 0, 1), [0, 0, 1])
    assert oracle.outputs(after, {0: 3.0, 1: 5.0}) == [5.0, 5.0, 3.0]


def test_several_seeds_add_up() -> None:
    program = Program(
        inputs={0: Input(ROW, "x"), 1: Input(SEED, "a"), 2: Input(SEED, "b")},
        instructions=[Instruction("square", (3,), (0,)), Instruction("mul", (4,), (3, 0))],
        outputs=[],
        count=5,
    )
    after = adjoint(check(program, "building"), [0], [(3, 1), (4, 2), (3, 2)])
    assert oracle.outputs(after, {0: 2.0, 1: 10.0, 2: 100.0}) == [4 * 110.0 + 12 * 100.0]


def test_nothing_flows_through_a_stop() -> None:
    program = Program(
        inputs={0: Input(ROW, "x")},
        instructions=[Instruction("stop", (1,), (0,)), Instruction("mul", (2,), (0, 1))],
        outputs=[2],
        count=3,
    )
    assert oracle.outputs(differentiated(program, [0]), {0: 3.0}) == [3.0]
    through = program.replaced(outputs=[1])
    assert oracle.outputs(differentiated(through, [0]), {0: 3.0}) == [0.0]


def test_takes_from_one_list_share_a_scatter() -> None:
    program = Program(
        inputs={index: Input(ROW, f"x{index}") for index in range(5)},
        instructions=[
            Instruction("take", (5,), (0, 1, 2, 3)),
            Instruction("take", (6,), (0, 1, 2, 4)),
            Instruction("mul", (7,), (5, 6)),
        ],
        outputs=[7],
        count=8,
    )
    after = differentiated(check(program, "building"), [0, 1, 2])
    assert added(program, after).count("scatter") == 1
    row = {0: 2.0, 1: 3.0, 2: 5.0, 3: 0.0, 4: 2.0}
    assert oracle.outputs(after, row) == [5.0, 0.0, 2.0]
    assert oracle.outputs(after, {**row, 4: 0.0}) == [4.0, 0.0, 0.0]


def test_a_list_may_hold_the_same_value_twice() -> None:
    after = differentiated(one("take", 0, 0, 1, 2, inputs=3), [0, 1, 2])
    assert oracle.outputs(after, {0: 5.0, 1: 6.0, 2: 1.0}) == [1.0, 0.0, 0.0]
    assert oracle.outputs(after, {0: 5.0, 1: 6.0, 2: 2.0}) == [0.0, 1.0, 0.0]


def test_scattered_upstreams_that_are_equal_go_back_to_their_own_index() -> None:
    """Once, the adjoint of a scatter looked its indices up by their upstream."""
    program = Program(
        inputs={index: Input(ROW, f"x{index}") for index in range(3)},
        instructions=[Instruction("scatter", (3, 4), (0, 2, 1, 2))],
        outputs=[4],
        count=5,
    )
    after = differentiated(check(program, "building"), [2])
    for first in (0.0, 1.0):
        for second in (0.0, 1.0):
            row = {0: first, 1: second, 2: 3.0}
            assert oracle.outputs(after, row) == [first + second]


def test_zero_upstreams_are_not_skipped(native: Any) -> None:
    values, grads = native.compile(lambda x: 0.0 * native.sqrt(x)).value_and_grad(np.zeros(2))
    assert same(values, np.zeros(2))
    assert np.isnan(grads).all()


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_the_templates_are_the_partials_of_the_law(name: str) -> None:
    op = OPS[name]
    assert len(templates(name)) == op.arity
    chance = np.random.default_rng(0)
    points = [tuple(chance.uniform(*bounds) for bounds in op.domain) for _ in range(20)]
    points += [edge.at for edge in op.edges]
    for place in range(op.arity):
        program = one(name, *range(op.arity), inputs=op.arity)
        after = differentiated(program, [place])
        for point in points:
            z = op.evaluate(*point)
            assert same(
                oracle.outputs(after, dict(enumerate(point))),
                [op.evaluate_partials(*point, z)[place]],
            )


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_edges_are_those_of_the_law_in_replay_too(native: Any, name: str) -> None:
    op = OPS[name]
    if not op.edges:
        return
    columns = dict(zip(op.inputs, np.array([edge.at for edge in op.edges]).T))
    arguments = list(columns)

    def f(xs: Any) -> Any:
        return getattr(native, name)(*xs)

    values, grads = native.compile(f).value_and_grad(np.stack(list(columns.values()), axis=-1))
    assert len(arguments) == grads.shape[1]
    for edge, value, grad in zip(op.edges, values, grads):
        assert_close_or_same([value], [edge.value])
        assert_close_or_same(grad, edge.partials)


def assert_close_or_same(got: Any, expected: Any) -> None:
    for ours, wanted in zip(got, expected, strict=True):
        if math.isfinite(wanted):
            assert abs(ours - wanted) <= TOLERANCE * max(1.0, abs(wanted))
        else:
            assert same(ours, wanted)


def test_the_size_of_an_adjoint_is_linear(native: Any) -> None:
    def sizes(steps: int) -> int:
        def f(x: Any) -> Any:
            for _ in range(steps):
                x = native.tanh(x * 1.1) + x
            return x

        compiled = native.compile(f)
        compiled.grad(np.ones(2))
        (ready,) = compiled.traces[0].plans.values()
        return len(ready.program.instructions)

    assert sizes(200) - sizes(100) == sizes(300) - sizes(200)
    assert sizes(100) < 100 * 3 * 5
