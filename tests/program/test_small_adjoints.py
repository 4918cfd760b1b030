"""Adjoints of small programs, instruction by instruction: what is emitted, in which order, for
which line, and what is not.

Tests against numbers pass on an adjoint that does too much, or rounds once more: here it shows.
Programs are text: ``3 = mul 0 1 @4`` makes %3 of %0 and %1 on site 4.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from retrograde._shared.sites import Site
from retrograde.ops import OPS
from retrograde.program.adjoint import (
    accounted,
    adjoint,
    adjoints,
    with_constant,
    with_input,
)
from retrograde.program.program import CONSTANT, ROW, Input, Instruction, Program

pytestmark = pytest.mark.usefixtures("native")

SITES = [Site("f.py", line, "f") for line in range(9)]


def program_of(text: str, rows: int, constants: dict[int, float] | None = None) -> Program:
    """The program that a text describes; its last number is its output."""
    instructions = []
    for line in text.split("; "):
        made, _, does = line.partition(" = ")
        op, *args = does.split()
        site = int(args.pop()[1:])
        results = tuple(map(int, made.split()))
        instructions.append(Instruction(op, results, tuple(map(int, args)), site))
    inputs = {index: Input(ROW, f"x{index}") for index in range(rows)}
    for index, number in (constants or {}).items():
        inputs[index] = Input(CONSTANT, "", number)
    last = instructions[-1].results[-1]
    return Program(inputs, instructions, [], [last], SITES, last + 1)


def told(program: Program, since: int) -> tuple[str, str]:
    """Instructions from one on, and outputs: new numbers by letters, constants by what they are."""
    letters: dict[int, str] = {}

    def name(index: int) -> str:
        given = program.inputs.get(index)
        if given is not None and given.kind == CONSTANT:
            return repr(given.number)
        return letters.get(index, str(index))

    lines = []
    for op, results, args, site, _ in program.instructions[since:]:
        on = " ".join(map(name, args))
        for result in results:
            letters[result] = chr(ord("a") + len(letters))
        lines.append(f"{' '.join(map(name, results))} = {op} {on} @{site}")
    return "; ".join(lines), " ".join(map(name, program.outputs))


class Case(NamedTuple):
    text: str
    wrt: tuple[int, ...]
    seed: int | None
    gives: str
    as_gradients: str
    constants: dict[int, float] | None = None


CASES = (
    Case("2 = mul 0 1 @4",
         wrt=(0, 1), seed=None,
         gives="",
         as_gradients="1 0"),
    Case("3 = mul 0 1 @4",
         wrt=(0, 1), seed=2,
         gives="a = mul 1 2 @4; b = mul 0 2 @4",
         as_gradients="a b"),
    Case("3 = mul 0 0 @4",
         wrt=(0, 1), seed=2,
         gives="a = mul 0 2 @4; b = fma 0 2 a @4",
         as_gradients="b 0.0"),
    Case("3 = sub 0 1 @4",
         wrt=(0, 1), seed=2,
         gives="a = neg 2 @4",
         as_gradients="2 a"),
    Case("3 = sub 0 1 @4; 4 = sub 3 1 @5",
         wrt=(0, 1), seed=2,
         gives="a = neg 2 @5; b = sub a 2 @4",
         as_gradients="2 b"),
    Case("3 = neg 0 @4; 4 = mul 3 0 @5",
         wrt=(0,), seed=2,
         gives="a = mul 0 2 @5; b = mul 3 2 @5; c = sub b a @4",
         as_gradients="c"),
    Case("3 = mul 0 1 @1; 4 = add 3 0 @2",
         wrt=(0, 1), seed=2,
         gives="a = fma 1 2 2 @1; b = mul 0 2 @1",
         as_gradients="a b"),
    Case("3 = add 0 0 @2; 4 = mul 3 1 @3",
         wrt=(0, 1), seed=2,
         gives="a = mul 1 2 @3; b = mul 3 2 @3; c = add a a @2",
         as_gradients="c b"),
    Case("3 = add 0 1 @1; 4 = mul 0 3 @2",
         wrt=(0, 1), seed=2,
         gives="a = mul 3 2 @2; b = mul 0 2 @2; c = fma 3 2 b @1",
         as_gradients="c b"),
    Case("3 = square 0 @1",
         wrt=(0,), seed=2,
         gives="a = mul 2.0 0 @1; b = mul a 2 @1",
         as_gradients="b"),
    Case("3 = exp 0 @1; 4 = stop 3 @2; 5 = mul 4 3 @3",
         wrt=(0,), seed=2,
         gives="a = mul 4 2 @3; b = mul 3 a @1",
         as_gradients="b"),
    Case("3 = sum 0 1 0 @6",
         wrt=(0, 1), seed=2,
         gives="a = add 2 2 @6",
         as_gradients="a 2"),
    Case("4 = dot 0 1 1 2 @6",
         wrt=(0, 1, 2), seed=3,
         gives="a = mul 1 3 @6; b = mul 2 3 @6; c = fma 0 3 b @6; d = mul 1 3 @6",
         as_gradients="a c d"),
    Case("4 = fma 0 1 2 @6",
         wrt=(0, 1, 2), seed=3,
         gives="a = mul 1 3 @6; b = mul 0 3 @6",
         as_gradients="a b 3"),
    Case("3 = sin 0 @1",
         wrt=(0, 1), seed=2,
         gives="a = cos 0 @1; b = mul a 2 @1",
         as_gradients="b 0.0"),
    Case("3 = relu 0 @1",
         wrt=(0,), seed=2,
         gives="a = less_equal 0 0.0 @1; b = stop a @1; c = where b 0.0 1.0 @1; d = mul c 2 @1",
         as_gradients="d"),
    Case("4 = mul 0 3 @1",
         wrt=(0,), seed=2, constants={3: -1.0},
         gives="a = mul -1.0 2 @1",
         as_gradients="a"),
    Case("4 = mul 0 3 @1; 5 = mul 4 3 @2",
         wrt=(0,), seed=2, constants={3: 1.0},
         gives="a = mul 1.0 2 @2; b = mul 1.0 a @1",
         as_gradients="b"),
    Case("4 = mul 0 3 @1",
         wrt=(0,), seed=2, constants={3: -0.0},
         gives="a = mul -0.0 2 @1",
         as_gradients="a"),
    Case("3 = exp 0 @1; 4 = take 3 1 0 @2",
         wrt=(0, 1), seed=2,
         gives="a = equal 0 0.0 @2; b c = scatter 0 2 @1; d = take 0.0 3 a @1; e = mul d b @1",
         as_gradients="e c"),
    Case("3 = exp 0 @1; 4 = log 3 @2; 5 = take 4 1 1 @3; 6 = take 5 3 0 @4",
         wrt=(0, 1), seed=2,
         gives="a = equal 0 0.0 @4; b = equal 0 1.0 @4; c d = scatter 0 2 @3; "
               "e = equal 1 0.0 @3; f = mul a e @3; g h = scatter 1 c @2; i = div 1.0 3 @2; "
               "j = maximum b f @2; k = take 0.0 i f @2; l = fma k g d @2; m = take 0.0 3 j @1; "
               "n = mul m l @1",
         as_gradients="n h"),
    Case("3 = exp 0 @1; 4 = take 3 1 0 @2; 5 = take 3 1 1 @3; 6 = add 4 5 @4",
         wrt=(0, 1), seed=2,
         gives="a = equal 1 0.0 @3; b = equal 0 0.0 @2; c = maximum a b @2; "
               "d e = scatter 1 2 0 2 @1; f = take 0.0 3 c @1; g = mul f d @1",
         as_gradients="g e"),
    Case("3 = exp 0 @1; 4 = take 3 1 0 @2; 5 = mul 3 4 @3",
         wrt=(0, 1), seed=2,
         gives="a = mul 4 2 @3; b = mul 3 2 @3; c = equal 0 0.0 @2; d e = scatter 0 b @1; "
               "f = fma 4 2 d @1; g = mul 3 f @1",
         as_gradients="g e"),
    Case("3 = sqrt 0 @1; 4 = sqrt 3 @2; 5 = take 4 3 1 @3",
         wrt=(0,), seed=2,
         gives="a = equal 1 0.0 @3; b = equal 1 1.0 @3; c d = scatter 1 2 @2; e = div 0.5 4 @2; "
               "f = maximum b a @2; g = take 0.0 e a @2; h = fma g c d @2; i = div 0.5 3 @1; "
               "j = take 0.0 i f @1; k = mul j h @1",
         as_gradients="k"),
    Case("4 5 = scatter 0 1 @1; 6 = mul 4 2 @2",
         wrt=(1, 2), seed=3,
         gives="a = mul 2 3 @2; b = mul 4 3 @2; c = take 1.0 0.0 0 @1; d = take a 0.0 0 @1",
         as_gradients="d b"),
    Case("4 5 = scatter 0 1 0 2 @1; 6 = mul 4 5 @2",
         wrt=(1, 2), seed=3,
         gives="a = mul 5 3 @2; b = mul 4 3 @2; c = take a b 0 @1; d = take a b 0 @1",
         as_gradients="c d"),
    Case("4 5 = scatter 0 1 @1; 6 = take 4 5 0 @2",
         wrt=(1, 2), seed=3,
         gives="a = equal 0 0.0 @2; b = equal 0 1.0 @2; c d = scatter 0 3 @1; e = take a b 0 @1; "
               "f = take c d 0 @1",
         as_gradients="f 0.0"),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text)
def test_the_adjoint_is_this_and_nothing_else(case: Case) -> None:
    first = int(case.text.split()[0])
    rows = first - len(case.constants or ())
    program = program_of(case.text, rows, case.constants)
    seed, output = case.seed, program.outputs[0]
    if seed is None:
        program, seed = with_constant(program, 1.0)
    found = adjoint(program.replaced(outputs=[]), case.wrt, [(output, seed)])
    assert told(found, len(program.instructions)) == (case.gives, case.as_gradients)
    assert found.instructions[: len(program.instructions)] == program.instructions
    made = [result for instruction in found.instructions for result in instruction.results]
    assert sorted([*found.inputs, *made]) == list(range(found.count))  # no number is left out


def test_outputs_come_before_gradients_and_several_sweeps_share_constants() -> None:
    program = program_of("2 = square 0 @1; 3 = square 1 @2", 2)
    program, one = with_constant(program, 1.0)
    once = adjoint(program, [0], [(2, one)])
    assert once.outputs[:-1] == program.outputs
    both, (first, second) = adjoints(program, [((0,), [(2, one)]), ((1, 0), [(3, one)])])
    assert told(both, 2)[0] == "a = mul 2.0 0 @1; b = mul 2.0 1 @2"
    (square_of_first,), (square_of_second, nothing) = first, second
    assert both.instructions[-2].results == (square_of_first,)
    assert both.instructions[-1].results == (square_of_second,)
    assert both.inputs[nothing].number == 0.0
    twos = [given for given in both.inputs.values() if given.number == 2.0]
    assert len(twos) == 1
    assert both.outputs == program.outputs


def test_two_seeds_are_two_contributions() -> None:
    program = program_of("3 = sin 0 @1; 4 = mul 3 3 @2", 3)
    found = adjoint(program.replaced(outputs=[]), [0], [(4, 1), (3, 2)])
    assert told(found, 2) == (
        "a = fma 3 1 2 @2; b = fma 3 1 a @2; c = cos 0 @1; d = mul c b @1",
        "d",
    )


def test_gradients_on_their_way_are_told_by_the_op_that_hands_them_on() -> None:
    program = program_of("2 = exp 0 @1; 3 = sin 2 @2", 2)
    found, sums = accounted(program.replaced(outputs=[3]), [0], [(3, 1)])
    assert told(found, 2)[0] == "a = cos 2 @2; b = mul a 1 @2; c = mul 2 b @1"
    slope, first, second = (i.results[0] for i in found.instructions[2:])
    assert sums == {first: "sin", second: "exp"}
    assert slope not in sums
    assert found.outputs == [3, second]


def test_what_a_take_of_inputs_gathered_is_handed_out_at_the_end() -> None:
    program = program_of("4 = take 0 1 2 @1", 4)
    found = adjoint(program.replaced(outputs=[]), [0, 1], [(4, 3)])
    assert told(found, 1) == ("a b = scatter 2 3 @-1", "a b")


def test_two_seeds_of_one_output_are_added_before_all_else() -> None:
    program = program_of("3 = sin 0 @1", 3)
    found, sums = accounted(program.replaced(outputs=[]), [0], [(3, 1), (3, 2)])
    assert told(found, 1) == ("a = add 1 2 @-1; b = cos 0 @1; c = mul b a @1", "c")
    first, _, last = (instruction.results[0] for instruction in found.instructions[1:])
    assert sums == {first: "", last: "sin"}


def test_the_first_new_number_may_be_a_gradient_on_its_way() -> None:
    program = program_of("2 = mul 0 0 @1", 2)
    found, sums = accounted(program.replaced(outputs=[]), [0], [(2, 1)])
    assert told(found, 1) == ("a = mul 0 1 @1; b = fma 0 1 a @1", "b")
    assert sums == {2 + 1: "mul", 2 + 2: "mul"}


def test_what_has_no_partial_is_named_with_its_line(native: Any) -> None:
    (name, op), *_ = [(name, op) for name, op in OPS.items() if op.absent]
    program = program_of(f"{op.arity} = {name} {' '.join(map(str, range(op.arity)))} @5", op.arity)
    program, one = with_constant(program, 1.0)
    with pytest.raises(native.errors.NotDifferentiable, match=f"(?s){name}.*f.py:5"):
        adjoint(program, [*range(op.arity)], [(op.arity, one)])


# ---- constants -----------------------------------------------------------------------------------


def test_zeros_are_two_constants_and_each_is_there_once() -> None:
    program = program_of("1 = sin 0 @1", 1)
    program, zero = with_constant(program, 0.0)
    program, minus = with_constant(program, -0.0)
    assert zero != minus
    assert [program.inputs[index].kind for index in (zero, minus)] == [CONSTANT, CONSTANT]
    assert repr(program.inputs[minus].number) == "-0.0"
    for number, known in ((0.0, zero), (-0.0, minus)):
        same, again = with_constant(program, number)
        assert (same, again) == (program, known)
    extended, new = with_input(program, Input(ROW, "seed"))
    assert (new, extended.count) == (program.count, program.count + 1)


def test_a_gradient_of_nothing_is_zero_and_not_minus_zero() -> None:
    program, _ = with_constant(program_of("2 = sin 0 @1", 2), -0.0)
    found = adjoint(program.replaced(outputs=[]), [1], [(2, 0)])
    (gradient,) = found.outputs
    assert repr(found.inputs[gradient].number) == "0.0"


@pytest.mark.parametrize(
    ("text", "gives"),
    [
        ("2 = log 0 @1", "a = div 1.0 0 @1; b = take 0.0 a 1 @1; c = mul b 1 @1"),
        ("2 = sub 0 0 @1; 3 = exp 2 @2", "a = take 0.0 3 1 @2; b = mul a 1 @2; c = sub b b @1"),
        (
            "2 = square 0 @1; 3 = add 2 0 @2",
            "a = mul 2.0 0 @1; b = take 0.0 a 1 @1; c = fma b 1 1 @1",
        ),
    ],
)
def test_rows_whose_seed_is_zero_are_not_gone_back_from(text: str, gives: str) -> None:
    """There the slope may be infinite: 0 times that is no 0."""
    program = program_of(text, 2)
    after, (found,) = adjoints(program, [((0,), [(program.outputs[0], 1)])], apart=True)
    assert told(after.replaced(outputs=found), len(program.instructions))[0] == gives
