"""Calls over rows: each row is led to its trace, and each trace runs over its rows in blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..._shared.threads import threads_for
from .arguments import Taken
from .row_runs import RowRuns, block_of
from .runs import REFUSED, Run
from .traces import Family, Trace

Another = Callable[[Family, Taken, int, bytes], Trace]
"""One more trace of a family, recorded on the arguments of one row, that begins with a path."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows that run at once; without ``at`` they stand one behind the other."""

    first: int
    count: int
    at: Any = None

    @property
    def where(self) -> Any:
        """Where they stand among all rows."""
        return slice(self.first, self.first + self.count) if self.at is None else self.at


@dataclass(frozen=True, slots=True)
class Part:
    """The rows that a trace serves: all of them, or those that ``at`` names."""

    trace: Trace
    at: Any
    count: int

    def blocks(self, varying: Collection[int]) -> Iterator[Block]:
        """Full blocks, and the rest. Their sizes follow from the number of rows alone. Where rows
        went several ways that number changes from call to call, so the rest is cut by powers of
        two."""
        size = block_of(self.trace, varying)
        first = 0
        while first < self.count:
            left = self.count - first
            count = min(size, left)
            if self.at is not None and left < size:
                count = 1 << (left.bit_length() - 1)
            yield Block(first, count, None if self.at is None else self.at[first : first + count])
            first += count


@dataclass
class RowCall:
    """One call over rows; ``more`` are further arrays with an entry a row."""

    taken: Taken
    threads: int | None = None
    more: Sequence[Any] = ()

    def __post_init__(self) -> None:
        assert self.taken.rows is not None
        self.rows: int = self.taken.rows
        self.varying = {
            number: int(np.prod(leaf.shape[1:], dtype=np.int64))
            for number, leaf in enumerate(self.taken.leaves)
            if self.taken.varies[number]
        }

    def runs(self, trace: Trace) -> RowRuns:
        """What can be asked of a trace."""
        return RowRuns(trace, self.varying)

    def is_one_run(self, parts: Sequence[Part]) -> bool:
        """Whether one trace that asks nothing serves all rows, in one block."""
        if len(parts) != 1 or parts[0].trace.path or not self.rows:
            return False
        return self.rows <= block_of(parts[0].trace, self.varying)

    # ---- leading rows to traces ----------------------------------------------------------------

    def led(self, family: Family, another: Another) -> list[Part]:
        """The traces of all rows, in the order of the first row that each serves."""
        latest = family.traces[-1]
        if not latest.path:  # there is no other way
            return [Part(latest, None, self.rows)]
        rows = np.arange(self.rows)
        waiting = [(latest, rows)]
        found: dict[int, tuple[Trace, list[Any]]] = {}
        while waiting:
            trace, rows = waiting.pop()
            fits = np.ones(len(rows), bool)
            if trace.path and len(rows):
                try:
                    first = self._left_at(trace, rows)
                except REFUSED:
                    # perhaps on a side of a branch that a row does not take: which one, and where
                    # does it go?
                    if len(rows) > 1:
                        middle = len(rows) // 2
                        waiting += [(trace, rows[middle:]), (trace, rows[:middle])]
                        continue
                    own = another(family, self.taken, int(rows[0]), b"")
                    if own.path == trace.path:
                        raise
                    waiting.append((own, rows))
                    continue
                fits = first < 0
                for guard in sorted(set(first[~fits].tolist())):
                    group = rows[first == guard]
                    path = trace.path[:guard] + bytes([not trace.path[guard]])
                    other = family.fitting(path)
                    if other is None:
                        other = another(family, self.taken, int(group[0]), path)
                    waiting.append((other, group))
            if fits.any() or not self.rows:
                found.setdefault(id(trace), (trace, []))[1].append(rows[fits])
        parts = []
        for trace, groups in found.values():
            at = np.sort(np.concatenate(groups))
            parts.append(Part(trace, None if len(at) == self.rows else at, len(at)))
        return sorted(parts, key=lambda it: 0 if it.at is None else int(it.at[0]))

    def _left_at(self, trace: Trace, rows: Any) -> Any:
        """By row: the first guard at which it goes another way, -1 where it goes this one."""
        first = np.full(len(rows), -1)
        guards = range(len(trace.path))
        # what NumPy solves may refuse rows that never come there: guard by guard then
        solves = any(each.row.implicit is not None for each in trace.program.instructions)
        for asked in ([guard] for guard in guards) if solves else [list(guards)]:
            here = np.flatnonzero(first < 0)
            at = rows[here]
            part = Part(trace, None if len(at) == self.rows else at, len(at))
            for block, values in self._blocks(part, partial(RowRuns.guards, numbers=asked)):
                outcomes = np.stack([np.asarray(it) != 0.0 for it in values], axis=1)
                differs = outcomes != np.array([bool(trace.path[guard]) for guard in asked])
                places = here[block.first : block.first + block.count]
                left = differs.any(axis=1)
                first[places[left]] = np.array(asked)[differs.argmax(axis=1)[left]]
        return first

    def leaves(self, block: Block) -> list[Any]:
        """The leaves of the call as a block sees them."""
        return [
            leaf[block.where] if varies else leaf
            for leaf, varies in zip(self.taken.leaves, self.taken.varies)
        ]

    # ---- running -------------------------------------------------------------------------------

    def _blocks(
        self, part: Part, wanted: Callable[[RowRuns, int], Run], more: Sequence[Any] = ()
    ) -> Iterator[tuple[Block, Any]]:
        """What every block of a part comes to, in their order; threads take blocks."""
        runs = self.runs(part.trace)
        blocks = list(part.blocks(self.varying))
        ready = {count: wanted(runs, count) for count in dict.fromkeys(it.count for it in blocks)}

        def carry_out(block: Block) -> Any:
            leaves = [*self.leaves(block), *(leaf[block.where] for leaf in more)]
            return ready[block.count](leaves, part.trace.captured)

        threads = min(len(blocks), threads_for(self.threads))
        native = all(run.packed is not None for run in ready.values())
        if threads > 1 and native:
            with ThreadPoolExecutor(threads) as pool:
                yield from zip(blocks, pool.map(carry_out, blocks))
        else:
            for block in blocks:
                yield block, carry_out(block)

    def gather(
        self,
        part: Part,
        wanted: Callable[[RowRuns, int], Run],
        into: list[Any],
        stored: Sequence[bool] | None = None,
    ) -> None:
        """Every output of a part's rows, written to where the rows stand in ``into``, arrays that
        are made here where there are none yet. Outputs that are not ``stored`` are added up, block
        by block."""
        for block, found in self._blocks(part, wanted, self.more):
            keeps = [True] * len(found) if stored is None else stored
            if not into and block.count == self.rows:
                into += found
                return
            if not into:
                into += [
                    np.empty((self.rows, *np.shape(it)[1:])) if keep else np.zeros(np.shape(it))
                    for it, keep in zip(found, keeps)
                ]
            for place, (it, keep) in enumerate(zip(found, keeps)):
                if not keep:
                    into[place] = into[place] + it
                else:
                    into[place][block.where] = it
