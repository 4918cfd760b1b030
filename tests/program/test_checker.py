"""Programs as data: what the checker refuses, in words, and what it lets pass."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from retrograde._shared.sites import Site
from retrograde.errors import ProgramError
from retrograde.program.checker import check
from retrograde.program.program import (
    CONSTANT,
    INSTRUCTIONS,
    KINDS,
    ROW,
    UNIFORM,
    Guard,
    Input,
    Instruction,
    Program,
)

from .support import CASES, steady
from .wild import Wild, wild_programs


def sound() -> Program:
    """x * y + 2, guarded by x < y, with a take and its scatter."""
    return Program(
        inputs={0: Input(ROW, "x"), 1: Input(UNIFORM, "y"), 4: Input(CONSTANT, "", 2.0)},
        instructions=[
            Instruction("mul", (2,), (0, 1), 0),
            Instruction("less", (3,), (0, 1), 0),
            Instruction("add", (5,), (2, 4)),
            Instruction("take", (6,), (0, 2, 3)),
            Instruction("scatter", (7, 8), (3, 6)),
            Instruction("dot", (9,), (0, 1, 7, 8)),
        ],
        guards=[Guard(3, True, 0)],
        outputs=[5, 9],
        sites=[Site("here.py", 3, "f")],
        count=10,
    )


def test_a_sound_program_passes_and_is_handed_back() -> None:
    program = sound()
    assert check(program, "building") is program


def instruction(at: int, **changes: Any) -> Callable[[Program], None]:
    def change(program: Program) -> None:
        program.instructions[at] = program.instructions[at]._replace(**changes)

    return change


def part(name: str, value: Any) -> Callable[[Program], None]:
    return lambda program: setattr(program, name, value)


MALFORMED: dict[str, tuple[Callable[[Program], None], str]] = {
    "an input beyond the ids": (
        lambda p: p.inputs.update({10: Input(ROW, "z")}), "input %10 has no id of this program"),
    "an input before the ids": (
        lambda p: p.inputs.update({-1: Input(ROW, "z")}), "input %-1 has no id of this program"),
    "too few ids": (part("count", 1), "input %1 has no id of this program"),
    "an unknown kind of input": (
        lambda p: p.inputs.update({1: Input("column", "y")}),
        "input %1 is of unknown kind 'column'"),
    "an unknown op": (
        instruction(0, op="matmul"), "instruction 0 has unknown op 'matmul'"),
    "an op of the core that is no row": (
        instruction(0, op="leaf"), "instruction 0 has unknown op 'leaf'"),
    "too few operands": (
        instruction(0, args=(0,)), "instruction 0: mul takes 2 operands, has 1"),
    "too many operands": (
        instruction(2, args=(0, 0, 0)), "instruction 2: add takes 2 operands, has 3"),
    "no result": (instruction(0, results=()), "instruction 0: mul has 0 results"),
    "two results": (instruction(0, results=(2, 3)), "instruction 0: mul has 2 results"),
    "a scatter to nowhere": (
        instruction(4, results=()), "instruction 4: scatter has 0 results"),
    "a scatter of nothing": (instruction(4, args=()), "instruction 4: scatter of nothing"),
    "a scatter without pairs": (
        instruction(4, args=(3, 6, 3)), "instruction 4: scatter takes pairs"),
    "a dot without pairs": (instruction(5, args=(0, 1, 7)), "instruction 5: dot takes pairs"),
    "a dot of nothing": (instruction(5, args=()), "instruction 5: dot of nothing"),
    "a sum of nothing": (instruction(5, op="sum", args=()), "instruction 5: sum of nothing"),
    "a take of nothing": (instruction(3, args=()), "instruction 3: take of nothing"),
    "a take of an index alone": (instruction(3, args=(0,)), "instruction 3: take of nothing"),
    "an operand that comes later": (
        instruction(0, args=(0, 5)), "instruction 0 (mul) reads %5 before it is defined"),
    "an operand that is its own result": (
        instruction(0, args=(0, 2)), "instruction 0 (mul) reads %2 before it is defined"),
    "an operand beyond the ids": (
        instruction(0, args=(0, 99)), "instruction 0 (mul) reads %99 before it is defined"),
    "a negative operand": (
        instruction(0, args=(0, -1)), "instruction 0 (mul) reads %-1 before it is defined"),
    "a result twice": (
        instruction(1, results=(2,)), "instruction 1 (less) assigns %2, which is not free"),
    "a result that is an input": (
        instruction(1, results=(0,)), "instruction 1 (less) assigns %0, which is not free"),
    "a result that is a constant": (
        instruction(1, results=(4,)), "instruction 1 (less) assigns %4, which is not free"),
    "a result beyond the ids": (
        instruction(1, results=(10,)), "instruction 1 (less) assigns %10, which is not free"),
    "a negative result": (
        instruction(1, results=(-2,)), "instruction 1 (less) assigns %-2, which is not free"),
    "the results of a scatter alike": (
        instruction(4, results=(7, 7)), "instruction 4 (scatter) assigns %7, which is not free"),
    "a site that is not there": (
        instruction(0, site=1), "instruction 0 names a site that is not there"),
    "a guard of nothing": (
        part("guards", [Guard(99, True)]), "a guard reads %99, which is never defined"),
    "a guard of a negative id": (
        part("guards", [Guard(-1, True)]), "a guard reads %-1, which is never defined"),
    "a guard's site that is not there": (
        part("guards", [Guard(3, True, 1)]), "the guard of %3 names a site that is not there"),
    "an output of nothing": (part("outputs", [5, 99]), "output %99 is never defined"),
    "a negative output": (part("outputs", [-1]), "output %-1 is never defined"),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_program_is_refused_in_words(name: str) -> None:
    change, why = MALFORMED[name]
    program = sound()
    change(program)
    with pytest.raises(ProgramError) as caught:
        check(program, "this test")
    assert str(caught.value) == f"the program is not well formed after this test: {why}."


def test_ids_that_nothing_defines_may_be_left_over() -> None:
    program = sound()
    program.count = 20
    assert check(program, "building") is program


def test_an_empty_program_is_well_formed() -> None:
    assert check(Program(), "building") == Program()


def test_every_instruction_names_how_many_operands_it_takes(native: Any) -> None:
    assert set(native.ops) < set(INSTRUCTIONS)
    assert {name: INSTRUCTIONS[name].operands for name in native.ops} == {
        name: op.arity for name, op in native.ops.items()
    }
    assert len(set(KINDS)) == 5


# ---- plain data ----------------------------------------------------------------------------------


def test_a_program_equals_its_copies_and_pickles() -> None:
    program = sound()
    for twin in (copy.deepcopy(program), pickle.loads(pickle.dumps(program)), program.replaced()):
        assert twin == program
        assert twin is not program
    assert program.replaced(outputs=[5]) != program
    assert program.outputs == [5, 9]
    assert program.site(0) == Site("here.py", 3, "f")
    assert program.site(-1) is None


@steady(max_examples=50)
@given(wild=wild_programs())
def test_any_program_pickles(wild: Wild) -> None:
    again = pickle.loads(pickle.dumps(wild.program))
    assert repr(again) == repr(wild.program)  # NaN is not equal to itself


@pytest.mark.parametrize("name", CASES)
def test_recorded_programs_are_well_formed_and_pickle(rg: Any, name: str) -> None:
    case = CASES[name]
    compiled = rg.compile(case.make(rg))
    compiled(**case.columns(3))
    compiled.grad(**case.columns(3))
    check = import_module(f"{rg.__name__}.program.checker").check
    (trace,) = compiled.traces
    assert check(trace.program, "recording") is trace.program
    assert pickle.loads(pickle.dumps(trace.program)) == trace.program
    for program in [ready.program for ready in trace.plans.values()]:
        assert check(program, "the passes") is program
        assert pickle.loads(pickle.dumps(program)) == program


def test_recording_is_the_same_every_time(rg: Any) -> None:
    case = CASES["network"]
    function = case.make(rg)
    one, other = rg.compile(function), rg.compile(function)
    one(**case.columns(3))
    other(**case.columns(5))
    assert one.traces[0].program == other.traces[0].program


# ---- compiled functions pickle -------------------------------------------------------------------


def plain(x: Any) -> Any:
    return x * x + 1.0


def test_a_compiled_function_pickles_by_its_function(native: Any) -> None:
    compiled = native.compile(plain)
    x = np.arange(3.0)
    again = pickle.loads(pickle.dumps(compiled))
    assert again is not compiled
    assert again(x).tolist() == compiled(x).tolist() == [1.0, 2.0, 5.0]


def test_a_decorated_function_pickles_by_its_name(
    native: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = native.compile(plain)
    monkeypatch.setitem(globals(), "plain", compiled)  # as @rg.compile leaves it
    assert pickle.loads(pickle.dumps(compiled)) is compiled
