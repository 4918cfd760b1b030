"""Passes: programs to better programs with the same results, each a small named function.

No pass fuses, reorders or reassociates an instruction; x*0, x+0 and x-x are not folded.
"""

from __future__ import annotations

from struct import pack

from ..ops import OPS
from ..value import core
from .check import check
from .program import CONSTANT, Guard, Input, Instruction, Program

_INDEX = {name: index for index, name in enumerate(core.OP_NAMES)}


def renamed(program: Program, mapping: dict[int, int], kept: list[Instruction]) -> Program:
    """The program with ids replaced in what is kept."""
    get = mapping.get
    return program.replaced(
        instructions=kept,
        guards=[Guard(get(g.condition, g.condition), g.outcome, g.site) for g in program.guards],
        outputs=[get(output, output) for output in program.outputs],
    )


def remove_stops(program: Program) -> Program:
    """A stop is only for the adjoint; in a program that is run it is the number itself."""
    mapping: dict[int, int] = {}
    kept = []
    for instruction in program.instructions:
        args = tuple(mapping.get(arg, arg) for arg in instruction.args)
        if instruction.op == "stop":
            mapping[instruction.results[0]] = args[0]
        else:
            kept.append(instruction._replace(args=args))
    return renamed(program, mapping, kept)


def share_common_subexpressions(program: Program) -> Program:
    """Instructions with the same op and operands are computed once."""
    seen: dict[tuple[str, tuple[int, ...]], tuple[int, ...]] = {}
    mapping: dict[int, int] = {}
    kept = []
    for instruction in program.instructions:
        args = tuple([mapping.get(arg, arg) for arg in instruction.args])
        key = (instruction.op, args)
        known = seen.get(key)
        if known is not None and len(known) == len(instruction.results):
            mapping.update(zip(instruction.results, known))
            continue
        seen[key] = instruction.results
        kept.append(Instruction(instruction.op, instruction.results, args, instruction.site))
    return renamed(program, mapping, kept)


def fold_constants(program: Program) -> Program:
    """Rows whose operands are all constants are computed now, by the executor's own kernels."""
    numbers = {i: g.number for i, g in enumerate(program.inputs) if g.kind == CONSTANT}
    known = {pack("d", number): i for i, number in numbers.items()}
    mapping: dict[int, int] = {}
    fresh: list[tuple[int, float]] = []
    kept = []
    for instruction in program.instructions:
        args = tuple([mapping.get(arg, arg) for arg in instruction.args])
        if instruction.op in OPS and all([arg in numbers for arg in args]):
            value = core.evaluate(_INDEX[instruction.op], tuple(numbers[arg] for arg in args))
            bits = pack("d", value)
            result = instruction.results[0]
            if bits in known:
                mapping[result] = known[bits]
            else:
                known[bits] = result
                fresh.append((result, value))
            numbers[result] = value
            continue
        kept.append(instruction._replace(args=args))
    return _with_constants(renamed(program, mapping, kept), fresh)


def _with_constants(program: Program, fresh: list[tuple[int, float]]) -> Program:
    """Make ids constants: inputs have the first ids, so everything else moves up."""
    if not fresh:
        return program
    first, added = len(program.inputs), len(fresh)
    moved = {old: first + place for place, (old, _) in enumerate(fresh)}

    def new(old: int) -> int:
        if old in moved:
            return moved[old]
        return old if old < first else old + added

    return Program(
        inputs=[*program.inputs, *(Input(CONSTANT, "", value) for _, value in fresh)],
        instructions=[
            Instruction(i.op, tuple(map(new, i.results)), tuple(map(new, i.args)), i.site)
            for i in program.instructions
        ],
        guards=[Guard(new(g.condition), g.outcome, g.site) for g in program.guards],
        outputs=[new(output) for output in program.outputs],
        sites=program.sites,
        count=program.count + added,
    )


def remove_dead_code(program: Program) -> Program:
    """Instructions that nothing needs are dropped."""
    needed = set(program.outputs)
    needed.update(guard.condition for guard in program.guards)
    kept = []
    for instruction in reversed(program.instructions):
        if any([result in needed for result in instruction.results]):
            needed.update(instruction.args)
            kept.append(instruction)
    kept.reverse()
    return program.replaced(instructions=kept)


PASSES = (remove_stops, fold_constants, share_common_subexpressions, remove_dead_code)


def improved(program: Program) -> Program:
    """Every pass in order, checked after each."""
    for run in PASSES:
        program = check(run(program), run.__name__)
    return program
