"""Passes on small programs, instruction by instruction: what each does, and what it must leave.

Tests against numbers pass where a pass does nothing, and where it loses a site: here it shows.
"""

from __future__ import annotations

from typing import Any

import pytest

from retrograde._shared.sites import Site
from retrograde.program.checker import check
from retrograde.program.passes import (
    choices_as_takes,
    choose_by_truth,
    fold_constants,
    lower_choices,
    remove_dead_code,
    remove_stops,
    share_common_subexpressions,
)
from retrograde.program.program import (
    CHOICE,
    CONSTANT,
    ROW,
    UNIFORM,
    Guard,
    Input,
    Instruction,
    Program,
)

pytestmark = pytest.mark.usefixtures("native")

X, Y, U, ZERO, ONE, HALF = range(6)
"""Two rows, a uniform, and three constants: every program here begins with them."""


def program_of(*steps: tuple[Any, ...], outputs: list[int], guards: Any = ()) -> Program:
    """Steps are (results, op, args…); the place of a step is its site."""
    inputs = {
        X: Input(ROW, "x"), Y: Input(ROW, "y"), U: Input(UNIFORM, "u"),
        ZERO: Input(CONSTANT, "", 0.0), ONE: Input(CONSTANT, "", 1.0),
        HALF: Input(CONSTANT, "", 0.5),
    }  # fmt: skip
    made = [
        Instruction(op, results if isinstance(results, tuple) else (results,), args, place)
        for place, (results, op, *rest) in enumerate(steps)
        for args in [tuple(rest)]
    ]
    count = 1 + max(result for step in made for result in step.results)
    sites = [Site("f.py", line, "f") for line in range(9)]
    return check(Program(inputs, made, list(guards), outputs, sites, count), "building")


def steps_of(program: Program) -> list[tuple[Any, ...]]:
    """What is left, with sites."""
    return [(*step.results, step.op, *step.args, f"@{step.site}") for step in program.instructions]


# ---- choices ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lowered", "step"),
    [(lower_choices, ("where", U, X, Y)), (choices_as_takes, ("take", Y, X, U))],
)
def test_choices_become_what_the_rest_knows_and_keep_their_sites(lowered: Any, step: Any) -> None:
    program = program_of(
        (6, "sin", X), (7, CHOICE, U, X, Y), (8, "where", U, X, Y), (9, CHOICE, 7, 6, 8),
        outputs=[9],
    )  # fmt: skip
    after = check(lowered(program), "lowering")
    op, *operands = step
    over = {U: 7, X: 6, Y: 8}
    assert steps_of(after) == [
        (6, "sin", X, "@0"), (7, op, *operands, "@1"), (8, "where", U, X, Y, "@2"),
        (9, op, *[over[each] for each in operands], "@3"),
    ]  # fmt: skip
    plain = program_of((6, "sin", X), outputs=[6])
    assert lowered(plain) is plain


# ---- common subexpressions -----------------------------------------------------------------------


def test_two_scatters_that_are_the_same_are_one() -> None:
    program = program_of(
        ((6, 7), "scatter", X, Y), ((8, 9), "scatter", X, Y), (10, "mul", 8, 9), (11, "mul", 6, 9),
        outputs=[9, 10, 11],
    )  # fmt: skip
    after = check(share_common_subexpressions(program), "sharing")
    assert steps_of(after) == [(6, 7, "scatter", X, Y, "@0"), (10, "mul", 6, 7, "@2")]
    assert after.outputs == [7, 10, 10]


def test_scatters_into_lists_of_two_lengths_are_two() -> None:
    program = program_of(((6, 7), "scatter", X, Y), ((8, 9, 10), "scatter", X, Y), outputs=[7, 9])
    assert share_common_subexpressions(program).instructions == program.instructions


def test_a_guard_keeps_its_outcome_and_its_site_where_its_condition_is_shared() -> None:
    program = program_of(
        (6, "less", X, Y), (7, "less", X, Y), (8, "mul", 7, X), outputs=[8],
        guards=[Guard(6, True, 4), Guard(7, False, 5)],
    )  # fmt: skip
    after = share_common_subexpressions(program)
    assert after.guards == [Guard(6, True, 4), Guard(6, False, 5)]
    assert steps_of(after) == [(6, "less", X, Y, "@0"), (8, "mul", 6, X, "@2")]


def test_the_same_operands_of_another_op_are_not_shared() -> None:
    program = program_of((6, "less", X, Y), (7, "less_equal", X, Y), outputs=[6, 7])
    assert share_common_subexpressions(program).instructions == program.instructions


# ---- constants -----------------------------------------------------------------------------------


def folded(program: Program) -> tuple[list[Any], list[Any]]:
    """What is left, and the outputs: constants as they are written."""
    after = check(fold_constants(program), "folding")

    def told(index: int) -> Any:
        given = after.inputs.get(index)
        return repr(given.number) if given is not None and given.kind == CONSTANT else index

    return steps_of(after), [told(output) for output in after.outputs]


def test_zeros_of_two_signs_are_two_constants() -> None:
    program = program_of(
        (6, "neg", ZERO), (7, "mul", 6, ONE), (8, "neg", 7), (9, "add", X, 7), outputs=[6, 7, 8, 9]
    )
    assert folded(program) == ([(9, "add", X, 6, "@3")], ["-0.0", "-0.0", "0.0", 9])
    assert fold_constants(program).outputs == [6, 6, ZERO, 9]


