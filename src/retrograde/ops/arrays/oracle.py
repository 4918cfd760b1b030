"""The oracle: a statement carried out by plain loops over plain numbers, slow and obviously right.

Loops turn in the order they are listed, the last one fastest, and what meets in a place is added
in that order, beginning with 0. ``unfolding.py`` lists the same additions for one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Protocol

from ..index import (
    Atom,
    Chosen,
    Index,
    Letter,
    Quotient,
    Read,
    Remainder,
    Shape,
    Statement,
    Term,
    Test,
)
from .bodies import FLOATS

Turn = dict[str, int]


@dataclass(frozen=True)
class Plain:
    """An array as a flat list in the order of its places.

    >>> Plain((2, 2), [1.0, 2.0, 3.0, 4.0])[1, 0]
    3.0
    """

    shape: Shape
    numbers: Sequence[float]

    def __getitem__(self, at: tuple[int, ...]) -> float:
        return self.numbers[self.place(at)]

    def place(self, at: tuple[int, ...]) -> int:
        """Where in the list the number of an index stands."""
        place = 0
        for one, length in zip(at, self.shape, strict=True):
            if not 0 <= one < length:
                raise IndexError(f"index {at} is outside shape {self.shape}")
            place = place * length + one
        return place


class Numbers(Protocol):
    """An array that gives single numbers by their places."""

    def __getitem__(self, at: tuple[int, ...], /) -> float: ...


Arrays = Mapping[str, Numbers]


def evaluate(statement: Statement, arrays: Arrays) -> Plain:
    """What a statement makes of arrays; chosen places are looked up among them by their names.

    >>> from ..array import ARRAYS
    >>> x, y = Plain((2, 2), [1.0, 2.0, 3.0, 4.0]), Plain((2,), [10.0, 1.0])
    >>> evaluate(ARRAYS["matmul"].state({"x": x.shape, "y": y.shape}), {"x": x, "y": y}).numbers
    [12.0, 34.0]
    """
    start = 1.0 if statement.how == "*=" else 0.0
    result = Plain(statement.shape, made := [start] * prod(statement.shape))
    for term in statement.terms:
        amount = amount_of(term, arrays)
        for turn in turns(term, arrays):
            place = result.place(places(term.to.at, turn, arrays))
            if statement.how == "*=":
                made[place] = made[place] * amount(turn)
            elif statement.how == "+=":
                made[place] = made[place] + amount(turn)
            else:
                made[place] = amount(turn)
    return result


def turns(term: Term, arrays: Arrays, fixed: Mapping[str, int] | None = None) -> Iterator[Turn]:
    """The turns of a term's loops where its conditions hold; letters may be fixed beforehand."""
    known = fixed or {}
    ranges = [
        range(known[name], known[name] + 1) if name in known else range(length)
        for name, length in term.loops
    ]
    names = [name for name, _ in term.loops]
    for numbers in product(*ranges):
        turn = dict(zip(names, numbers))
        if all(_holds(test, turn, arrays) for test in term.where):
            yield turn


def amount_of(term: Term, arrays: Arrays) -> Callable[[Turn], float]:
    """The body of a term as a function of a turn of its loops."""
    found = term.refs
    body = FLOATS.body(term.body, found)

    def amount(turn: Turn) -> float:
        numbers = [arrays[ref.array][places(ref.at, turn, arrays)] for ref in found]
        return float(body(*numbers))

    return amount


def places(at: Sequence[Index], turn: Turn, arrays: Arrays) -> tuple[int, ...]:
    """Indices in one turn of the loops."""
    return tuple(whole(index, turn, arrays) for index in at)


def whole(index: Index, turn: Turn, arrays: Arrays) -> int:
    """An index in one turn of the loops."""
    total = 0
    for atoms, factor in index.parts:
        for atom in atoms:
            factor *= _atom(atom, turn, arrays)
        total += factor
    return total


def choose(chosen: Chosen, array: Plain) -> tuple[Plain, ...]:
    """The places that a row finds by looking: one array for each name."""
    free = [axis for axis in range(len(array.shape)) if axis not in chosen.axes]
    over = [range(array.shape[axis]) for axis in chosen.axes]
    if chosen.by != "argsort" and not all(over):
        raise ValueError(f"{chosen.by} of no numbers: nothing to choose from")
    lines: list[list[tuple[int, ...]]] = []
    for outer in product(*(range(array.shape[axis]) for axis in free)):
        spots = list(product(*over))

        def number(spot: tuple[int, ...], outer: tuple[int, ...] = outer) -> float:
            place = {**dict(zip(free, outer)), **dict(zip(chosen.axes, spot))}
            return array[tuple(place[axis] for axis in range(len(array.shape)))]

        lines.append(_ordered(spots, number, chosen.by))
    if chosen.by == "argsort":
        return (_lines_along(chosen.axes[0], array.shape, free, lines),)
    shape = tuple(array.shape[axis] for axis in free)
    return tuple(
        Plain(shape, [line[0][place] for line in lines]) for place in range(len(chosen.axes))
    )


def _ordered(
    spots: list[tuple[int, ...]], number: Callable[[tuple[int, ...]], float], by: str
) -> list[tuple[int, ...]]:
    """The spots in order, the chosen one first: of equals the first, NaN before all, or last."""

    def rank(spot: tuple[int, ...]) -> tuple[bool, float]:
        it = number(spot)
        missing = it != it
        if by == "argsort":
            return missing, 0.0 if missing else it
        return not missing, 0.0 if missing else -it if by == "argmax" else it

    return sorted(spots, key=rank)


def _lines_along(
    axis: int, shape: Shape, free: list[int], lines: list[list[tuple[int, ...]]]
) -> Plain:
    result = Plain(shape, made := [0.0] * prod(shape))
    for outer, line in zip(product(*(range(shape[one]) for one in free)), lines):
        for rank, (spot,) in enumerate(line):
            place = {**dict(zip(free, outer)), axis: rank}
            made[result.place(tuple(place[one] for one in range(len(shape))))] = float(spot)
    return result


def _atom(atom: Atom, turn: Turn, arrays: Arrays) -> int:
    if isinstance(atom, Letter):
        return turn[atom.name]
    if isinstance(atom, Quotient):
        return whole(atom.of, turn, arrays) // whole(atom.by, turn, arrays)
    if isinstance(atom, Remainder):
        return whole(atom.of, turn, arrays) % whole(atom.by, turn, arrays)
    assert isinstance(atom, Read), "sizes and given numbers are settled when a row is bound"
    return int(arrays[atom.array][places(atom.at, turn, arrays)])


def _holds(test: Test, turn: Turn, arrays: Arrays) -> bool:
    left, right = whole(test.left, turn, arrays), whole(test.right, turn, arrays)
    return {"<=": left <= right, "<": left < right, ">=": left >= right, "!=": left != right}[
        test.symbol
    ]
