"""A function on tensors as bytes: version 3 of docs/file-format.md.

Rows of the law go by their names, shapes and arguments; what they mean is the law's. The small
parts, nests and tables are those of all program files (``program/writer.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import Signature
from struct import pack
from typing import Any

import numpy as np

from ..._shared.bound import Bound, bound
from ...ops.arrays.places import At
from ..writer import Writer
from .arguments import INDICES, NUMBER, SETTING, TENSOR, Taken
from .program import ARGUMENT, CAPTURED, CONSTANT, Fixed, Given, Instruction, Program, Whole
from .traces import Family, Trace

KINDS = (TENSOR, NUMBER, INDICES, SETTING)
"""What a leaf of an argument is, by its tag."""
INPUTS = (ARGUMENT, CAPTURED, CONSTANT)
"""What an input is, by its tag."""
FIXED, GIVEN, FOUND = range(3)
"""Tags of whole numbers."""
NONE, FALSE, TRUE, WHOLE, FLOAT, TEXT, TUPLE, LIST, SLICE, DOTS, PLACES = range(11)
"""Tags of what a row is told besides its operands."""
SHARES_MARK = 4
"""Bit of a leaf's tag: it has an entry a row."""


@dataclass
class StoredTensors:
    """What a file of a function on tensors holds; ``wanted`` are the annotations."""

    name: str
    signature: Signature
    wanted: dict[str, str]
    parameters: dict[str, Any]
    families: list[Family]


class Leaf:
    """Stands for a leaf in the nest of an argument."""

    def __init__(self, kind: str, varies: bool, shape: tuple[int, ...], setting: Any) -> None:
        self.kind, self.varies, self.shape, self.setting = kind, varies, shape, setting


def encoded(stored: StoredTensors) -> bytes:
    """The body of a file."""
    return TensorWriter(stored).run()


