"""Passes: programs to better programs with the same results, each a small named function.

No pass fuses, reorders or reassociates an instruction; x*0, x+0 and x-x are not folded.
"""

from __future__ import annotations

from struct import pack
from typing import Any

from ..ops import OPS
from ..ops.structural import TAKE
from .checker import check
from .executor import executor
from .program import CHOICE, CONSTANT, Guard, Input, Instruction, Program


def renamed(program: Program, mapping: dict[int, int], kept: list[Instruction]) -> Program:
    """The program with ids replaced in what is kept."""
    if not mapping:
        return program.replaced(instructions=kept)
    get = mapping.get
    return program.replaced(
        instructions=kept,
        guards=[Guard(get(g.condition, g.condition), g.outcome, g.site) for g in program.guards],
        outputs=[get(output, output) for output in program.outputs],
    )


def remove_stops(program: Program) -> Program:
    """A stop is only for the adjoint; in a program that is run it is the number itself. So is the
    result of a custom op that was recorded as ops."""
    same = {"stop"} | {key for key, each in program.functions.items() if each.rows is None}
    if not any([instruction.op in same for instruction in program.instructions]):
        return program
    mapping: dict[int, int] = {}
    kept = []
    for op, results, args, site, parameters in program.instructions:
        args = tuple([mapping.get(arg, arg) for arg in args])
        if op in same:
            mapping[results[0]] = args[0]
        else:
            kept.append(Instruction(op, results, args, site, parameters))
    return renamed(program, mapping, kept)


def lower_choices(program: Program) -> Program:
    """A choice is only for the adjoint; in a program that is run it is a ``where``."""
    if not any([instruction.op == CHOICE for instruction in program.instructions]):
        return program
    kept = [
        Instruction("where", each.results, each.args, each.site) if each.op == CHOICE else each
        for each in program.instructions
    ]
    return program.replaced(instructions=kept)


def choices_as_takes(program: Program) -> Program:
    """A choice told as a ``take`` of its two sides, which births, stories and second derivatives
    know: the same numbers, gradients added up in another order."""
    if not any([instruction.op == CHOICE for instruction in program.instructions]):
        return program
    kept = []
    for each in program.instructions:
        if each.op == CHOICE:
            condition, holds, fails = each.args
            each = Instruction(TAKE.name, each.results, (fails, holds, condition), each.site)
        kept.append(each)
    return program.replaced(instructions=kept)


def choose_by_truth(program: Program) -> Program:
    """One of two, chosen by what is 0 or 1, is a ``where``: all lanes at once, nothing to check."""
    if not any([each.op == TAKE.name and len(each.args) == 3 for each in program.instructions]):
        return program
    truths = {i for i, g in program.inputs.items() if g.is_known and g.number in (0.0, 1.0)}
    kept = []
    for instruction in program.instructions:
        op, results, args, site, _ = instruction
        if _is_truth(op, args, truths):
            truths.update(results)
        if op == TAKE.name and len(args) == 3 and args[2] in truths:
            instruction = Instruction("where", results, (args[2], args[1], args[0]), site)
        kept.append(instruction)
    return program.replaced(instructions=kept)


def _is_truth(op: str, args: tuple[int, ...], truths: set[int]) -> bool:
    """Whether an instruction makes 0 or 1: by itself, or of numbers that are."""
    if op == TAKE.name:
        return truths.issuperset(TAKE.items(args))
    row = OPS.get(op)
    return row is not None and (row.is_truth or (truths.issuperset(args) and row.keeps_truth))


def share_common_subexpressions(program: Program) -> Program:
    """Instructions with the same op and operands are computed once."""
    seen: dict[tuple[str, tuple[int, ...], tuple[Any, ...], int], tuple[int, ...]] = {}
    mapping: dict[int, int] = {}
    get = mapping.get
    kept = []
    for instruction in program.instructions:
        op, results, args, site, parameters = instruction
        if mapping:
            mapped = tuple([get(arg, arg) for arg in args])
            if mapped != args:
                args = mapped
                instruction = Instruction(op, results, args, site, parameters)
        known = seen.setdefault((op, args, parameters, len(results)), results)
        if known is results:
            kept.append(instruction)
        else:
            mapping.update(zip(results, known))
    return renamed(program, mapping, kept)


def fold_constants(program: Program) -> Program:
    """Rows whose operands are all constants are computed now, by the executor's own kernels."""
    numbers = {i: g.number for i, g in program.inputs.items() if g.is_known}
    known = {pack("d", number): i for i, number in numbers.items()}
    inputs = dict(program.inputs)
    mapping: dict[int, int] = {}
    kept = []
    evaluate = executor.evaluate
    for instruction in program.instructions:
        op, results, args, site, parameters = instruction
        if mapping:
            args = tuple([mapping.get(arg, arg) for arg in args])
            if args != instruction.args:
                instruction = Instruction(op, results, args, site, parameters)
        if args[0] in numbers and op in OPS and all([arg in numbers for arg in args]):
            value = evaluate(op, [numbers[arg] for arg in args])
            result = results[0]
            place = known.setdefault(pack("d", value), result)
            if place == result:
                inputs[result] = Input(CONSTANT, "", value)
                numbers[result] = value
            else:
                mapping[result] = place
            continue
        kept.append(instruction)
    return renamed(program, mapping, kept).replaced(inputs=inputs)


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


PASSES = (
    lower_choices,
    remove_stops,
    choose_by_truth,
    fold_constants,
    share_common_subexpressions,
    remove_dead_code,
)


def improved(program: Program) -> Program:
    """Every pass in order, and the result checked.

    Where it is wrong they are run again and checked one by one, which names the pass at fault.
    """
    try:
        better = program
        for run in PASSES:
            better = run(better)
        return check(better, PASSES[-1].__name__)
    except Exception:
        for run in PASSES:
            program = check(run(program), run.__name__)
        raise
