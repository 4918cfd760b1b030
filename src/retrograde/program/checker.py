"""The checker: what every program must satisfy, after recording and after every pass."""

from __future__ import annotations

from ..errors import ProgramError
from .program import ANY, INSTRUCTIONS, KINDS, Instruction, Kind, Program


def check(program: Program, after: str) -> Program:
    """The program itself, or the exception that says what a pass broke."""
    why = _fault_of_inputs(program) or _fault_of_instructions(program)
    if why is None:
        return program
    raise ProgramError.of(after, why)


def _fault_of_inputs(program: Program) -> str | None:
    for index, given in program.inputs.items():
        if not 0 <= index < program.count:
            return f"input %{index} has no id of this program"
        if given.kind not in KINDS:
            return f"input %{index} is of unknown kind {given.kind!r}"
    return None


def _fault_of_instructions(program: Program) -> str | None:
    """What is wrong with the instructions, or with what is read of their results."""
    kinds = INSTRUCTIONS
    if program.functions:
        kinds = kinds | {
            name: Kind(each.operands, several=each.results > 1)
            for name, each in program.functions.items()
        }
    count, sites = program.count, len(program.sites)
    defined = set(program.inputs)
    known, define = defined.issuperset, defined.add
    for position, instruction in enumerate(program.instructions):
        op, results, args, site, parameters = instruction
        kind = kinds.get(op)
        if kind is None:
            return f"instruction {position} has unknown op {op!r}"
        if len(args) != kind.operands or len(results) != 1 or parameters or kind.parameters:
            why = illegal(kind, instruction)
            if why is not None:
                return f"instruction {position}: {why}"
        if not known(args):
            missing = next(arg for arg in args if arg not in defined)
            return f"instruction {position} ({op}) reads %{missing} before it is defined"
        for result in results:
            if result in defined or not 0 <= result < count:
                return f"instruction {position} ({op}) assigns %{result}, which is not free"
            define(result)
        if site >= sites:
            return f"instruction {position} names a site that is not there"
    return _fault_of_readers(program, defined)


def _fault_of_readers(program: Program, defined: set[int]) -> str | None:
    for guard in program.guards:
        if guard.condition not in defined:
            return f"a guard reads %{guard.condition}, which is never defined"
        if guard.site >= len(program.sites):
            return f"the guard of %{guard.condition} names a site that is not there"
    for output in program.outputs:
        if output not in defined:
            return f"output %{output} is never defined"
    return None


def illegal(kind: Kind, instruction: Instruction) -> str | None:
    """What about an instruction is not as its kind has it; None where all is."""
    op, results, args, _, parameters = instruction
    if kind.operands == ANY:
        if kind.pairs and len(args) % 2:
            return f"{op} takes pairs"
        if len(args) < kind.least:
            return f"{op} of nothing"
    elif len(args) != kind.operands:
        return f"{op} takes {kind.operands} operands, has {len(args)}"
    if len(results) != 1 and not (kind.several and results):
        return f"{op} has {len(results)} results"
    if len(parameters) != len(kind.parameters):
        names = ", ".join(each.name for each in kind.parameters) or "none"
        return f"{op} has {len(parameters)} parameters, its kind lists {names}"
    for each, given in zip(kind.parameters, parameters):
        if not each.fits(given):
            return f"the {each.name} of {op} is {given!r}, not {each.words}"
    return None
