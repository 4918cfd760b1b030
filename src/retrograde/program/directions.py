"""Second derivatives by lanes: one program of products with the Hessian, run for every direction.

Each row is run once for each direction, as further rows whose seeds choose it. Directions that no
entry has in common share a run: which they are is found from the program. A sweep of its own for
each direction, as small functions have, would make the program as long as there are directions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MissingPackageError
from .derived import STORED, Mode
from .program import SEED, Program
from .replay import Part, Ready, run
from .rows import Bound
from .traces import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .routing import Router

MANY_DIRECTIONS = 16
"""Numbers from which on a Hessian is made by lanes."""
BLOCK_NUMBERS = 1 << 22
"""Numbers that are held for the lanes of a block of rows."""


@dataclass(frozen=True)
class Pattern:
    """Which entries of a Hessian may be other than 0, where they are found, and which directions
    are run together: ``groups`` has the run of each, -1 for those of which nothing depends."""

    size: int
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    runs: NDArray[np.int64]
    outputs: NDArray[np.int64]
    groups: NDArray[np.int64]

    @property
    def most(self) -> int:
        """How often a row is run."""
        return int(self.groups.max(initial=-1)) + 1

    def seeds(self) -> NDArray[np.float64]:
        """By run and direction: 1 where the run has it."""
        chosen = np.zeros((self.most, self.size))
        there = np.flatnonzero(self.groups >= 0)
        chosen[self.groups[there], there] = 1.0
        return chosen


def pattern_of(program: Program, size: int) -> Pattern:
    """The pattern of a program of products, from what its outputs have to do with its seeds.

    Without custom ops the upper triangle is the lower one's.
    """
    under = {i: 1 << given.column for i, given in program.inputs.items() if given.kind == SEED}
    for _, results, args, _, _ in program.instructions:
        met = 0
        for arg in args:
            if arg in under:
                met |= under[arg]
        if met:
            under.update(dict.fromkeys(results, met))
    below: list[list[int]] = [[] for _ in range(size)]  # by direction: the entries it reaches
    for column, output in enumerate(program.outputs):
        for direction in _bits(under.get(output, 0)):
            below[direction].append(column)
    whole = bool(program.functions)
    found = [(i, j) for i, columns in enumerate(below) for j in columns if whole or j <= i]
    groups = np.array(_groups(below), np.int64)
    directions, outputs = np.array(found, np.int64).reshape(-1, 2).T
    rows, across = directions, outputs
    if not whole:
        above = directions != outputs
        rows, across = _with(rows, outputs[above]), _with(across, directions[above])
        directions, outputs = _with(directions, directions[above]), _with(outputs, outputs[above])
    return Pattern(size, rows, across, groups[directions], outputs, groups)


def _with(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate((one, other))


def _bits(number: int) -> Iterator[int]:
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


def _groups(below: list[list[int]]) -> list[int]:
    """A run for each direction, such that no two of one run reach the same entry; -1 for those
    that reach none."""
    covered: list[int] = []
    groups = []
    for columns in below:
        mine = sum([1 << column for column in columns])
        group = -1
        if mine:
            free = (g for g, others in enumerate(covered) if not others & mine)
            group = next(free, len(covered))
            if group == len(covered):
                covered.append(0)
            covered[group] |= mine
        groups.append(group)
    return groups


@dataclass(frozen=True)
class Entries:
    """The second derivatives of some rows: by entry of the pattern, then by row."""

    trace_rows: NDArray[np.int64]
    pattern: Pattern
    numbers: NDArray[np.float64]


def second_derivatives(
    router: Router, bound: Bound, wrt: Sequence[int], whole: Sequence[int]
) -> list[Entries]:
    """The second derivatives of every row of a call, trace by trace."""
    found = []
    for trace, rows in router.sorted_rows():
        each = _Products(trace, Mode("hvp", tuple(wrt), len(wrt), tuple(whole)), router, bound)
        found.append(Entries(rows, each.pattern, each.entries(rows)))
    return found


class _Products:
    """Runs the products of one trace."""

    def __init__(self, trace: Trace, mode: Mode, router: Router, bound: Bound) -> None:
        self.trace, self.mode, self.call, self.bound = trace, mode, router.call, bound
        self.size = len(mode.wrt)
        self.custom = bool(trace.rolled.frame.functions)
        self.ready = self._apart() if self.custom else self._ready(mode)
        if mode not in trace.patterns:
            trace.patterns[mode] = pattern_of(self.ready.written, self.size)
        self.pattern: Pattern = trace.patterns[mode]

    def _ready(self, mode: Mode) -> Ready:
        return self.trace.ready(mode, STORED * self.size, self.call.arguments)

    def _apart(self) -> Ready:
        """The program in which directions that are not chosen contribute nothing at all."""
        mode = self.mode
        return self._ready(Mode("hvp apart", mode.wrt, mode.seeds, mode.whole))

    def entries(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The entries of some rows."""
        numbers = np.empty((len(self.pattern.rows), len(rows)))
        self._fill(numbers, self.ready, rows, np.arange(len(rows)))
        odd = np.flatnonzero(np.isnan(numbers).any(axis=0))
        if len(odd) and not self.custom:
            # the chosen directions may have none: 0 times an infinite slope of another is one
            self._fill(numbers, self._apart(), rows, odd)
        return numbers

    def _fill(
        self,
        numbers: NDArray[np.float64],
        ready: Ready,
        rows: NDArray[np.int64],
        which: NDArray[np.int64],
    ) -> None:
        width = self.pattern.most * (2 * self.size + self.call.arguments)
        block = max(BLOCK_NUMBERS // max(width, 1), 1)
        for first in range(0, len(which) if self.pattern.most else 0, block):
            some = which[first : first + block]
            numbers[:, some] = self._block(ready, rows[some])

    def _block(self, ready: Ready, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        pattern, call = self.pattern, self.call
        inputs = np.zeros((call.arguments + self.size, 2), np.int64)
        kept = []  # while it runs
        for first, array in self.bound.arrays:
            columns = np.repeat(array[rows].reshape(len(rows), -1), pattern.most, axis=0)
            kept.append(columns)
            _place(inputs[first : first + columns.shape[1]], columns)
        seeds = np.tile(pattern.seeds(), (len(rows), 1))
        _place(inputs[call.arguments :], seeds)
        made = np.empty((len(seeds), self.size))
        outputs = np.zeros((self.size, 2), np.int64)
        _place(outputs, made)
        part = Part.of(ready, len(seeds), call.numbers, self.trace.captured)
        run([part], inputs, outputs, call.threads)
        by_run = made.reshape(len(rows), pattern.most, self.size)
        found: NDArray[np.float64] = by_run[:, pattern.runs, pattern.outputs].T
        return found


def _place(table: NDArray[np.int64], array: NDArray[np.float64]) -> None:
    """Where the columns of an array lie: (address, stride) of each."""
    down, across = array.strides
    table[:, 0] = array.__array_interface__["data"][0] + across * np.arange(array.shape[1])
    table[:, 1] = down


def fill(made: NDArray[np.float64], found: Sequence[Entries]) -> None:
    """Write second derivatives into an array (n * n, rows), row by row of the Hessian."""
    made[:] = 0.0
    for each in found:
        pattern = each.pattern
        entries = pattern.rows * pattern.size + pattern.columns
        made[entries[:, None], each.trace_rows] = each.numbers


def sparse_matrices(found: Sequence[Entries], size: int, rows: int) -> list[Any]:
    """A SciPy matrix for each row; what cannot be other than 0 has no place in it."""
    try:
        from scipy.sparse import csr_array
    except ImportError as error:
        raise MissingPackageError.of("scipy", "sparse=True") from error
    matrices: list[Any] = [None] * rows
    for each in found:
        places = (each.pattern.rows, each.pattern.columns)
        for place, row in enumerate(each.trace_rows.tolist()):
            matrices[row] = csr_array((each.numbers[:, place], places), shape=(size, size))
    return matrices