def test_what_is_no_row_or_not_constant_throughout_is_left() -> None:
    program = program_of(
        (6, "sum", ZERO, ONE), (7, "take", ONE, HALF, ZERO), (8, "add", ONE, X),
        (9, "add", X, ONE), (10, "mul", HALF, U), outputs=[6, 7, 8, 9, 10],
    )  # fmt: skip
    assert fold_constants(program).instructions == program.instructions


def test_a_result_that_is_there_already_takes_its_place_everywhere() -> None:
    program = program_of(
        (6, "add", HALF, HALF), (7, "less", ZERO, ONE), (8, "sub", X, 6), (9, "exp", 6),
        outputs=[7, 8, 9], guards=[Guard(7, True, 3)],
    )  # fmt: skip
    after = fold_constants(program)
    assert steps_of(after) == [(8, "sub", X, ONE, "@2")]
    assert after.guards == [Guard(ONE, True, 3)]
    assert after.outputs[:2] == [ONE, 8]
    assert after.inputs[9].kind == CONSTANT
    assert after.inputs[9].number == pytest.approx(2.718281828459045)
    assert set(after.inputs) == {*range(6), 9}


# ---- stops ---------------------------------------------------------------------------------------


def test_a_program_without_stops_stays_the_very_same() -> None:
    program = program_of((6, "add", X, Y), outputs=[6])
    assert remove_stops(program) is program


def test_what_used_a_stop_uses_what_was_stopped_and_keeps_its_site() -> None:
    program = program_of(
        (6, "exp", X), (7, "stop", 6), (8, "mul", 7, Y), outputs=[8, 7], guards=[Guard(7, False, 2)]
    )
    after = remove_stops(program)
    assert steps_of(after) == [(6, "exp", X, "@0"), (8, "mul", 6, Y, "@2")]
    assert (after.outputs, after.guards) == ([8, 6], [Guard(6, False, 2)])


# ---- truths --------------------------------------------------------------------------------------

TRUTHS = {
    "less": [(6, "less", X, Y)],
    "less_equal": [(6, "less_equal", X, Y)],
    "equal": [(6, "equal", X, Y)],
    "both": [(5 + 2, "less", X, Y), (8, "equal", X, Y), (6, "mul", 7, 8)],
    "either": [(7, "less", X, Y), (8, "equal", X, Y), (6, "maximum", 7, 8)],
    "least": [(7, "less", X, Y), (6, "minimum", 7, ONE)],
    "one of truths": [(7, "less", X, Y), (6, "take", 7, ZERO, X)],
}
NO_TRUTHS = {
    "a row": [(6, "add", X, ZERO)],
    "a sum": [(7, "less", X, Y), (6, "add", 7, 7)],
    "a product": [(7, "less", X, Y), (6, "mul", 7, X)],
    "half": [(7, "less", X, Y), (6, "mul", 7, HALF)],
    "one of others": [(7, "less", X, Y), (6, "take", 7, X, 7)],
    "its index alone": [(7, "less", X, Y), (6, "take", X, Y, 7)],
}


@pytest.mark.parametrize("name", TRUTHS)
def test_one_of_two_chosen_by_a_truth_is_a_where(name: str) -> None:
    program = program_of(*TRUTHS[name], (9, "take", X, Y, 6), outputs=[9])
    after = check(choose_by_truth(program), "choosing")
    last = len(program.instructions) - 1
    assert steps_of(after)[-1] == (9, "where", 6, Y, X, f"@{last}")
    assert after.instructions[:-1] == program.instructions[:-1]


@pytest.mark.parametrize("name", NO_TRUTHS)
def test_one_of_two_chosen_by_anything_else_is_taken(name: str) -> None:
    program = program_of(*NO_TRUTHS[name], (9, "take", HALF, U, 6), outputs=[9])
    after = check(choose_by_truth(program), "choosing")
    assert after.instructions[-1] == program.instructions[-1]


def test_rows_are_no_truths_although_their_number_is_zero() -> None:
    program = program_of((6, "take", X, Y, U), outputs=[6])
    assert choose_by_truth(program).instructions == program.instructions


def test_one_of_three_is_taken_whatever_chooses() -> None:
    program = program_of((6, "less", X, Y), (7, "take", X, Y, U, 6), outputs=[7])
    assert choose_by_truth(program) is program
    both = program_of(
        (6, "less", X, Y), (7, "take", X, Y, U, 6), (8, "take", X, Y, 6), outputs=[7, 8]
    )
    assert [step.op for step in choose_by_truth(both).instructions] == ["less", "take", "where"]


# ---- dead code -----------------------------------------------------------------------------------


def test_what_only_the_dead_need_is_dead() -> None:
    program = program_of(
        (6, "exp", X), (7, "sin", 6), (8, "less", X, Y), ((9, 10), "scatter", X, Y),
        (11, "mul", 10, U), outputs=[11], guards=[Guard(8, True, 1)],
    )  # fmt: skip
    after = remove_dead_code(program)
    assert steps_of(after) == [
        (8, "less", X, Y, "@2"), (9, 10, "scatter", X, Y, "@3"), (11, "mul", 10, U, "@4"),
    ]  # fmt: skip
    assert after.guards == program.guards
