"""Reading files of functions on tensors: bytes back into programs, every one of them doubted.

Rows are bound anew by the law from their names, shapes and arguments. Whole numbers that pick
places are held to the axes they pick from, so that nothing behind this needs to doubt them.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod
from struct import unpack_from
from typing import Any

import numpy as np

from ..._shared.bound import Bound, bound
from ..._values.nests import flatten, take_apart
from ...errors import ArgumentError, ProgramError
from ...ops.array import ARRAYS
from ...ops.arrays.places import At
from ...ops.arrays.row import Composed
from ...ops.index import Read, atoms, indices
from ...tensor import Tensor
from ...value import Value
from ..reader import Reader
from ..traces import outline, shared_length
from .arguments import INDICES, SETTING, TENSOR, Taken
from .program import (
    ARGUMENT,
    CAPTURED,
    CONSTANT,
    Fixed,
    Given,
    Guard,
    Input,
    Instruction,
    Looked,
    Program,
    Shape,
    Whole,
    check,
)
from .traces import Family, Trace
from .writer import (
    DOTS,
    FALSE,
    FIXED,
    FLOAT,
    FOUND,
    GIVEN,
    INPUTS,
    KINDS,
    LIST,
    NONE,
    PLACES,
    SHARES_MARK,
    SLICE,
    TEXT,
    TRUE,
    TUPLE,
    WHOLE,
    Leaf,
    StoredTensors,
)

DEEPEST_TOLD = 8
"""Levels of what a row is told."""
MOST_GRADIENTS = 8
"""Gradients of gradients."""


class TensorReader(Reader):
    """Reads the body of a file of version 3."""

    def run(self) -> StoredTensors:
        """The function."""
        name = self.shown("the function's name")
        self._sites()
        signature = self._signature()
        kinds = ("", TENSOR, INDICES)
        wanted = {it: kinds[self.byte("an annotation", 2)] for it in signature.parameters}
        self._parameters()
        self.rows: list[Bound] = []
        for _ in range(self.several("rows")):
            self.rows.append(self._row())
        self.names = list(signature.parameters)
        families: dict[object, Family] = {}
        for _ in range(self.several("families", least=1)):
            began = self.at
            family = self._tensor_family()
            assert family.arguments is not None
            if family.arguments.key in families:
                raise self.refuse("there are two families for the same arguments", began)
            families[family.arguments.key] = family
        if self.at != len(self.body):
            raise self.refuse("there is more behind the last family")
        found = {name: kind for name, kind in wanted.items() if kind}
        return StoredTensors(name, signature, found, self.parameters, list(families.values()))

    # ---- arrays ----------------------------------------------------------------------------------

    def _numbers(self, kind: str, what: str) -> Any:
        """An array with its shape in front."""
        began, shape = self.at, self._axes()
        size = prod(shape)
        if 8 * size > len(self.body) - self.at:
            raise self.refuse(f"{what} has more numbers than the file has bytes for", began)
        self.at += 8 * size
        found = np.frombuffer(self.body, kind, size, self.at - 8 * size).reshape(shape)
        made = found.astype(np.float64 if kind == "<f8" else np.int64)
        made.flags.writeable = False
        return made

    def _parameters(self) -> None:
        for _ in range(self.several("parameters")):
            began = self.at
            name = self.shown("the name of a parameter")
            if not name or name in self.parameters:
                raise self.refuse(f"two parameters are named {name!r}, or one has no name", began)
            takes = bool(self.byte("whether a parameter takes gradients", 1))
            data = self._numbers("<f8", "a parameter")
            make: Any = Tensor if data.ndim else Value
            leaf = make(data if data.ndim else float(data), label=name, requires_grad=takes)
            self.parameters[name] = leaf
            self.captured.append((name, leaf))

    # ---- rows of the law -------------------------------------------------------------------------

    def _row(self) -> Bound:
        began = self.at
        name = self.text("the name of a row")
        if not name:
            return self._gradient_row(began)
        if name not in ARRAYS or isinstance(ARRAYS[name], Composed):
            raise self.refuse(f"there is no row {name[:40]!r}", began)
        shapes = [self._axes() for _ in range(self.several("operands", least=1))]
        wholes: dict[str, Shape] = {}
        for _ in range(self.several("whole numbers")):
            key = self.text("the name of whole numbers")
            wholes[key] = self._axes()
        arguments: dict[str, Any] = {}
        for _ in range(self.several("what a row is told")):
            key = self.text("the name of what a row is told")
            arguments[key] = self._told(0)
        try:
            row = bound(name, shapes, wholes, **arguments)
            sound = set(row.wholes) == set(wholes) and len(row.operands) == len(shapes)
            sound = sound and all(isinstance(n, int) and n >= 0 for n in row.shape)
            size = prod(row.shape)
        except Exception as error:  # whatever the law says to nonsense
            raise self.refuse(f"a row does not fit its shapes: {error}"[:200], began) from None
        if not sound or size >= 2**31 or len(row.shape) > 16:
            raise self.refuse(f"a row {name!r} that cannot be", began)
        return row

    def _gradient_row(self, began: int) -> Bound:
        """A row that makes a gradient of one before it."""
        number, operand = self.count("whose gradient"), self.text("the name of an operand")
        part = self.count("which part of a gradient")
        if number >= len(self.rows) or operand not in self.rows[number].operands:
            raise self.refuse(f"a row makes a gradient of row {number}, which is not there", began)
        parent = self.rows[number]
        if parent.name.count("'") >= MOST_GRADIENTS:
            raise self.refuse("a row makes a gradient of gradients too deep", began)
        try:
            back = parent.adjoint(operand)
        except ValueError as error:  # a slope that the law does not state
            raise self.refuse(str(error)[:200], began) from None
        if back is None or part >= len(back.parts):
            raise self.refuse(f"{parent.name} has no such gradient", began)
        row = back.parts[part]
        if prod(row.shape) >= 2**31 or len(row.shape) > 16:
            raise self.refuse(f"a row {row.name!r} that cannot be", began)
        return row

    def _told(self, depth: int) -> Any:
        tag = self.byte("what a row is told", PLACES)
        if tag in (NONE, FALSE, TRUE):
            return (None, False, True)[tag]
        if tag == WHOLE:
            if len(self.body) - self.at < 8:
                raise self.refuse("the file ends inside a whole number")
            self.at += 8
            found = unpack_from("<q", self.body, self.at - 8)[0]
            if abs(found) >= 2**31:
                raise self.refuse(f"a row is told {found}")
            return found
        if tag == FLOAT:
            return self.number("what a row is told")
        if tag == TEXT:
            return self.text("what a row is told")
        if tag == DOTS:
            return ...
        if tag == PLACES:
            return At(self.text("the name of places"), self._axes())
        if depth == DEEPEST_TOLD:
            raise self.refuse("what a row is told is too deep")
        if tag == SLICE:
            return slice(*(self._told(depth + 1) for _ in range(3)))
        assert tag in (TUPLE, LIST)
        parts = [self._told(depth + 1) for _ in range(self.several("parts"))]
        return tuple(parts) if tag == TUPLE else parts

    # ---- families and their traces ---------------------------------------------------------------

    def _result(self, depth: int) -> Any:
        found = super()._result(depth)
        return self._leaf() if self.in_arguments and isinstance(found, float) else found

    def _leaf(self) -> Leaf:
        tag = self.byte("the kind of a leaf", 2 * SHARES_MARK - 1)
        kind, varies = KINDS[tag % SHARES_MARK], tag >= SHARES_MARK
        if kind != SETTING:
            return Leaf(kind, varies, self._axes(), None)
        setting = self._told(DEEPEST_TOLD)
        if varies or not (setting is None or isinstance(setting, str)):
            raise self.refuse("a setting is None or text")
        return Leaf(kind, False, (), setting)

    in_arguments = False

    def _tensor_family(self) -> Family:
        began = self.at
        self.in_arguments = True
        nests: dict[str, Any] = {}
        for _ in range(self.several("arguments of a family")):
            number = self.count("an argument")
            if number >= len(self.names) or self.names[number] in nests:
                raise self.refuse(f"argument {number} is not there, or there twice", began)
            nests[self.names[number]] = self._result(0)
        self.in_arguments = False
        taken = _taken(nests)
        nest = self._result(0)
        try:
            results = outline(take_apart(nest, "the result"))
        except ArgumentError as error:
            raise self.refuse(str(error), began) from None
        traces = [
            self._tensor_trace(taken, results) for _ in range(self.several("traces", least=1))
        ]
        for one, other in pairwise(sorted(trace.path for trace in traces)):
            if shared_length(one, other) == len(one):
                raise self.refuse("the path of a trace is the beginning of another's", began)
        shapes = {tuple(it.program.shapes[n] for n in it.program.outputs) for it in traces}
        if len(shapes) != 1 and taken.rows is not None:
            raise self.refuse("rows come to results of different shapes", began)
        return Family(traces, None, taken)

    def _tensor_trace(self, taken: Taken, results: Any) -> Trace:
        began = self.at
        program = Program(sites=list(self.sites))
        captured: dict[int, Any] = {}
        seen: set[int] = set()
        for index in range(self.several("inputs of a trace")):
            kind = INPUTS[self.byte("an input", len(INPUTS) - 1)]
            made, shape = self._tensor_input(kind, taken, captured, seen)
            program.inputs[index] = made
            program.shapes.append(shape)
        first = len(program.shapes)
        program.wholes = [self._whole(taken) for _ in range(self.several("whole numbers"))]
        for index in range(self.several("instructions")):
            each = self._one(first + index, program)
            program.instructions.append(each)
            program.shapes.append(tuple(each.row.shape))
        for _ in range(self.several("guards")):
            asked, outcome = divmod(self.count("a guard"), 2)
            if asked >= len(program.shapes) or program.shapes[asked] != ():
                raise self.refuse(f"a guard looks at %{asked}, which is no number", began)
            site = self._site()
            where = self.sites[site] if site >= 0 else None
            program.guards.append(Guard(asked, bool(outcome), where))
        program.outputs = [self.count("a result") for _ in results.items]
        try:
            check(program, "reading")
        except ProgramError as error:
            raise self.refuse(str(error), began) from None
        return Trace(program, list(captured.values()), results, len(taken.leaves))

    def _tensor_input(
        self, kind: str, taken: Taken, captured: dict[int, Any], seen: set[int]
    ) -> tuple[Input, Shape]:
        if kind == CONSTANT:
            data = self._numbers("<f8", "a constant")
            return Input(CONSTANT, "", -1, data), data.shape
        began = self.at
        number = self.count("the number of an input")
        if kind == ARGUMENT:
            if number >= len(taken.leaves) or number in seen:
                raise self.refuse(f"argument {number} is not there, or there twice", began)
            if taken.kinds[number] in (INDICES, SETTING):
                raise self.refuse(f"argument {number} has no numbers to compute with", began)
            seen.add(number)
            shape = tuple(taken.leaves[number].shape[taken.varies[number] :])
            return Input(ARGUMENT, taken.places()[number], number), shape
        if number >= len(self.captured) or number in captured:
            raise self.refuse(f"parameter {number} is not there, or there twice", began)
        name, leaf = self.captured[number]
        captured[number] = leaf
        return Input(CAPTURED, name, len(captured) - 1), tuple(leaf.shape)

    def _whole(self, taken: Taken) -> Whole:
        tag = self.byte("whole numbers", FOUND)
        if tag == FIXED:
            return Fixed(self._numbers("<i8", "whole numbers"))
        began = self.at
        if tag == GIVEN:
            argument, length = self.count("an argument"), self.count("the length of an axis")
            at = self._numbers("<i8", "places")
            if argument >= len(taken.leaves) or taken.kinds[argument] != INDICES:
                raise self.refuse(f"argument {argument} is no whole numbers", began)
            size = prod(taken.leaves[argument].shape[taken.varies[argument] :])
            if at.size and (at.min() < 0 or at.max() >= size):
                raise self.refuse("places are outside their argument", began)
            return Given(argument, at, length)
        result, name = self.count("an instruction"), self.text("the name of whole numbers")
        return Looked(result, name, self._axes())

    def _one(self, index: int, program: Program) -> Instruction:
        """One instruction; operands are told by how far back they are, so they are there."""
        began = self.at
        number = self.count("the row of an instruction")
        if number >= len(self.rows):
            raise self.refuse(f"row {number} is not in the table", began)
        row = self.rows[number]
        operands = []
        for _ in row.operands:
            back = self.count("an operand")
            if not 0 < back <= index:
                raise self.refuse(f"an operand of %{index} is {back} back", began)
            operands.append(index - back)
        wholes: dict[str, int] = {}
        for _ in range(self.several("whole numbers of an instruction")):
            name, which = self.text("the name of whole numbers"), self.count("whole numbers")
            if which >= len(program.wholes) or name in wholes:
                raise self.refuse(f"whole numbers {which} are not there, or there twice", began)
            wholes[name] = which
        takes = bool(self.byte("whether a gradient passes", 1))
        try:
            _check_wholes(row, index, {n: program.wholes[it] for n, it in wholes.items()}, program)
        except ValueError as error:
            raise self.refuse(f"%{index}: {error}", began) from None
        return Instruction(row, index, tuple(operands), tuple(wholes.items()), takes, self._site())


def _taken(nests: dict[str, Any]) -> Taken:
    """The arguments of a family around arrays of their shapes, which take no memory."""
    taken = Taken(tuple(nests))
    for nest in nests.values():
        leaves, structure = flatten(nest, lambda it: isinstance(it, Leaf))
        taken.structures.append(structure)
        taken.counts.append(len(leaves))
        for leaf in leaves:
            taken.kinds.append(leaf.kind)
            taken.varies.append(leaf.varies)
            shape = (1, *leaf.shape) if leaf.varies else leaf.shape
            empty = np.broadcast_to(0.0, shape)
            taken.leaves.append(leaf.setting if leaf.kind == SETTING else empty)
            taken.rows = 1 if leaf.varies else taken.rows
    return taken


def _check_wholes(row: Bound, index: int, wholes: dict[str, Whole], program: Program) -> None:
    """Whole numbers fit the row that reads them: their shapes, and the axes they pick from."""
    found = row.found
    if set(wholes) != {*row.wholes, *found}:
        raise ValueError("other whole numbers than the row has")
    _check_shapes(row, wholes)
    limits: dict[str, int] = {}
    for name, length, _ in row.picks:
        limits[name] = min(length, limits.get(name, length))
    for name, whole in wholes.items():
        if name in found:
            if not isinstance(whole, Looked) or whole.result != index or whole.name != name:
                raise ValueError("a row finds its whole numbers itself")
            continue
        limit = limits.get(name)
        least = 0
        if limit is None:  # who writes where: -1 is nobody
            first = _first(row)
            if first.name != "put":
                raise ValueError("whole numbers that pick nothing")
            least, limit = -1, prod(first.arguments["selection"])
        if isinstance(whole, Fixed):
            numbers = whole.array
            if numbers.size and not (least <= numbers.min() and numbers.max() < limit):
                raise ValueError("whole numbers are out of bounds")
        elif isinstance(whole, Looked):
            if least or _reach(whole, program) > limit:
                raise ValueError("whole numbers of an instruction pick from a shorter axis")
        elif not isinstance(whole, Given) or least or whole.length != limit:
            raise ValueError("whole numbers of an argument pick from another axis")


def _first(row: Bound) -> Bound:
    """The row that a gradient goes back to."""
    while row.origin is not None:
        row = row.origin[0]
    return row


def _reach(whole: Looked, program: Program) -> int:
    """Below what the numbers are that an earlier instruction finds, of which there are as many."""
    place = whole.result - len(program.inputs)
    if not 0 <= place < len(program.instructions):
        raise ValueError("nothing before finds its whole numbers")
    finder = program.instructions[place]
    own = {name: program.wholes[number] for name, number in finder.wholes}.get(whole.name)
    if whole.name not in finder.row.found or own is None:
        raise ValueError("nothing before finds its whole numbers")
    if prod(own.shape) != prod(whole.shape):
        raise ValueError("whole numbers are more or fewer than an instruction finds")
    return finder.row.reach(whole.name)


def _check_shapes(row: Bound, wholes: dict[str, Whole]) -> None:
    """Whole numbers have the shapes that the row finds, and reach as far as it reads."""
    given = dict(zip(row.operands, row.shapes))
    for it in row.chosen:
        shape = given[it.array]
        if it.by != "argsort":
            shape = tuple(n for axis, n in enumerate(shape) if axis not in it.axes)
        if any(tuple(wholes[name].shape) != shape for name in it.names):
            raise ValueError("whole numbers of another shape than the row finds")
    for name in row.implicit.wholes if row.implicit is not None else ():
        if tuple(wholes[name].shape) != tuple(row.shape[:-1]):
            raise ValueError("whole numbers of another shape than the row finds")
    for term in row.statement.terms:
        lengths = dict(term.loops)
        for index in indices(term):
            for atom in atoms(index):
                if isinstance(atom, Read):
                    _check_read(tuple(wholes[atom.array].shape), atom, lengths)


def _check_read(shape: Shape, read: Read, lengths: dict[str, int]) -> None:
    if len(shape) != len(read.at):
        raise ValueError("whole numbers have another number of axes than the row reads")
    if 0 in lengths.values():
        return
    for length, index in zip(shape, read.at):
        if index.affine is None:
            raise ValueError("whole numbers are read where others say")
        factors, constant = index.affine
        ends = [factor * (lengths[name] - 1) for name, factor in factors.items()]
        least = constant + sum(min(0, end) for end in ends)
        most = constant + sum(max(0, end) for end in ends)
        if least < 0 or most >= length:
            raise ValueError("whole numbers are read past their end")
