"""Statements that only move numbers, one side at places along an axis that whole numbers name:
embeddings, the picks of a cross entropy, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..._shared.bound import Bound
from ...ops.index import Index, Read, Ref
from .steps import Layout, Operand, Shape

Places = Sequence[Any]
"""By axis: a factor a letter, and a constant; None at the axis that is led."""


class Moved(NamedTuple):
    """Such a statement: its loops, where both sides stand, and which axis whole numbers lead."""

    letters: tuple[str, ...]
    lengths: Shape
    to: Places
    read: Places
    whole: str
    places: Places
    axis: int
    adds: bool

    def along(self, steps: Shape, places: Places) -> tuple[int, Shape]:
        """Where a walk over the loops begins, and its step a loop."""
        begin, moves = 0, dict.fromkeys(self.letters, 0)
        for step, place in zip(steps, places):
            if place is None:
                continue
            factors, constant = place
            begin += constant * step
            for name, factor in factors.items():
                if name in moves:
                    moves[name] += factor * step
        return begin, tuple(moves.values())

    def walked(self, of: Layout, places: Places) -> Operand:
        """One side over the loops."""
        begin, moves = self.along(of.steps, places)
        return Operand(of.root, of.offset + begin, moves)


def moved(row: Bound) -> Moved | None:
    """What a row moves; None where it does more, or is led along several axes."""
    statement = row.statement
    if len(statement.terms) != 1 or row.chosen or len(row.operands) != 1:
        return None
    (term,) = statement.terms
    if term.where or not isinstance(term.body, Ref) or 0 in (n for _, n in term.loops):
        return None
    to, read = _places(term.to.at), _places(term.body.at)
    adds = _led(to) is not None
    led = to if adds else read
    axis = _led(led)
    if axis is None or _led(read if adds else to) is not None:
        return None
    index = (term.to if adds else term.body).at[axis]
    found = _alone(index)
    others = [it for place, it in enumerate(led) if place != axis]
    if found is None or any(it is None for it in (*others, *(read if adds else to))):
        return None
    places = _places(found.at)
    if any(it is None for it in places):
        return None
    if (
        statement.how not in ("=", "+=")
        if adds
        else not _covers(term.to.at, dict(term.loops), row.shape)
    ):
        return None
    loops = [(name, n) for name, n in term.loops if n != 1]
    names, lengths = tuple(name for name, _ in loops), tuple(n for _, n in loops)
    return Moved(names, lengths, to, read, found.array, places, axis, adds)


def _places(at: Sequence[Index]) -> Places:
    return [index.affine for index in at]


def _led(places: Places) -> int | None:
    return next((axis for axis, place in enumerate(places) if place is None), None)


def _alone(index: Index) -> Read | None:
    """The whole number that an index is, if it is one alone."""
    if len(index.parts) != 1 or index.parts[0][1] != 1 or len(index.parts[0][0]) != 1:
        return None
    atom = index.parts[0][0][0]
    return atom if isinstance(atom, Read) else None


def _covers(at: Sequence[Index], lengths: dict[str, int], shape: Sequence[int]) -> bool:
    """Whether indices are letters, one an axis, that go over all of it; a loop writes once."""
    names = []
    for index, length in zip(at, shape):
        if index.letter is None:
            if index.number != 0 or length != 1:
                return False
        elif lengths[index.letter.name] != length:
            return False
        else:
            names.append(index.letter.name)
    long = {name for name, n in lengths.items() if n != 1}
    return len(set(names)) == len(names) and long <= set(names)
