"""Programs run in plain Python, one row at a time: the oracle for passes, plans and adjoints.

An instruction is worth what the law says, n-ary ones what their expansion into rows is worth.
Gradients are taken by hand, without the transform that is under test.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from retrograde.ops import OPS
from retrograde.program.program import CONSTANT, Instruction, Program


def fma(x: float, y: float, z: float) -> float:
    """x * y + z, rounded once."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return x * y + z
    if not math.isfinite(z):
        return z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z if x * y == 0.0 else 0.0  # the sign of a zero is IEEE 754's
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _take(elements: Sequence[float], index: float) -> float:
    assert index == int(index), f"take: {index} is not whole"
    assert 0 <= index < len(elements), f"take: {index} of {len(elements)}"
    return elements[int(index)]


def _scattered(count: int, pairs: Sequence[float]) -> list[float]:
    sums = [0.0] * count
    for index, upstream in zip(pairs[::2], pairs[1::2]):
        sums[int(index)] += upstream
    return sums


def results_of(instruction: Instruction, numbers: Sequence[float]) -> list[float]:
    """What one instruction assigns, given the numbers of its operands."""
    op, count = instruction.op, len(numbers)
    if op in OPS:
        return [OPS[op].evaluate(*numbers)]
    if op == "fma":
        return [fma(*numbers)]
    if op == "stop":
        return [numbers[0]]
    if op == "take":
        return [_take(numbers[:-1], numbers[-1])]
    if op == "scatter":
        return _scattered(len(instruction.results), numbers)
    terms = list(numbers)
    if op == "dot":
        terms = [x * y for x, y in zip(numbers[: count // 2], numbers[count // 2 :])]
    total = terms[0]
    for term in terms[1:]:
        total += term
    return [total]


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
    op, results, args, _ = instruction
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
    for op, results, args, _ in program.instructions:
        if op != "stop" and not active.isdisjoint(args[:-1] if op == "take" else args):
            active.update(results)
    sums, reached = dict.fromkeys(numbers, 0.0), {output}
    sums[output] = 1.0
    for instruction in reversed(program.instructions):
        op, (result,), args, _ = instruction
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
