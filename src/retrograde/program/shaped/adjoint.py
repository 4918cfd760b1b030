"""A program and its gradient: the one adjoint rule of the array law, instruction by instruction.

What comes out is a program like any other, so second derivatives are the same once more. A gradient
passes where an instruction takes one; what is reached by several ways is added up in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._shared.bound import Bound, bound
from ...errors import NotDifferentiable
from ...ops.array import ARRAYS
from ...ops.arrays.row import Composed
from .program import Builder, Instruction, Looked, Program, Shape, check


def with_gradients(
    program: Program, root: int, wrt: Sequence[int], seed: int | None = None
) -> tuple[Program, list[int]]:
    """The program with the gradients of one of its values, and their ids.

    ``seed`` is the id of the upstream of ``root``, 1 unless told otherwise.
    """
    made = program.copy()
    build = Builder(made)
    pull = _Pull(build, _reaching(program, wrt))
    shape = made.shapes[root]
    pull.arrived[root] = build.constant(np.ones(shape)) if seed is None else seed
    for each in reversed(program.instructions):
        if each.result in pull.arrived and each.takes:
            pull.hand_on(each)
    found = []
    for number in wrt:
        arrived = pull.arrived.get(number)
        found.append(build.constant(np.zeros(made.shapes[number])) if arrived is None else arrived)
    return check(made, "the adjoint"), found


def _reaching(program: Program, wrt: Sequence[int]) -> set[int]:
    """The ids through which a gradient gets to what is asked for."""
    found = set(wrt)
    for each in program.instructions:
        if each.takes and not found.isdisjoint(each.operands):
            found.add(each.result)
    return found


class _Pull:
    """The way back: what has arrived at each id."""

    def __init__(self, build: Builder, reaching: set[int]) -> None:
        self.build, self.reaching = build, reaching
        self.arrived: dict[int, int] = {}

    def hand_on(self, each: Instruction) -> None:
        """The contributions of one instruction to its operands."""
        build, row = self.build, each.row
        build.site = each.site
        upstream = self.arrived[each.result]
        known = dict(zip(row.operands, each.operands))
        wholes = dict(each.wholes)
        taking = [n for n in range(len(row.operands)) if each.operands[n] in self.reaching]
        if row.implicit is not None and taking:
            engine = Emitting(build)
            operands = {name: Ref(build.program, number) for name, number in known.items()}
            undone = row.undone(
                engine, Ref(build.program, upstream), Ref(build.program, each.result), operands
            )
            upstream = undone.number
        for place in taking:
            try:
                back = row.adjoint(row.operands[place])
            except ValueError:
                site = build.program.sites[each.site] if each.site >= 0 else None
                raise NotDifferentiable.recorded(row.name, "inputs", site) from None
            if back is None:
                continue
            have = {**known, back.own: each.result, back.upstream: upstream}
            for name, other in back.others:
                have[name] = self._made(other, have, wholes)
            self._add(each.operands[place], self._made(back.bound, have, wholes))

    def _made(self, row: Bound, have: Mapping[str, int], wholes: Mapping[str, int]) -> int:
        return self.build.add(
            row,
            [have[name] for name in row.operands],
            [(name, wholes[name]) for name in row.statement.wholes],
        )

    def _add(self, number: int, contribution: int) -> None:
        before = self.arrived.get(number)
        if before is not None:
            shape = self.build.program.shapes[number]
            contribution = self.build.add(bound("add", (shape, shape)), (before, contribution))
        self.arrived[number] = contribution


class Ref:
    """An id of a program where the law wants something with a shape."""

    __slots__ = ("number", "shape")

    def __init__(self, program: Program, number: int) -> None:
        self.number, self.shape = number, program.shapes[number]


class Emitting:
    """Carries out rows by adding them to a program: what adjoint systems of the law run on."""

    def __init__(self, build: Builder) -> None:
        self.build = build

    def __call__(self, name: str, *operands: Any, **arguments: Any) -> Any:
        """One row, as an instruction."""
        row = ARRAYS[name]
        given = [self._ref(it) for it in operands]
        if isinstance(row, Composed):
            return row.make(self, *given, **arguments)
        made = bound(name, [it.shape for it in given], **arguments)
        result = len(self.build.program.shapes)
        found = made.implicit.wholes if made.implicit is not None else ()
        wholes = [(w, self.build.whole(Looked(result, w, made.shape[:-1]))) for w in found]
        number = self.build.add(made, [it.number for it in given], wholes)
        return Ref(self.build.program, number)

    def _ref(self, it: Any) -> Ref:
        return it if isinstance(it, Ref) else Ref(self.build.program, self.build.constant(it))

    def shape(self, it: Any) -> Shape:
        """The shape of an operand."""
        return self._ref(it).shape

    def fill(self, shape: Shape, number: float) -> Any:
        """An array of one number."""
        return self._ref(np.full(shape, float(number)))

    def stop(self, it: Any) -> Any:
        """The same numbers, through which no gradient passes."""
        ref = self._ref(it)
        row = bound("reshape", (ref.shape,), shape=ref.shape)
        return Ref(self.build.program, self.build.add(row, (ref.number,), (), False))
