"""Sums over rows that come in pieces, with the bits of one call over all of them.

A reduction adds up the rows of each block of ``CHUNK`` rows, then the blocks in their order. Rows
of one piece that fill blocks are added up there; those at its edges, where a block goes on in the
next piece, are kept as they are. Neighbours are joined in any order, and the blocks are added at
the end: where pieces were cut, who computed them and who was first does not show in any bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ..program.machines import summed
from ..program.replay import CHUNK, added


@dataclass(frozen=True)
class Sums:
    """Some rows, added up by blocks.

    ``first`` is the number of the first row. ``head`` are the rows before the first end of a block,
    ``sums`` has a row for each whole block from there on, ``tail`` are the rows behind these. Where
    no block ends or begins among the rows they are all in ``head``.
    """

    first: int
    rows: int
    head: Any
    sums: Any
    tail: Any

    @property
    def has_edge(self) -> bool:
        """Whether a block ends or begins among the rows."""
        return -self.first % CHUNK <= self.rows


def sums_of(columns: Sequence[Any], first: int, rows: int) -> Sums:
    """The sums of columns of some rows, whose first row has a number."""
    if len(columns) == 1:
        table = np.asarray(columns[0], dtype=np.float64)[None]
    else:
        table = np.empty((len(columns), rows))
        for place, column in enumerate(columns):
            table[place] = column
    start = min(-first % CHUNK, rows)
    end = start + (rows - start) // CHUNK * CHUNK
    head, tail = table[:, :start].copy(), table[:, end:].copy()
    return Sums(first, rows, head, summed(table[:, start:end]), tail)


def joined(parts: Sequence[Sums]) -> Sums:
    """Sums of neighbours as one."""
    return reduce(_joined, parts)


def _joined(one: Sums, other: Sums) -> Sums:
    assert one.first + one.rows == other.first, "they are no neighbours"
    rows = one.rows + other.rows
    if not one.has_edge:
        head = np.concatenate([one.head, other.head], axis=1)
        return Sums(one.first, rows, head, other.sums, other.tail)
    between = np.concatenate([one.tail, other.head], axis=1)
    if not other.has_edge:
        return Sums(one.first, rows, one.head, one.sums, between)
    sums = np.concatenate([one.sums, summed(between), other.sums])
    return Sums(one.first, rows, one.head, sums, other.tail)


def total(sums: Sums) -> Any:
    """The sums over all rows, the first of all among them."""
    assert sums.first == 0, "rows are missing before these"
    return added(np.concatenate([sums.sums, summed(sums.tail)]))
