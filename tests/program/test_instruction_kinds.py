"""The table of instruction kinds: a row says what is legal, and passes keep what it carries."""

from __future__ import annotations

from typing import Any

import pytest

from retrograde.errors import ProgramError
from retrograde.program.checker import check
from retrograde.program.passes import improved
from retrograde.program.program import (
    ANY,
    AXIS,
    INSTRUCTIONS,
    ROW,
    SHAPE,
    TRIPS,
    Input,
    Instruction,
    Kind,
    Program,
)


@pytest.fixture(autouse=True)
def _more_kinds(monkeypatch: Any) -> None:
    """What adding rows takes."""
    monkeypatch.setitem(INSTRUCTIONS, "reduced", Kind(ANY, least=2, parameters=(SHAPE, AXIS)))
    monkeypatch.setitem(INSTRUCTIONS, "repeated", Kind(1, several=True, parameters=(TRIPS,)))


def program(*instructions: Instruction) -> Program:
    made = [result for each in instructions for result in each.results]
    inputs = {0: Input(ROW, "x"), 1: Input(ROW, "y")}
    return Program(inputs, list(instructions), outputs=made, count=2 + len(made))


def refusal(*instructions: Instruction) -> str:
    with pytest.raises(ProgramError) as caught:
        check(program(*instructions), "this test")
    return str(caught.value).partition("this test: ")[2]


def test_instructions_that_fit_their_rows_are_legal() -> None:
    legal = program(
        Instruction("reduced", (2,), (0, 1), -1, ((2, 3), 1)),
        Instruction("repeated", (3, 4), (0,), -1, (7,)),
    )
    assert check(legal, "this test") is legal


ILLEGAL: dict[str, tuple[Instruction, str]] = {
    "no parameters": (
        Instruction("reduced", (2,), (0, 1)),
        "reduced has 0 parameters, its kind lists shape, axis."),
    "one too many": (
        Instruction("repeated", (2,), (0,), -1, (7, 1)),
        "repeated has 2 parameters, its kind lists trips."),
    "a parameter of an op without": (
        Instruction("mul", (2,), (0, 1), -1, (7,)), "mul has 1 parameters, its kind lists none."),
    "a shape that is none": (
        Instruction("reduced", (2,), (0, 1), -1, ((2, -3), 1)),
        "the shape of reduced is (2, -3), not a tuple of lengths."),
    "an axis that is none": (
        Instruction("reduced", (2,), (0, 1), -1, ((2, 3), True)),
        "the axis of reduced is True, not the number of an axis."),
    "trips that are none": (
        Instruction("repeated", (2,), (0,), -1, (1.5,)),
        "the trips of repeated is 1.5, not a whole number of rounds."),
    "too few operands": (
        Instruction("reduced", (2,), (0,), -1, ((2,), 0)), "reduced of nothing."),
    "no results": (Instruction("repeated", (), (0,), -1, (7,)), "repeated has 0 results."),
}  # fmt: skip


@pytest.mark.parametrize("name", ILLEGAL)
def test_what_does_not_fit_is_refused_in_words(name: str) -> None:
    instruction, words = ILLEGAL[name]
    assert refusal(instruction) == f"instruction 0: {words}"


def test_passes_keep_parameters_and_tell_instructions_apart_by_them() -> None:
    given = program(
        Instruction("stop", (2,), (0,)),
        Instruction("repeated", (3,), (2,), -1, (7,)),
        Instruction("repeated", (4,), (0,), -1, (7,)),
        Instruction("repeated", (5,), (0,), -1, (8,)),
    )
    after = improved(given)
    assert [each.parameters for each in after.instructions] == [(7,), (8,)]
    assert after.outputs[1] == after.outputs[2] != after.outputs[3]
