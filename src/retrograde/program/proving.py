"""A trace with choices held to plain traces: rows that take other sides are recorded as they are,
and must give the same bits, gradients included, before anything is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import NotDifferentiable
from .adjoint import with_one
from .choosing import adjoints
from .loops import full_size
from .passes import improved
from .program import CAPTURED, CHOICE, ROW, UNIFORM, Program
from .replay import CHUNK, Part, run
from .staged import prepared

if TYPE_CHECKING:
    from .rows import Bound
    from .traces import Trace

COMBINATIONS = 64
"""Rows that take other sides, of which traces are made."""
OPERATIONS = 4_000
"""Operations of a function that are recorded for it; of every trace at least one row is."""
SOME = 4
"""Rows of which traces are made however few combinations there are."""
OUTPUTS = 4
"""Outputs of which gradients are compared."""


def agrees(
    trace: Trace, traced: Callable[[Sequence[float]], Trace], bound: Bound, left: int = OPERATIONS
) -> int | None:
    """How many operations were recorded to see that the traces of some rows give what the trace
    with choices gives there; None where they do not. ``left`` is how many there may be."""
    rows = _some_rows(bound)
    program = trace.program
    conditions = list(
        dict.fromkeys(each.args[0] for each in program.instructions if each.op == CHOICE)
    )
    outcomes, fits = _run(program.replaced(outputs=conditions), trace, rows)
    size = max(full_size(trace.rolled.items), 1)
    most = max(1, min(COMBINATIONS, left // size))
    picked: dict[bytes, int] = {}
    for row in np.flatnonzero(fits).tolist():
        picked.setdefault((outcomes[row] != 0.0).tobytes(), row)
    chosen = _spread(list(picked.values()), most)
    if len(chosen) < min(SOME, most):  # a choice that nothing is computed with is not seen here
        chosen = sorted({*chosen, *_spread(np.flatnonzero(fits).tolist(), min(SOME, most))})
    if not chosen:
        return 0
    here = rows[chosen]
    numbers, _ = _run(_with_gradients(program), trace, here)
    for row, expected in zip(here, numbers):
        other = traced(row.tolist())
        if other.outputs.paths != trace.outputs.paths:
            return None
        found, fit = _run(_with_gradients(other.program), other, row[None, :])
        if not fit.all() or not _alike(_named(trace, expected), _named(other, found[0])):
            return None
    return size * len(chosen)


def _spread(rows: list[int], most: int) -> list[int]:
    """At most so many of some rows, from all over."""
    return rows[:: max(1, -(-len(rows) // most))]


def _some_rows(bound: Bound) -> Any:
    """The arguments of some rows, as numbers."""
    if bound.rows is None or bound.rows == 0:
        return np.array([list(bound.numbers)], dtype=np.float64)
    step = max(1, bound.rows // CHUNK)
    return np.array(
        [list(bound.numbers_of(row)) for row in range(0, bound.rows, step)][:CHUNK],
        dtype=np.float64,
    )


def _asked_of(program: Program) -> list[int]:
    return [i for i, g in program.inputs.items() if g.kind in (ROW, UNIFORM, CAPTURED)]


def _with_gradients(program: Program) -> Program:
    """The outputs, and the gradients of the first of them."""
    try:
        program, one = with_one(program)
        wrt, outputs = _asked_of(program), program.outputs
        program, rows = adjoints(program, [(wrt, [(each, one)]) for each in outputs[:OUTPUTS]])
    except NotDifferentiable:
        return program
    return program.replaced(outputs=[*outputs, *[each for row in rows for each in row]])


def _run(program: Program, trace: Trace, rows: Any) -> tuple[Any, Any]:
    """The outputs of a program, a row of them for each row, and which rows fit it."""
    inputs = dict(program.inputs)
    for index, given in inputs.items():
        if given.kind == UNIFORM:  # every argument has a column here
            inputs[index] = given._replace(kind=ROW)
    program = improved(program.replaced(inputs=inputs))
    ready = prepared(program, [("store", i) for i in program.outputs], rows.shape[1])
    columns = np.ascontiguousarray(rows.T)
    results = np.zeros((len(program.outputs), len(rows)))
    part = Part.of(ready, len(rows), rows[0].tolist(), trace.captured)
    run([part], _table(columns), _table(results), 1)
    fits = part.failed < 0 if len(part.failed) else np.ones(len(rows), bool)
    return results.T, fits


def _table(columns: Any) -> Any:
    address, width = columns.__array_interface__["data"][0], columns.strides[0]
    places = [(address + number * width, 8) for number in range(len(columns))]
    return np.array(places, dtype=np.int64).reshape(-1, 2)


def _named(trace: Trace, numbers: Any) -> dict[Any, float]:
    """What a row gives, by output and by what it was differentiated with respect to."""
    program = trace.program
    outputs = len(program.outputs)
    found: dict[Any, float] = dict(enumerate(numbers[:outputs].tolist()))
    leaves = iter(trace.captured)
    wrt = [
        id(next(leaves)) if program.inputs[i].kind == CAPTURED else -1 - i
        for i in _asked_of(program)
    ]
    for number, value in enumerate(numbers[outputs:].tolist()):
        found[number // len(wrt), wrt[number % len(wrt)]] = value
    return found


def _alike(one: dict[Any, float], other: dict[Any, float]) -> bool:
    """Bit for bit; a leaf that only one of them captured has no gradient there."""
    keys = list(one.keys() | other.keys())
    a = np.array([one.get(key, 0.0) for key in keys])
    b = np.array([other.get(key, 0.0) for key in keys])
    return bool(((a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))).all())
