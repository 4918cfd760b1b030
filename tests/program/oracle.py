"""Programs run in plain Python, one row at a time: the oracle for passes, plans and adjoints.

An instruction is worth what the interpreter, the executor of the reference core, makes of it.
Gradients are taken by hand, without the transform that is under test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from retrograde.ops import OPS
from retrograde.program.interpreter import results_of
from retrograde.program.program import CONSTANT, Instruction, Program


def run(program: Program, given: Mapping[int, float]) -> dict[int, float]:
    """The number of every id of one row; ``given`` has those of the inputs, constants aside."""
    numbers = {
        index: thing.number if thing.kind == CONSTANT else given[index]
        for index, thing in program.inputs.items()
    }
    for instruction in program.instructions:
        results = results_of(instruction, [numbers[arg] for arg in instruction.args])
        numbers.update(zip(instruction.results, results))
    return numbers


def outputs(program: Program, given: Mapping[int, float]) -> list[float]:
    """The outputs of one row."""
    numbers = run(program, given)
    return [numbers[output] for output in program.outputs]


def guards_hold(program: Program, given: Mapping[int, float]) -> list[bool]:
    """Whether each guard comes out as it was recorded."""
    numbers = run(program, given)
    return [(numbers[guard.condition] != 0.0) == guard.outcome for guard in program.guards]


def _partials(instruction: Instruction, numbers: Mapping[int, float]) -> list[list[float]]:
    """One list a result: its partial with respect to each operand."""
    op, results, args, _, _ = instruction
    values = [numbers[arg] for arg in args]
    if op in OPS:
        return [list(OPS[op].evaluate_partials(*values, numbers[results[0]]))]
    if op == "fma":
        return [[values[1], values[0], 1.0]]
    if op == "stop":
        return [[0.0]]
    if op == "sum":
        return [[1.0] * len(values)]
    if op == "dot":
        half = len(values) // 2
        return [values[half:] + values[:half]]
    if op == "take":
        return [[float(place == values[-1]) for place in range(len(values) - 1)] + [0.0]]
    assert op == "scatter"
    return [
        [part for index in values[::2] for part in (0.0, float(index == place))]
        for place in range(len(results))
    ]


def walked(
    program: Program, given: Mapping[int, float], output: int, wrt: Sequence[int]
) -> list[float]:
    """The gradient as eager code has it: only what the output depends on in this row hands on, and
    that also where the gradient that arrives is 0."""
    numbers = run(program, given)
    active = set(wrt)
    for op, results, args, _, _ in program.instructions:
        if op != "stop" and not active.isdisjoint(args[:-1] if op == "take" else args):
            active.update(results)
    sums, reached = dict.fromkeys(numbers, 0.0), {output}
    sums[output] = 1.0
    for instruction in reversed(program.instructions):
        op, (result,), args, _, _ = instruction
        if result not in reached or op == "stop":
            continue
        slopes = _partials(instruction, numbers)[0]
        if op == "take":
            chosen = int(numbers[args[-1]])
            args, slopes = args[chosen : chosen + 1], [1.0]
        for arg, slope in zip(args, slopes):
            if arg in active:
                reached.add(arg)
                sums[arg] += slope * sums[result]
    return [sums[index] for index in wrt]


def gradients(
    program: Program,
    given: Mapping[int, float],
    output: int,
    wrt: Sequence[int],
    absolute: bool = False,
) -> list[float]:
    """The gradient of one id with respect to others; ``absolute`` takes |partials|."""
    numbers = run(program, given)
    sums = dict.fromkeys(numbers, 0.0)
    sums[output] = 1.0
    for instruction in reversed(program.instructions):
        if instruction.op == "stop":
            continue
        for result, partials in zip(instruction.results, _partials(instruction, numbers)):
            upstream = sums[result]
            if upstream == 0.0:
                continue
            for arg, partial in zip(instruction.args, partials):
                sums[arg] += (abs(partial) if absolute else partial) * upstream
    return [sums[index] for index in wrt]
