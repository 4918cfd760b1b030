"""Indices of arrays in order and without gaps: one number that says where in memory a place is.

Such a number is a sum of letters with whole factors, by which a loop steps through memory, and of a
rest that has to be looked up: what is read from whole numbers, and quotients that do not come out
even. Remainders are written as quotients, so that what reshape takes apart comes together again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..index import Atom, Index, Letter, Quotient, Read, Remainder, Shape, as_index, letters_of


@dataclass(frozen=True)
class Place:
    """Where: ``base``, a step for each letter that has one, the rest by the letters it reads."""

    base: int
    steps: Mapping[str, int]
    rest: tuple[tuple[tuple[str, ...], Index], ...] = ()

    @property
    def letters(self) -> frozenset[str]:
        """The letters it depends on."""
        return frozenset(self.steps).union(*(names for names, _ in self.rest))


def strides(shape: Shape) -> tuple[int, ...]:
    """How far apart neighbours along each axis are.

    >>> strides((2, 3, 4))
    (12, 4, 1)
    """
    found = [1]
    for length in reversed(shape[1:]):
        found.append(found[-1] * length)
    return tuple(reversed(found)) if shape else ()


def place(index: Index) -> Place:
    """A normal index, taken apart."""
    base, steps = 0, {}
    rest: dict[tuple[str, ...], Index] = {}
    for atoms, factor in index.parts:
        if not atoms:
            base = factor
        elif len(atoms) == 1 and isinstance(atoms[0], Letter):
            steps[atoms[0].name] = factor
        else:
            part = Index(((atoms, factor),))
            names = tuple(sorted(letters_of(part)))
            rest[names] = rest.get(names, Index()) + part
    return Place(base, steps, tuple(rest.items()))


class Flat:
    """Indices over loops of these lengths; ``shapes`` are those of the arrays."""

    def __init__(self, lengths: Mapping[str, int], shapes: Mapping[str, Shape]) -> None:
        self.lengths, self.shapes = lengths, shapes

    def at(self, array: str, at: Sequence[Index]) -> Index:
        """A place of an array as one normal index.

        >>> from ..index import letter
        >>> i = letter("i")
        >>> x = Flat({"i": 12}, {"x": (3, 4)})
        >>> place(x.at("x", [i // 4, i % 4])).steps
        {'i': 1}
        """
        total = Index()
        for index, step in zip(at, strides(self.shapes[array]), strict=True):
            total = total + self.normal(index) * step
        return total

    def normal(self, index: Index) -> Index:
        """An index without remainders, and with as few quotients as can be."""
        total = Index()
        for atoms, factor in index.parts:
            value = as_index(factor)
            for atom in atoms:
                value = value * self._atom(atom)
            total = total + value
        return total

    def _atom(self, atom: Atom) -> Index:
        if isinstance(atom, Letter):
            return Index() if self.lengths[atom.name] == 1 else Index((((atom,), 1),))
        if isinstance(atom, (Quotient, Remainder)):
            of, by = self.normal(atom.of), atom.by.number
            assert by is not None, "divisors are known once the shapes are"
            quotient = self._quotient(of, by)
            return quotient if isinstance(atom, Quotient) else of - quotient * by
        assert isinstance(atom, Read), "sizes and given numbers are settled when a row is bound"
        return Index((((Read(atom.array, (self.at(atom.array, atom.at),)),), 1),))

    def _quotient(self, of: Index, by: int) -> Index:
        if by == 1:
            return of
        whole = Index(tuple((atoms, f // by) for atoms, f in of.parts if f % by == 0))
        left = Index(tuple((atoms, f) for atoms, f in of.parts if f % by))
        if len(left.parts) == 1 and left.parts[0][1] == 1 and len(left.parts[0][0]) == 1:
            only = left.parts[0][0][0]
            if isinstance(only, Quotient):
                inner = only.by.number
                assert inner is not None
                return whole + self._quotient(only.of, inner * by)
        reach = self.reach(left)
        if reach is not None and reach[0] // by == reach[1] // by:
            return whole + reach[0] // by
        return whole + Index((((Quotient(left, as_index(by)),), 1),))

    def reach(self, index: Index) -> tuple[int, int] | None:
        """The least and the largest it can be; None where that is not known."""
        found = index.affine
        if found is None:
            return None
        low = high = found[1]
        for name, step in found[0].items():
            ends = (0, step * (self.lengths[name] - 1))
            low, high = low + min(ends), high + max(ends)
        return low, high
