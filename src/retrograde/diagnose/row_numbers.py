"""Every number of some rows of a compiled function: its recorded program, run and stored whole.

Programs run as they were recorded, without guards and without any pass, so that each number still
belongs to an instruction and its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any

from .._shared.numerics import np
from ..ops import OPS, STRUCTURAL
from ..program.adjoint import accounted, with_input, with_one
from ..program.passes import remove_stops
from ..program.program import CAPTURED, ROW, SEED, Input, Instruction, Program
from ..program.replay import Part, Ready, run
from ..program.staged import prepared

if TYPE_CHECKING:
    from ..program.routing import Call
    from ..program.traces import Trace

BATCH_BYTES = 64 * 1024 * 1024
"""Numbers held at once."""


def primal(trace: Trace) -> Program:
    """What a trace computes."""
    return remove_stops(trace.with_takes.replaced(guards=[]))


def whole(trace: Trace, wrt: Sequence[int], seeds: int = 0) -> tuple[Program, dict[int, str]]:
    """What a trace computes and the gradients of all its outputs, with those on their way.

    With respect to some arguments and all captured leaves that take gradients.
    """
    program, seed = with_one(trace.with_takes.replaced(guards=[]))
    if seeds:
        program, seed = with_input(program, Input(SEED, "seed 0", 0.0, "", 0))
    captured = [i for i, given in program.inputs.items() if given.kind == CAPTURED]
    taking = [i for i, leaf in zip(captured, trace.captured) if leaf.requires_grad]
    pairs = [(output, seed) for output in program.outputs]
    program, sums = accounted(program, [*wrt, *taking], pairs)
    return remove_stops(program), sums


def handed_on(program: Program, own: int, sums: dict[int, str]) -> list[tuple[int, Instruction]]:
    """The gradients on their way, past ``own`` instructions, each with the op that hands it on."""
    found = []
    for each in program.instructions[own:]:
        for result in each.results:
            if result in sums:
                by = each._replace(op=sums[result])
                found.append((result, by._replace(op=op_of(program, by))))
    return found


def numbers(
    program: Program,
    wanted: Sequence[int],
    trace: Trace,
    call: Call,
    members: Any,
    threads: int,
) -> Iterator[tuple[Any, Any]]:
    """Batches of the rows that a trace serves: which they are, and the wanted numbers, a row of the
    array an id."""
    ready = prepared(program, [("store", i) for i in wanted], call.arguments)
    step = max(BATCH_BYTES // (8 * (len(wanted) + 1)), 16)
    for first in range(0, len(members), step):
        some = members[first : first + step]
        stored = np.empty((len(wanted), len(some)))
        _run(ready, trace, call, some, stored, threads)
        yield some, stored


def _run(ready: Ready, trace: Trace, call: Call, some: Any, stored: Any, threads: int) -> None:
    # outputs are addressed by the row's own number: so the columns are gathered first
    columns = []
    held = []
    for address, stride in call.inputs.tolist():
        if address == 0:
            columns.append((0, 0))
            continue
        column = _column(address, stride, call.rows)[some]
        held.append(column)
        columns.append((column.__array_interface__["data"][0], 8))
    part = Part.of(ready, len(some), call.numbers, trace.captured)
    start, width = stored.__array_interface__["data"][0], stored.strides[0]
    places = [(start + k * width, 8) for k in range(len(stored))]
    run(
        [part],
        np.array(columns, dtype=np.int64).reshape(-1, 2),
        np.array(places, dtype=np.int64).reshape(-1, 2),
        threads,
    )


def _column(address: int, stride: int, rows: int) -> Any:
    """A column of a call as an array, without copying."""
    if stride < 0:
        start, first = address + stride * (rows - 1), rows - 1
    else:
        start, first = address, 0
    holder = {
        "data": (start, True), "shape": (rows,), "strides": (abs(stride),), "typestr": "<f8",
        "version": 3,
    }  # fmt: skip
    array = np.asarray(type("Column", (), {"__array_interface__": holder})())
    return array[::-1] if first else array


def op_of(program: Program, each: Instruction) -> str:
    """The op of an instruction as eager code names it."""
    function = program.functions.get(each.op)
    return each.op if function is None else function.op.name


def row_inputs(program: Program) -> list[int]:
    """The ids of the arguments that are rows."""
    return [i for i, given in program.inputs.items() if given.kind == ROW]


def reached(program: Program, until: int, outputs: Sequence[int], stored: Any, place: Any) -> Any:
    """By id and row: whether an output depends on a number. What a take did not choose, no output
    does. ``place`` says where the numbers of an id are among those stored."""
    depends = np.zeros((program.count, stored.shape[1]), dtype=bool)
    depends[list(outputs)] = True
    columns = np.arange(stored.shape[1])
    for op, results, args, _, _ in reversed(program.instructions[:until]):
        here = depends[results[0]]
        if op in STRUCTURAL and STRUCTURAL[op].chooses:
            index = np.clip(np.nan_to_num(stored[place[args[-1]]]), 0, len(args) - 2).astype(int)
            depends[np.array(args)[index], columns] |= here
            depends[args[-1]] |= here
        else:
            depends[list(args)] |= here
    return depends


@cache
def may_drop(op: str) -> bool:
    """Whether a row of the law can make something else of a NaN: a comparison, a where, x**0."""
    if op not in OPS:
        return False
    others = (0.0, 1.0, -1.0, inf)
    for place in range(OPS[op].arity):
        for rest in product(others, repeat=OPS[op].arity - 1):
            if not isnan(OPS[op].evaluate(*rest[:place], nan, *rest[place:])):
                return True
    return False


def droppers(program: Program) -> list[Instruction]:
    """The instructions that may lose a NaN."""
    return [each for each in program.instructions if may_drop(each.op)]