class TensorWriter(Writer):
    """Writes one function on tensors."""

    stored: StoredTensors

    def __init__(self, stored: StoredTensors) -> None:
        super().__init__(stored)
        self.rows: dict[int, int] = {}
        self.made_of: list[tuple[Bound, Mapping[str, tuple[int, ...]]]] = []

    def _head(self) -> None:
        """Name, sites, arguments, parameters, rows."""
        stored = self.stored
        rows = self._part(self._all_rows)
        self.body = bytearray()
        self.shown(stored.name)
        self._all_sites()
        self._signature(list(stored.signature.parameters.values()))
        for name in stored.signature.parameters:
            self.byte(("", TENSOR, INDICES).index(stored.wanted.get(name, "")))
        self.count(len(stored.parameters))
        for name, leaf in stored.parameters.items():
            self.shown(name)
            self.byte(leaf.requires_grad)
            self.array(np.asarray(leaf.data))
        self.body += rows

    def array(self, numbers: Any) -> None:
        """Numbers with their shape."""
        self._axes(numbers.shape)
        self.body += np.ascontiguousarray(numbers, dtype="<f8").tobytes()

    def wholes(self, numbers: Any) -> None:
        """Whole numbers with their shape."""
        self._axes(numbers.shape)
        self.body += np.ascontiguousarray(numbers, dtype="<i8").tobytes()

    # ---- rows of the law -------------------------------------------------------------------------

    def _all_rows(self) -> None:
        self.count(len(self.made_of))
        for row, wholes in self.made_of:
            if row.origin is not None:
                parent, operand, part = row.origin
                self.text("")
                self.count(self.rows[id(parent)])
                self.text(operand)
                self.count(part)
                continue
            self.text(row.name)
            self.count(len(row.shapes))
            for shape in row.shapes:
                self._axes(shape)
            self.count(len(wholes))
            for name, shape in wholes.items():
                self.text(name)
                self._axes(shape)
            self.count(len(row.arguments))
            for name, told in row.arguments.items():
                self.text(name)
                self.told(told)

    def told(self, it: Any) -> None:
        """An argument of a row."""
        if it is None or it is False or it is True:
            self.byte((None, False, True).index(it))
        elif isinstance(it, At):
            self.byte(PLACES)
            self.text(it[0])
            self._axes(it[1])
        elif isinstance(it, (tuple, list)):
            self.byte(TUPLE if isinstance(it, tuple) else LIST)
            self.count(len(it))
            for part in it:
                self.told(part)
        elif isinstance(it, slice):
            self.byte(SLICE)
            for part in (it.start, it.stop, it.step):
                self.told(part)
        elif it is ...:
            self.byte(DOTS)
        elif isinstance(it, (int, np.integer)):
            self.byte(WHOLE)
            self.body += pack("<q", int(it))
        elif isinstance(it, float):
            self.byte(FLOAT)
            self.number(it)
        elif isinstance(it, str):
            self.byte(TEXT)
            self.text(it)
        else:
            raise self.refuse(f"an op was told {it!r}, which a file does not hold")

    def _row(self, each: Instruction, program: Program) -> int:
        """The number of an instruction's row in the table."""
        given = dict(each.wholes)
        wholes = {name: tuple(program.wholes[given[name]].shape) for name in each.row.wholes}
        return self._numbered(each.row, wholes)

    def _numbered(self, row: Bound, wholes: Mapping[str, tuple[int, ...]]) -> int:
        """The number of a row in the table; whose gradient it makes stands before it."""
        if id(row) not in self.rows and row.origin is not None:
            parent = row.origin[0]
            self._numbered(parent, parent.whole_shapes)
        elif id(row) not in self.rows:
            try:
                same = bound(row.name, row.shapes, wholes, **row.arguments)
            except (KeyError, ValueError, IndexError, TypeError):
                same = None
            if same is None or same.statement != row.statement:
                raise self.refuse(f"a file holds no rule of {row.name}")
        if id(row) not in self.rows:
            self.rows[id(row)] = len(self.made_of)
            self.made_of.append((row, wholes))
        return self.rows[id(row)]

    # ---- families and their traces ---------------------------------------------------------------

    def _families(self) -> None:
        self.count(len(self.stored.families))
        for family in self.stored.families:
            assert family.arguments is not None
            self._arguments(family.arguments)
            outline = family.traces[0].outputs
            self._result(outline.filled([0.0] * len(outline.items)))
            self.count(len(family.traces))
            for trace in family.traces:
                self._tensor_trace(trace)

    def _arguments(self, taken: Taken) -> None:
        leaves = [
            Leaf(kind, varies, () if kind == SETTING else np.shape(leaf)[varies:], leaf)
            for kind, varies, leaf in zip(taken.kinds, taken.varies, taken.leaves)
        ]
        names = list(self.stored.signature.parameters)
        self.count(len(taken.names))
        for name, nest in taken.filled(leaves).items():
            self.count(names.index(name))
            self._result(nest)

    def _result(self, nest: Any, depth: int = 0) -> None:
        """A nest of results, or of leaves of an argument."""
        if not isinstance(nest, Leaf):
            return super()._result(nest, depth)
        self.byte(0)
        self.byte(KINDS.index(nest.kind) + SHARES_MARK * nest.varies)
        if nest.kind == SETTING:
            self.told(nest.setting)
        else:
            self._axes(tuple(nest.shape))
        return None

    def _tensor_trace(self, trace: Trace) -> None:
        program = trace.program
        ids = {number: place for place, number in enumerate(program.inputs)}
        self.count(len(program.inputs))
        for given in program.inputs.values():
            self.byte(INPUTS.index(given.kind))
            if given.kind == ARGUMENT:
                self.count(given.number)
            elif given.kind == CAPTURED:
                self.count(self.numbers[id(trace.captured[given.number])])
            else:
                self.array(given.data)
        for each in program.instructions:  # inputs come first in a file
            ids[each.result] = len(ids)
        self.count(len(program.wholes))
        for whole in program.wholes:
            self._whole(whole, ids)
        self.count(len(program.instructions))
        for each in program.instructions:
            self.count(self._row(each, program))
            for operand in each.operands:
                self.count(ids[each.result] - ids[operand])
            self.count(len(each.wholes))
            for name, number in each.wholes:
                self.text(name)
                self.count(number)
            self.byte(each.takes)
            self._place(program.sites[each.site] if each.site >= 0 else None)
        self.count(len(program.guards))
        for guard in program.guards:
            self.count(2 * ids[guard.value] + guard.outcome)
            self._place(guard.site, decides=True)
        for output in program.outputs:
            self.count(ids[output])

    def _whole(self, whole: Whole, ids: dict[int, int]) -> None:
        if isinstance(whole, Fixed):
            self.byte(FIXED)
            self.wholes(whole.array)
        elif isinstance(whole, Given):
            self.byte(GIVEN)
            self.count(whole.argument)
            self.count(whole.length)
            self.wholes(whole.at)
        else:
            self.byte(FOUND)
            self.count(ids[whole.result])
            self.text(whole.name)
            self._axes(whole.shape)
