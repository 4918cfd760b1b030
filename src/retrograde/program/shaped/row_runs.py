"""What a call over rows asks of a trace, made ready for a number of rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ..._shared.bound import bound
from .adjoint import with_gradients, with_products
from .program import ARGUMENT, Builder, Input, Program
from .rowwise import numbers_of, over_rows
from .runs import Run, inputs_of
from .traces import Trace

BLOCK = 1 << 22
"""Numbers that the rows of one block make on the way to the value, about. Few of them are kept at
a time: they nearly fit the second cache, and a step has rows enough to be worth its beginning."""

LEAST, MOST = 8, 1024
"""Rows of a block."""

MOST_RUNS = 32
"""Runs over rows that a trace keeps, by what is asked and how many rows there are."""

Make = Callable[[Program, dict[int, int]], Program]


def block_of(trace: Trace, varying: Collection[int]) -> int:
    """How many rows run at once: a power of two that depends on the recording alone, so that sums
    over rows are added in one order whatever the threads."""
    if not trace.block:
        wanted = BLOCK // max(1, numbers_of(trace.program, varying))
        trace.block = 1 << (min(MOST, max(LEAST, wanted)).bit_length() - 1)
    return trace.block


def kept(trace: Trace, key: Any, make: Callable[[], Run]) -> Run:
    """A run of a trace; of those over rows the one that was asked for longest ago makes room."""
    runs = trace.row_runs
    found = runs.pop(key, None) or make()
    if len(runs) >= MOST_RUNS:
        del runs[next(iter(runs))]
    runs[key] = found
    return found


class RowRuns:
    """The runs of a call over rows: ``varying`` are its arguments with an entry a row."""

    def __init__(self, trace: Trace, varying: Mapping[int, int]) -> None:
        self.trace, self.varying = trace, varying

    def values(self, count: int) -> Run:
        """The results."""
        return self._made(("value",), count, (), 0, lambda wide, ids: wide)

    def guards(self, count: int, numbers: Sequence[int]) -> Run:
        """What some guards look at."""

        def made(wide: Program, ids: dict[int, int]) -> Program:
            wide.outputs = [wide.guards[number].value for number in numbers]
            return wide

        return self._made(("guards", tuple(numbers)), count, (), 0, made)

    def gradients(
        self, count: int, kind: str, numbers: Sequence[int], *, reduced: bool, weighted: bool
    ) -> Run:
        """The only result and its gradients by arguments or captured leaves.

        Where they are ``reduced`` the result and the gradients of what is the same for all rows are
        sums over the rows. Weights come behind the arguments.
        """
        program = self.trace.program
        ids = inputs_of(program, kind, numbers)
        own = {number for number in ids if self._differs(number)}
        spread = () if reduced else tuple(sorted(set(ids) - own))

        def made(wide: Program, now: dict[int, int]) -> Program:
            (root,) = wide.outputs
            seed = None
            if weighted:
                given = Input(ARGUMENT, "weights", self.trace.arguments)
                seed = Builder(wide).input(given, (count,))
            full, found = with_gradients(wide, root, [now[number] for number in ids], seed)
            if reduced:
                root = Builder(full).add(bound("sum", ((count,),)), (root,))
            full.outputs = [root, *found]
            return full

        key = ("gradients", kind, tuple(numbers), reduced, weighted)
        return self._made(key, count, spread, int(weighted), made)

    def products(self, count: int, numbers: Sequence[int]) -> Run:
        """The only result and the products of its Hessian by arguments with a vector, a row, whose
        parts come behind the arguments."""
        program = self.trace.program
        ids = inputs_of(program, ARGUMENT, numbers)
        spread = tuple(sorted(number for number in ids if not self._differs(number)))

        def made(wide: Program, now: dict[int, int]) -> Program:
            (root,) = wide.outputs
            wrt = [now[number] for number in ids]
            full, found = with_products(wide, root, wrt, self.trace.arguments)
            full.outputs = [root, *found]
            return full

        return self._made(("products", tuple(numbers)), count, spread, len(numbers), made)

    def _differs(self, number: int) -> bool:
        given = self.trace.program.inputs[number]
        return given.kind == ARGUMENT and given.number in self.varying

    def _made(self, key: Any, count: int, spread: Sequence[int], more: int, make: Make) -> Run:
        trace = self.trace

        def made() -> Run:
            wide, ids = over_rows(trace.program, count, self.varying, spread)
            full = make(wide, ids)
            full.guards = []  # rows that go another way are sorted out before
            return Run.of(trace, full, more)

        return kept(trace, (*key, count), made)
