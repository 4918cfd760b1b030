"""Reading program files: bytes back into traces, every one of them doubted.

Nothing is executed, and nothing is allocated that the bytes at hand do not account for: every
count is of things that take at least a byte each. What comes out is what a recording could have
made; everything else is refused with its place.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from itertools import pairwise
from keyword import iskeyword
from math import prod
from struct import unpack_from
from typing import TYPE_CHECKING, Any

import numpy as np

from .._shared.sites import Site, StoredSite
from .._values.nests import Nest, as_array, take_apart
from ..errors import ArgumentError, ProgramError
from ..value import Value
from . import shapes
from .checker import check, check_rolled
from .histories import History
from .loops import Item, Loop, Rolled, operands_of
from .numbering import roll
from .program import CAPTURED, CONSTANT, INSTRUCTIONS, Guard, Input, Instruction, Program
from .record import MOST_OPERATIONS
from .rows import RESERVED_IN_FILES
from .scanner import Scanner
from .shapes import (
    Entries,
    Items,
    Rows,
    Shape,
    UniformArray,
    inputs_of,
    numbers_in,
)
from .traces import Family, Trace, collector_paused, outline, shared_length
from .writer import (
    ARRAY,
    DEEPEST,
    DICT,
    ENTRIES,
    FALSE,
    KINDS,
    LIST,
    LOOP,
    NONE,
    NUMBER,
    NUMBER_A_ROW,
    OPS,
    SEVERAL_A_ROW,
    TEXT,
    TRUE,
    TUPLE,
    UNIFORM_ARRAY,
    WHOLE,
    WIDE,
    Stored,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

OLD_ENTRIES = ENTRIES[:4]
"""Those of version 1."""
DEEPEST_LOOP = 32
"""Levels of loops in loops."""
MOST_AXES = 16
LONGEST = 2**31 - 1
"""Of an axis, and of all axes together."""


def decoded(body: bytes, file: str, version: int, offset: int = 0) -> Stored:
    """The function that a body of a version holds; ``offset`` is where it begins in its file."""
    with collector_paused():
        found: Stored = Reader(body, file, offset, version).run()
        return found


class Reader(Scanner):
    """Reads one body; ``shaped/reader.py`` reads others with the same means."""

    def __init__(self, body: bytes, file: str, offset: int, version: int) -> None:
        super().__init__(body, file, offset)
        self.version = version
        self.ops: list[str] = []
        self.sites: list[Site] = []
        self.parameters: dict[str, Any] = {}
        self.captured: list[tuple[str, Any]] = []

    def run(self) -> Any:
        """The function."""
        name = self.shown("the function's name")
        self._ops()
        self._sites()
        signature = self._signature()
        self._parameters()
        names = list(signature.parameters)
        families: dict[tuple[Shape, ...], Family] = {}
        for _ in range(self.several("families", least=1)):
            began = self.at
            key = tuple(self._shape(0) for _ in names)
            if key in families:
                raise self.refuse("there are two families for the same arguments", began)
            families[key] = self._family(key, names)
        if self.at != len(self.body):
            raise self.refuse("there is more behind the last family")
        return Stored(name, signature, self.parameters, list(families.items()))

    # ---- the tables ------------------------------------------------------------------------------

    def _ops(self) -> None:
        for _ in range(self.several("ops")):
            began = self.at
            op = self.text("the name of an op")
            if op not in OPS:
                raise self.refuse(f"there is no op {op[:40]!r}", began)
            if op in self.ops:
                raise self.refuse(f"the op {op!r} is listed twice", began)
            self.ops.append(op)

    def _sites(self) -> None:
        for _ in range(self.several("sites")):
            file = self.shown("the file of a site")
            line = self.count("the line of a site")
            function = self.shown("the function of a site")
            self.sites.append(StoredSite.of(file, line, function, self.shown("a source line")))

    def _signature(self) -> Signature:
        found: dict[str, Parameter] = {}
        began = self.at
        for _ in range(self.several("arguments")):
            began = self.at
            name = self.text("the name of an argument")
            if not name.isidentifier() or iskeyword(name) or name in RESERVED_IN_FILES:
                raise self.refuse(f"no argument can be named {name[:40]!r}", began)
            if name in found:
                raise self.refuse(f"two arguments are named {name!r}", began)
            kind = KINDS[self.byte("the kind of an argument", len(KINDS) - 1)]
            has_default = self.byte("whether there is a default", 1)
            default = self.number("a default") if has_default else Parameter.empty
            found[name] = Parameter(name, kind, default=default)
        try:
            return Signature(list(found.values()))
        except ValueError as error:
            raise self.refuse(f"the arguments do not fit together: {error}", began) from None

    def _parameters(self) -> None:
        for _ in range(self.several("parameters")):
            began = self.at
            name = self.shown("the name of a parameter")
            if not name or name in self.parameters:
                raise self.refuse(f"two parameters are named {name!r}, or one has no name", began)
            takes_gradient = bool(self.byte("whether a parameter takes gradients", 1))
            data = self.number("a parameter")
            leaf = Value(data, label=name, requires_grad=takes_gradient)
            self.parameters[name] = leaf
            self.captured.append((name, leaf))

    # ---- nests -----------------------------------------------------------------------------------

    def _shape(self, depth: int) -> Shape:
        """The shape of an argument."""
        tag = self.byte("the shape of an argument", DICT)
        if tag == NUMBER:
            return shapes.NUMBER
        if tag == NUMBER_A_ROW:
            return shapes.ONE_A_ROW
        if tag == SEVERAL_A_ROW:
            return Rows(self._length())
        if tag == UNIFORM_ARRAY:
            return UniformArray(self._axes())
        self._check_depth(depth)
        if tag == DICT:
            entries = self._dict(depth, self._shape)
            return Entries(tuple(entries), tuple(entries.values()))
        parts = [self._shape(depth + 1) for _ in range(self.several("parts of an argument"))]
        return Items(tuple if tag == TUPLE else list, tuple(parts))

    def _result(self, depth: int) -> Any:
        """The nest of the results, with 0.0 in each place."""
        tag = self.byte("the nest of the results", ARRAY)
        if tag == NUMBER:
            return 0.0
        self._check_depth(depth)
        if tag == DICT:
            return self._dict(depth, self._result)
        if tag == ARRAY:
            began, shape = self.at, self._axes()
            if prod(shape) > len(self.body) - self.at:
                raise self.refuse("an array of more results than the file has bytes for", began)
            return as_array([self._result(depth + 1) for _ in range(prod(shape))], shape)
        if tag not in (LIST, TUPLE):
            raise self.refuse(f"{tag} is no nest of results", self.at - 1)
        parts = [self._result(depth + 1) for _ in range(self.several("results"))]
        return tuple(parts) if tag == TUPLE else parts

    def _check_depth(self, depth: int) -> None:
        if depth >= DEEPEST:
            raise self.refuse(f"a nest is deeper than {DEEPEST} levels", self.at - 1)

    def _dict(self, depth: int, part: Any) -> dict[Any, Any]:
        found = {}
        for _ in range(self.several("entries of a dict")):
            began = self.at
            key = self._key()
            if key in found:
                raise self.refuse(f"a dict has the key {key!r} twice", began)
            found[key] = part(depth + 1)
        return found

    def _key(self) -> Any:
        tag = self.byte("the key of a dict", TEXT)
        if tag in (NONE, FALSE, TRUE):
            return (None, False, True)[tag]
        if tag == TEXT:
            return self.text("the key of a dict")
        assert tag == WHOLE
        if len(self.body) - self.at < 8:
            raise self.refuse("the file ends inside the key of a dict")
        self.at += 8
        return unpack_from("<q", self.body, self.at - 8)[0]

    def _length(self) -> int:
        length = self.count("the length of an axis")
        if length > LONGEST:
            raise self.refuse(f"an axis is {length} long")
        return length

    def _axes(self) -> tuple[int, ...]:
        began = self.at
        count = self.several("axes")
        if count > MOST_AXES:
            raise self.refuse(f"{count} axes; {MOST_AXES} is the most there can be", began)
        shape = tuple(self._length() for _ in range(count))
        if prod([length for length in shape if length]) > LONGEST:
            raise self.refuse(f"an array of shape {shape} is too large", began)
        return shape

    # ---- families and their traces ---------------------------------------------------------------

    def _family(self, key: tuple[Shape, ...], names: list[str]) -> Family:
        began = self.at
        if sum(numbers_in(shape) for shape in key) > len(self.body) - self.at:
            raise self.refuse("the arguments have more numbers than the file has bytes", began)
        arguments = [i for shape, name in zip(key, names) for i in inputs_of(shape, name)]
        nest = self._result(0)
        try:
            results = outline(take_apart(nest, "the result"))
        except ArgumentError as error:
            raise self.refuse(str(error), began) from None
        read = self._trace if self.version > 1 else self._flat_trace
        traces = [read(arguments, results) for _ in range(self.several("traces", least=1))]
        self._check_tree(traces, began)
        family = Family()
        for trace in traces:
            family.keep(family.adopt(trace))
        family.settle()
        return family

    def _check_tree(self, traces: list[Trace], began: int) -> None:
        """Traces that answered the same so far must have asked the same, and one of them parts."""
        order = sorted(range(len(traces)), key=lambda number: traces[number].path)
        histories: dict[int, History] = {}
        for one, other in pairwise(order):
            path, further = traces[one].path, traces[other].path
            shared = shared_length(path, further)
            if shared == len(path):
                raise self.refuse(f"the path of trace {one} is the beginning of {other}'s", began)
            for number in (one, other):
                if number not in histories:
                    histories[number] = History(traces[number])
            if histories[one].asked(shared + 1) != histories[other].asked(shared + 1):
                raise self.refuse(
                    f"traces {one} and {other} gave the same answers to different questions", began
                )
            del histories[one]

    def _trace(self, arguments: list[Input], results: Nest) -> Trace:
        """One trace: its inputs, then its instructions and loops."""
        frame = Program(sites=self.sites)
        rows = self.count("the rows of a trace")
        began = self.at
        captured: dict[int, Value] = {}
        for index in range(self.several("inputs of a trace")):
            tag = self.byte("an input", ENTRIES.index(CONSTANT))
            frame.inputs[index] = self._input(index, ENTRIES[tag], arguments, captured)
        self._check_arguments(frame, arguments, began)
        tables = self._tables()
        self.made = len(frame.inputs) + len(tables)
        items = self._items(0)
        frame.count = self.made
        self._ends(frame, results)
        try:
            rolled = check_rolled(Rolled(frame, items, tables), "reading")
        except ProgramError as error:
            raise self.refuse(str(error), began) from None
        return Trace(rolled, list(captured.values()), results, rows=rows)

    def _tables(self) -> NDArray[np.float64]:
        """Constants of which loops read one a round."""
        count = self.several("numbers in tables")
        if 8 * count > len(self.body) - self.at:
            raise self.refuse(f"{count} numbers in tables are more than the file has bytes for")
        self.at += 8 * count
        return np.frombuffer(self.body, "<f8", count, self.at - 8 * count).astype(np.float64)

    def _items(self, depth: int) -> list[Item]:
        """Instructions, and loops with those of their first round; ids count up."""
        items: list[Item] = []
        for _ in range(self.several("instructions")):
            began = self.at
            tag = self.count("an instruction")
            if tag >= len(ENTRIES):
                items.append(self._instruction(self.made, tag - len(ENTRIES)))
                self.made += 1
                continue
            if ENTRIES[tag] != LOOP or depth == DEEPEST_LOOP:
                raise self.refuse(f"{tag} is no instruction, nor a loop of so few levels", began)
            trips, before = self.count("the rounds of a loop"), self.made
            body = self._items(depth + 1)
            period = self.made - before
            if not body or trips < 1 or period * trips > MOST_OPERATIONS:
                raise self.refuse(f"a loop of {trips} rounds of {period} instructions", began)
            strides = [self._stride() for part in body for _ in operands_of(part)]
            items.append(Loop(trips, tuple(body), period, tuple(strides)))
            self.made = before + trips * period
        if self.made > MOST_OPERATIONS:
            raise self.refuse(f"a trace of {self.made} instructions")
        return items

    def _stride(self) -> int:
        half, negative = divmod(self.count("a stride"), 2)
        return -half - 1 if negative else half

    def _check_arguments(self, program: Program, arguments: list[Input], began: int) -> None:
        if len(program.inputs) < len(arguments):
            raise self.refuse("a trace does not have all arguments", began)

    def _ends(self, program: Program, results: Nest) -> None:
        """The guards and outputs of a trace."""
        for _ in range(self.several("guards")):
            asked, outcome = divmod(self.count("a guard"), 2)
            program.guards.append(Guard(asked, bool(outcome), self._site()))
        program.outputs = [self.count("a result") for _ in results.items]

    def _flat_trace(self, arguments: list[Input], results: Nest) -> Trace:
        """One trace of version 1: inputs stand where they are first used; no loops."""
        program = Program(sites=self.sites)
        rows = self.count("the rows of a trace")
        began = self.at
        program.count = self.several("entries of a trace")
        captured: dict[int, Value] = {}
        for index in range(program.count):
            tag = self.count("an entry")
            if tag >= len(OLD_ENTRIES):
                instruction = self._instruction(index, tag - len(OLD_ENTRIES))
                program.instructions.append(instruction)
            else:
                program.inputs[index] = self._input(index, OLD_ENTRIES[tag], arguments, captured)
        self._check_arguments(program, arguments, began)
        self._ends(program, results)
        try:
            check(program, "reading")
        except ProgramError as error:
            raise self.refuse(str(error), began) from None
        return Trace(roll(program), list(captured.values()), results, rows=rows)

    def _input(
        self, index: int, kind: str, arguments: list[Input], captured: dict[int, Value]
    ) -> Input:
        """An argument in its place, a captured leaf or a constant."""
        if index < len(arguments):
            if kind != arguments[index].kind:
                raise self.refuse(f"%{index} should be {arguments[index].name}")
            return arguments[index]
        if kind == CONSTANT:
            return Input(CONSTANT, "", self.number("a constant"))
        if kind != CAPTURED:
            raise self.refuse(f"%{index} is an argument that the function does not have")
        number = self.count("the number of a parameter")
        if number >= len(self.captured):
            raise self.refuse(f"%{index} is parameter {number}, which is not there")
        if number in captured:
            raise self.refuse(f"%{index} is parameter {number}, which the trace has already")
        name, captured[number] = self.captured[number]
        return Input(CAPTURED, name)

    def _instruction(self, index: int, number: int) -> Instruction:
        """Operands are told by how far back they are, so they are there."""
        if number >= len(self.ops):
            raise self.refuse(f"%{index} is op {number}, which is not in the table")
        op = self.ops[number]
        operands = self.several("operands", least=1) if op in WIDE else INSTRUCTIONS[op].operands
        args = []
        for _ in range(operands):
            back = self.count("an operand")
            if not 0 < back <= index:
                raise self.refuse(f"an operand of %{index} is {back} entries back")
            args.append(index - back)
        return Instruction(op, (index,), tuple(args), self._site())

    def _site(self) -> int:
        site = self.count("a site") - 1
        if site >= len(self.sites):
            raise self.refuse(f"site {site} is not in the table")
        return site
