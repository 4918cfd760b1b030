"""The checker: what every program must satisfy, after recording and after every pass."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import ProgramError
from ..ops import STRUCTURAL
from .program import ANY, KINDS, OPERANDS, Program


def _check_many(
    position: int, op: str, args: tuple[int, ...], refuse: Callable[[str], None]
) -> None:
    row = STRUCTURAL.get(op)  # if none, a scatter
    if len(args) % 2 if row is None else not row.fits(len(args)):
        refuse(f"instruction {position}: {op} takes pairs")
    if len(args) < (1 if row is None else row.least):
        refuse(f"instruction {position}: {op} of nothing")


def check(program: Program, after: str) -> Program:
    """The program itself, or the exception that says what a pass broke."""

    def refuse(why: str) -> None:
        raise ProgramError.of(after, why)

    count, sites = program.count, len(program.sites)
    defined: set[int] = set()
    for index, given in program.inputs.items():
        if not 0 <= index < count:
            refuse(f"input %{index} has no id of this program")
        if given.kind not in KINDS:
            refuse(f"input %{index} is of unknown kind {given.kind!r}")
        defined.add(index)
    known, define = defined.issuperset, defined.add
    for position, (op, results, args, site) in enumerate(program.instructions):
        operands, many = OPERANDS.get(op), op == "scatter"
        if op in program.functions:
            operands, many = program.functions[op].operands, program.functions[op].results > 1
        if operands is None:
            refuse(f"instruction {position} has unknown op {op!r}")
        if operands == ANY:
            _check_many(position, op, args, refuse)
        elif len(args) != operands:
            refuse(f"instruction {position}: {op} takes {operands} operands, has {len(args)}")
        if len(results) != 1 and not (many and results):
            refuse(f"instruction {position}: {op} has {len(results)} results")
        if not known(args):
            missing = next(arg for arg in args if arg not in defined)
            refuse(f"instruction {position} ({op}) reads %{missing} before it is defined")
        for result in results:
            if result in defined or not 0 <= result < count:
                refuse(f"instruction {position} ({op}) assigns %{result}, which is not free")
            define(result)
        if site >= sites:
            refuse(f"instruction {position} names a site that is not there")
    for guard in program.guards:
        if guard.condition not in defined:
            refuse(f"a guard reads %{guard.condition}, which is never defined")
        if guard.site >= sites:
            refuse(f"the guard of %{guard.condition} names a site that is not there")
    for output in program.outputs:
        if output not in defined:
            refuse(f"output %{output} is never defined")
    return program
