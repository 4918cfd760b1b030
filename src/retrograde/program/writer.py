"""Writing program files: a function's traces as bytes, as docs/file-format.md says.

What a file cannot hold is refused here. Nothing here reads; ``reader.py`` does, and checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature
from struct import pack
from typing import Any

import numpy as np

from .._shared.operands import is_real_scalar
from .._shared.sites import Site, source_line
from .._values.nests import field_names
from ..errors import ProgramError, ProgramFileError
from ..value import Value
from .customs import Function
from .loops import Item, Loop
from .program import ANY, CAPTURED, CONSTANT, INSTRUCTIONS, ROW, UNIFORM, Input, Program
from .shapes import Entries, Items, Number, Row, Rows, Shape, UniformArray
from .traces import Family, Trace

OPS = tuple(name for name, kind in INSTRUCTIONS.items() if kind.recorded and not kind.parameters)
"""What a recorded program is made of; the format has no place for parameters."""
WIDE = frozenset(name for name in OPS if INSTRUCTIONS[name].operands == ANY)
"""Ops that say how many operands they have."""
LOOP = "loop"
ENTRIES = (ROW, UNIFORM, CAPTURED, CONSTANT, LOOP)
"""Entries of a program that are no instructions, by their tag; the ops follow."""
NUMBER, NUMBER_A_ROW, SEVERAL_A_ROW, UNIFORM_ARRAY, LIST, TUPLE, DICT, ARRAY = range(8)
"""Tags of a nest."""
NONE, FALSE, TRUE, WHOLE, TEXT = range(5)
"""Tags of the key of a dict."""
KINDS = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
"""Kinds of parameters by their tag."""
DEEPEST = 64
"""Levels of a nest."""


@dataclass
class Stored:
    """What a program file holds: a function without its Python.

    ``parameters`` are the captured leaves by name. Each family goes with the shapes of the
    arguments it is for, one an argument.
    """

    name: str
    signature: Signature
    parameters: dict[str, Value]
    families: list[tuple[tuple[Shape, ...], Family]]


def encoded(stored: Stored) -> bytes:
    """The body of a file."""
    return Writer(stored).run()


class Writer:
    """Writes one function; ``shaped/writer.py`` writes others with the same means."""

    def __init__(self, stored: Any) -> None:
        self.stored = stored
        self.body = bytearray()
        self.numbers = {id(leaf): n for n, leaf in enumerate(stored.parameters.values())}
        self.ops: dict[str, int] = {}
        self.sites: dict[Site, int] = {}
        self.guards: set[int] = set()

    def run(self) -> bytes:
        """The body."""
        # the tables come first in a file, but are known when everything else is written
        families = self._part(self._families)
        return self._part(self._head) + families

    def _part(self, write: Any) -> bytes:
        self.body = bytearray()
        write()
        return bytes(self.body)

    def refuse(self, why: str) -> ProgramFileError:
        """What is raised of a function that a file cannot hold."""
        return ProgramFileError.unsaveable(self.stored.name, why)

    # ---- what everything is made of --------------------------------------------------------------

    def byte(self, number: int) -> None:
        """One byte."""
        self.body.append(number)

    def count(self, number: int) -> None:
        """A whole number, seven bits a byte."""
        while number > 127:
            self.body.append(number & 127 | 128)
            number >>= 7
        self.body.append(number)

    def number(self, number: float) -> None:
        """A float64."""
        self.body += pack("<d", number)

    def text(self, text: str) -> None:
        """Text in UTF-8."""
        try:
            written = text.encode()
        except UnicodeEncodeError:
            raise self.refuse(f"{text!r} is not text that UTF-8 can write") from None
        self.count(len(written))
        self.body += written

    def shown(self, text: str) -> None:
        """Text that is for people to read."""
        self.text("".join([c if c.isprintable() else "\ufffd" for c in text]))

    # ---- the tables ------------------------------------------------------------------------------

    def _head(self) -> None:
        stored = self.stored
        self.shown(stored.name)
        self.count(len(self.ops))
        for op in self.ops:
            self.text(op)
        self._all_sites()
        self._signature(list(stored.signature.parameters.values()))
        self.count(len(stored.parameters))
        for name, leaf in stored.parameters.items():
            self.shown(name)
            self.byte(leaf.requires_grad)
            self.number(leaf.data)

    def _all_sites(self) -> None:
        self.count(len(self.sites))
        for site, number in self.sites.items():
            self.shown(site.file)
            self.count(max(site.line, 0))
            self.shown(site.function)
            self.shown(_line(site) if number in self.guards else "")

    def _signature(self, parameters: list[Parameter]) -> None:
        """Names, kinds and defaults; one that is no number is dropped, with those before it."""
        kept = [is_real_scalar(parameter.default) for parameter in parameters]
        for place in reversed(range(len(parameters) - 1)):
            follows = parameters[place + 1]
            if follows.kind is not Parameter.KEYWORD_ONLY and not kept[place + 1]:
                kept[place] = False
        self.count(len(parameters))
        for parameter, has_default in zip(parameters, kept):
            self.text(parameter.name)
            self.byte(KINDS.index(parameter.kind))
            self.byte(has_default)
            if has_default:
                self.number(float(parameter.default))

    # ---- nests -----------------------------------------------------------------------------------

    def _shape(self, shape: Shape, depth: int = 0) -> None:
        """The shape of an argument."""
        self._check_depth(depth)
        match shape:
            case Number():
                self.byte(NUMBER)
            case Row():
                self.byte(NUMBER_A_ROW)
            case Rows(width):
                self.byte(SEVERAL_A_ROW)
                self.count(width)
            case UniformArray(axes):
                self.byte(UNIFORM_ARRAY)
                self._axes(axes)
            case Entries(keys, parts):
                self._dict(list(keys))
                for key, part in zip(keys, parts):
                    self._key(key)
                    self._shape(part, depth + 1)
            case Items(make, parts):
                self.byte(TUPLE if make is tuple else LIST)
                self.count(len(parts))
                for part in parts:
                    self._shape(part, depth + 1)

    def _result(self, nest: Any, depth: int = 0) -> None:
        """The nest of the results; a dataclass is a dict of its fields."""
        self._check_depth(depth)
        names = field_names(nest)
        if names is not None:
            nest = {name: getattr(nest, name) for name in names}
        if isinstance(nest, dict):
            self._dict(list(nest))
            for k, part in nest.items():
                self._key(k)
                self._result(part, depth + 1)
        elif isinstance(nest, (list, tuple)):
            self.byte(TUPLE if isinstance(nest, tuple) else LIST)
            self.count(len(nest))
            for part in nest:
                self._result(part, depth + 1)
        elif isinstance(nest, np.ndarray):
            self.byte(ARRAY)
            self._axes(nest.shape)
            for part in nest.flat:
                self._result(part, depth + 1)
        else:
            self.byte(NUMBER)

    def _check_depth(self, depth: int) -> None:
        if depth > DEEPEST:
            raise self.refuse(f"a nest is deeper than {DEEPEST} levels")

    def _axes(self, shape: tuple[int, ...]) -> None:
        self.count(len(shape))
        for length in shape:
            self.count(length)

    def _dict(self, keys: list[Any]) -> None:
        self.byte(DICT)
        self.count(len(keys))

    def _key(self, key: Any) -> None:
        if key is None or key is False or key is True:
            self.byte((None, False, True).index(key))
        elif type(key) is int and -(2**63) <= key < 2**63:
            self.byte(WHOLE)
            self.body += pack("<q", key)
        elif type(key) is str:
            self.byte(TEXT)
            self.text(key)
        else:
            raise self.refuse(
                f"a dict has the key {key!r}; in a file keys are strings, whole numbers, True, "
                "False and None"
            )

    # ---- families and their traces ---------------------------------------------------------------

    def _families(self) -> None:
        self.count(len(self.stored.families))
        for shapes, family in self.stored.families:
            for shape in shapes:
                self._shape(shape)
            outline = family.traces[0].outputs
            self._result(outline.filled([0.0] * len(outline.items)))
            self.count(len(family.traces))
            for trace in family.traces:
                self._trace(trace)

    def _trace(self, trace: Trace) -> None:
        program = trace.rolled.frame
        for function in program.functions.values():
            raise self.refuse(_no_data(function))
        self.count(min(trace.rows, 2**32 - 1))
        self.count(len(program.inputs))
        captured = iter(trace.captured)
        for index in range(len(program.inputs)):
            self._input(program.inputs[index], captured)
        self.count(len(trace.rolled.tables))
        self.body += trace.rolled.tables.astype("<f8").tobytes()
        self._items(program, trace.rolled.items)
        self.count(len(program.guards))
        for guard in program.guards:
            self.count(2 * guard.condition + guard.outcome)
            self._site(program, guard.site, decides=True)
        for output in program.outputs:
            self.count(output)

    def _input(self, given: Input, captured: Iterator[Value]) -> None:
        kind = given.kind
        self.byte(ENTRIES.index(kind))
        if kind == CAPTURED:
            self.count(self.numbers[id(next(captured))])
        elif kind == CONSTANT:
            self.number(given.number)

    def _items(self, program: Program, items: Sequence[Item]) -> None:
        """Instructions and loops; every loop with those of its first round."""
        self.count(len(items))
        for item in items:
            if isinstance(item, Loop):
                self.count(ENTRIES.index(LOOP))
                self.count(item.trips)
                self._items(program, item.body)
                for stride in item.strides:
                    self._stride(stride)
                continue
            op, results, args, site, _ = item
            if op not in OPS:
                raise ProgramError.of("recording", f"%{results[0]} is of op {op!r}")
            self.count(len(ENTRIES) + self.ops.setdefault(op, len(self.ops)))
            if op in WIDE:
                self.count(len(args))
            for arg in args:
                self.count(results[0] - arg)
            self._site(program, site)

    def _stride(self, stride: int) -> None:
        """A whole number of either sign."""
        self.count(2 * stride if stride >= 0 else -2 * stride - 1)

    def _site(self, program: Program, index: int, decides: bool = False) -> None:
        self._place(program.site(index), decides)

    def _place(self, site: Site | None, decides: bool = False) -> None:
        """A line of the source, by its number among the sites."""
        if site is None:
            self.count(0)
            return
        number = self.sites.setdefault(site, len(self.sites))
        if decides:
            self.guards.add(number)
        self.count(number + 1)


def _no_data(function: Function) -> str:
    """Why a program with a custom op cannot be written."""
    if function.rows is not None:
        return f"the custom op '{function.name}' is computed by Python, and a file holds none"
    return (
        f"the custom op '{function.name}' has a rule of its own, which a file does not hold. Write "
        "its formula into the function where its own slopes will do"
    )


def _line(site: Site) -> str:
    """The line itself, so that a loaded function can show it where the source is not."""
    return source_line(site)[:200]
