"""A program for one row → the same for many: one more axis in front of all that depends on rows.

What differs from row to row gets the letter of the rows (``ops/arrays/rowwise.py``), what is the
same for all does not, so it is computed once, and its gradient is summed over the rows by the one
adjoint rule.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

import numpy as np

from ..._shared.bound import Bound, bound
from ...ops.arrays.rowwise import over_rows as lifted
from .program import (
    ARGUMENT,
    Builder,
    Given,
    Guard,
    Instruction,
    Looked,
    Program,
    Shape,
    Whole,
    check,
)

KEPT = 4096
"""How many rows of the law over rows are kept."""

_kept: dict[tuple[object, ...], tuple[Bound, Bound]] = {}


def over_rows(
    program: Program, count: int, varying: Mapping[int, int], spread: Collection[int] = ()
) -> tuple[Program, dict[int, int]]:
    """A program over rows, and its ids by those of ``program``.

    ``varying`` are the arguments, by number, that have an entry a row, numbers and whole numbers
    alike, with how many there are in one. ``spread`` are inputs, by id, that are the same in all
    rows and count as each row's own: their gradients come a row. Outputs have an axis of rows in
    any case.
    """
    return _Widening(program, count, varying, set(spread)).made()


class _Widening:
    """One program on its way: what its ids and whole numbers have become."""

    def __init__(
        self, program: Program, count: int, varying: Mapping[int, int], spread: set[int]
    ) -> None:
        self.program, self.count, self.varying, self.spread = program, count, varying, spread
        self.build = Builder(Program(sites=list(program.sites)))
        self.ids: dict[int, int] = {}
        self.differ: set[int] = set()
        self.wholes: dict[int, tuple[int, bool]] = {}

    def made(self) -> tuple[Program, dict[int, int]]:
        """The program over rows."""
        for number, given in self.program.inputs.items():
            shape = self.program.shapes[number]
            differs = given.kind == ARGUMENT and given.number in self.varying
            if differs:
                self.differ.add(number)
            made = self.build.input(given, (self.count, *shape) if differs else shape)
            self.ids[number] = made
        for number in sorted(self.spread):
            self._spread(number)
        for each in self.program.instructions:
            self._instruction(each)
        wide = self.build.program
        for root in self.program.roots:
            if root not in self.differ:
                self._spread(root)
        wide.outputs = [self.ids[number] for number in self.program.outputs]
        wide.guards = [Guard(self.ids[it.value], it.outcome, it.site) for it in self.program.guards]
        return check(wide, "rows"), self.ids

    def _spread(self, number: int) -> None:
        """The same numbers in every row."""
        shape = self.program.shapes[number]
        row = bound("broadcast_to", (shape,), shape=(self.count, *shape))
        self.ids[number] = self.build.add(row, (self.ids[number],))
        self.differ.add(number)

    def _instruction(self, each: Instruction) -> None:
        build, row = self.build, each.row
        build.site = each.site
        result = len(build.program.shapes)
        differing = [row.operands[n] for n, it in enumerate(each.operands) if it in self.differ]
        found = []
        for name, number in each.wholes:
            whole = self.program.wholes[number]
            own = isinstance(whole, Looked) and whole.result == each.result
            if not own:
                made, differs = self._whole(number, whole)
                found.append((name, made))
                if differs:
                    differing.append(name)
        operands = [self.ids[number] for number in each.operands]
        if differing and row.implicit is not None:
            row, operands = self._equation(row, operands, differing)
            result = len(build.program.shapes)
        elif differing:
            row = _over(row, tuple(differing), self.count)
        if differing:
            self.differ.add(each.result)
        for name, number in each.wholes:  # those that the row finds itself
            whole = self.program.wholes[number]
            if isinstance(whole, Looked) and whole.result == each.result:
                shape = (self.count, *whole.shape) if differing else whole.shape
                made = build.whole(Looked(result, name, shape))
                self.wholes[number] = made, bool(differing)
                found.append((name, made))
        order = {name: place for place, (name, _) in enumerate(each.wholes)}
        found.sort(key=lambda it: order[it[0]])
        self.ids[each.result] = build.add(row, operands, found, each.takes)

    def _whole(self, number: int, whole: Whole) -> tuple[int, bool]:
        """Whole numbers in the new table, and whether they differ from row to row."""
        if number not in self.wholes:
            if isinstance(whole, Looked):
                differs = whole.result in self.differ
                shape = (self.count, *whole.shape) if differs else whole.shape
                whole = Looked(self.ids[whole.result], whole.name, shape)
            else:
                differs = isinstance(whole, Given) and whole.argument in self.varying
                whole = self._of_rows(whole) if isinstance(whole, Given) and differs else whole
            self.wholes[number] = self.build.whole(whole), differs
        return self.wholes[number]

    def _of_rows(self, whole: Given) -> Given:
        """Whole numbers of an argument that has an entry a row."""
        size = self.varying[whole.argument]
        begins = np.arange(self.count).reshape(-1, *(1,) * whole.at.ndim) * size
        return Given(whole.argument, whole.at + begins, whole.length)

    def _equation(
        self, row: Bound, operands: list[int], differing: Sequence[str]
    ) -> tuple[Bound, list[int]]:
        """A row known by an equation is one on stacks of matrices, aligned at their last axes."""
        axes = max(map(len, row.shapes))
        made: list[int] = []
        shapes: list[Shape] = []
        for name, shape, number in zip(row.operands, row.shapes, operands):
            if name in differing and len(shape) < axes:
                wide = (self.count, *(1,) * (axes - len(shape)), *shape)
                given = (self.count, *shape)
                number = self.build.add(bound("reshape", (given,), shape=wide), (number,))
            made.append(number)
            shapes.append(self.build.program.shapes[number])
        return bound(row.name, shapes), made


def _over(row: Bound, differing: tuple[str, ...], count: int) -> Bound:
    """A row of the law over rows of data; kept, so that equal ones are one object."""
    key = (id(row), differing, count)
    known = _kept.get(key)
    if known is None:
        if len(_kept) >= KEPT:
            _kept.clear()
        statement = lifted(row.statement, differing, count)
        shapes = [
            (count, *shape) if name in differing else shape
            for name, shape in zip(row.operands, row.shapes)
        ]
        wide = Bound(row.name, statement, row.operands, shapes, arguments=row.arguments)
        known = _kept[key] = row, wide  # the first keeps its id from going to another
    return known[1]


def numbers_of(program: Program, varying: Collection[int]) -> int:
    """How many numbers the instructions that depend on rows make, for one row."""
    differ = {
        number
        for number, given in program.inputs.items()
        if given.kind == ARGUMENT and given.number in varying
    }
    total = 0
    for each in program.instructions:
        wholes = [program.wholes[number] for _, number in each.wholes]
        if not differ.isdisjoint(each.operands) or any(
            (isinstance(it, Given) and it.argument in varying)
            or (isinstance(it, Looked) and it.result in differ)
            for it in wholes
        ):
            differ.add(each.result)
            total += prod(each.row.shape)
    return total
