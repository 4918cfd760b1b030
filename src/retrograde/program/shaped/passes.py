"""Programs with shapes → better ones, each pass a small named function, checked after each."""

from __future__ import annotations

from .gathering import gathered
from .program import Builder, Instruction, Looked, Program, Whole, check


def improved(program: Program) -> Program:
    """All passes, in their order."""
    for one in (shared, needed, gathered):
        program = check(one(program), one.__name__)
    return program


def shared(program: Program) -> Program:
    """Common subexpressions: one row on the same operands is carried out once."""
    same: dict[int, int] = {}
    known: dict[object, int] = {}
    kept: list[Instruction] = []
    wholes = program.wholes
    made = program.copy()
    build = Builder(made)
    for each in program.instructions:
        operands = tuple(same.get(number, number) for number in each.operands)
        numbers = []
        for name, number in each.wholes:
            whole = wholes[number]
            if isinstance(whole, Looked) and whole.result in same:
                other = Looked(same[whole.result], whole.name, whole.shape)
                number = build.whole(other)
            numbers.append((name, number))
        whole_keys = tuple((name, _key(wholes[n], each.result)) for name, n in numbers)
        key = (id(each.row), operands, whole_keys, each.takes)
        first = known.setdefault(key, each.result)
        if first != each.result:
            same[each.result] = first
            continue
        kept.append(
            Instruction(each.row, each.result, operands, tuple(numbers), each.takes, each.site)
        )
    made.instructions = kept
    made.outputs = [same.get(number, number) for number in program.outputs]
    made.guards = [
        type(guard)(same.get(guard.value, guard.value), guard.outcome, guard.site)
        for guard in program.guards
    ]
    return made


def _key(whole: Whole, result: int) -> object:
    """What whole numbers go by; those that an instruction finds itself go with it."""
    own = isinstance(whole, Looked) and whole.result == result
    return None if own else whole.key()


def needed(program: Program) -> Program:
    """Without what neither an output nor a guard depends on."""
    wanted = set(program.roots)
    kept = []
    for each in reversed(program.instructions):
        if each.result not in wanted:
            continue
        wanted.update(each.operands)
        for _, number in each.wholes:
            whole = program.wholes[number]
            if isinstance(whole, Looked):
                wanted.add(whole.result)
        kept.append(each)
    return program.with_instructions(kept[::-1])
