"""The data of a program with shapes: bound rows of the array law, in the order they are made.

Ids are places in ``shapes``. Inputs come first; every instruction makes one new id from earlier
ones. Whole numbers (indices) have a table of their own: fixed, given by a call, or found by looking
at data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._shared.bound import Bound
from ...errors import ProgramError

if TYPE_CHECKING:
    from ..._shared.sites import Site

Shape = tuple[int, ...]

ARGUMENT, CAPTURED, CONSTANT = "argument", "captured", "constant"
"""What an input is."""


@dataclass(frozen=True, slots=True)
class Input:
    """One array that no instruction makes; ``number`` is that of the argument or captured leaf,
    ``data`` the numbers of a constant."""

    kind: str
    name: str
    number: int = -1
    data: Any = None


@dataclass(frozen=True, slots=True)
class Fixed:
    """Whole numbers that are the same in every call."""

    array: Any

    @property
    def shape(self) -> Shape:
        """Their shape."""
        return tuple(self.array.shape)

    def key(self) -> object:
        """Equal for equal numbers."""
        return ("fixed", self.shape, self.array.tobytes())


@dataclass(frozen=True, slots=True)
class Given:
    """Whole numbers of an argument: its flat places ``at``, below ``length``, counted from the
    front."""

    argument: int
    at: Any
    length: int

    @property
    def shape(self) -> Shape:
        """Their shape."""
        return tuple(self.at.shape)

    def key(self) -> object:
        """Equal for equal numbers."""
        return ("given", self.argument, self.shape, self.at.tobytes(), self.length)


@dataclass(frozen=True, slots=True)
class Looked:
    """Whole numbers that an instruction finds by looking at its operand: it made ``result``. Who
    reads them may have them in another shape."""

    result: int
    name: str
    shape: Shape

    def key(self) -> object:
        """Equal for equal numbers."""
        return ("looked", self.result, self.name, self.shape)


Whole = Fixed | Given | Looked


@dataclass(frozen=True, slots=True)
class Instruction:
    """``result = row(operands)``; ``wholes`` are the row's whole numbers by name.

    A gradient passes through it where it ``takes`` one.
    """

    row: Bound
    result: int
    operands: tuple[int, ...]
    wholes: tuple[tuple[str, int], ...] = ()
    takes: bool = True
    site: int = -1


@dataclass(frozen=True, slots=True)
class Guard:
    """A number whose truth decided what the function did next."""

    value: int
    outcome: bool
    site: Site | None


@dataclass
class Program:
    """A recorded function on arrays, or what was made of one. ``inputs`` are by id."""

    inputs: dict[int, Input] = field(default_factory=dict)
    shapes: list[Shape] = field(default_factory=list)
    wholes: list[Whole] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    sites: list[Site | None] = field(default_factory=list)

    def copy(self) -> Program:
        """A program to go on with: what is added to it does not change this one."""
        return Program(
            dict(self.inputs), list(self.shapes), list(self.wholes), list(self.instructions),
            list(self.outputs), list(self.guards), list(self.sites),
        )  # fmt: skip

    def with_instructions(self, instructions: list[Instruction]) -> Program:
        """The same with other instructions."""
        return replace(self, instructions=instructions)

    @property
    def roots(self) -> list[int]:
        """All that has to be computed: outputs, and what guards look at."""
        return [*self.outputs, *(guard.value for guard in self.guards)]


class Builder:
    """Adds to a program: inputs, whole numbers, instructions."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.site = -1
        self._wholes = {whole.key(): number for number, whole in enumerate(program.wholes)}
        self._constants = {
            _key_of(given.data): number
            for number, given in program.inputs.items()
            if given.kind == CONSTANT
        }

    def input(self, given: Input, shape: Shape) -> int:
        """One more input: its id."""
        number = len(self.program.shapes)
        self.program.shapes.append(shape)
        self.program.inputs[number] = given
        return number

    def constant(self, data: Any, name: str = "") -> int:
        """Numbers that are the same in every call: their id."""
        array = np.array(data, dtype=np.float64)
        array.flags.writeable = False
        key = _key_of(array)
        if key not in self._constants:
            self._constants[key] = self.input(Input(CONSTANT, name, -1, array), array.shape)
        return self._constants[key]

    def whole(self, whole: Whole) -> int:
        """The number of some whole numbers in the table."""
        table = self.program.wholes
        number = self._wholes.setdefault(whole.key(), len(table))
        if number == len(table):
            table.append(whole)
        return number

    def add(
        self,
        row: Bound,
        operands: Sequence[int],
        wholes: Iterable[tuple[str, int]] = (),
        takes: bool = True,
    ) -> int:
        """One more instruction: the id of its result."""
        program = self.program
        result = len(program.shapes)
        program.shapes.append(tuple(row.shape))
        program.instructions.append(
            Instruction(row, result, tuple(operands), tuple(wholes), takes, self.site)
        )
        return result


def _key_of(array: Any) -> object:
    return (array.shape, array.tobytes())


def check(program: Program, after: str) -> Program:
    """The program, if it is well formed: ids are defined once and before they are read, shapes are
    those of the rows, whole numbers are all there."""
    known = set(program.inputs)
    for number, given in program.inputs.items():
        if given.kind == CONSTANT and given.data.shape != program.shapes[number]:
            raise ProgramError.of(after, f"constant {number} has another shape than stated")
    for each in program.instructions:
        row = each.row
        wrong = _fault(program, each, known)
        if wrong:
            raise ProgramError.of(after, f"{row.name} makes {each.result}: {wrong}")
        known.add(each.result)
    for root in program.roots:
        if root not in known:
            raise ProgramError.of(after, f"{root} is asked for and nothing makes it")
    return program


def _fault(program: Program, each: Instruction, known: set[int]) -> str:
    """What is wrong with an instruction, in words; nothing if it is well formed."""
    row, shapes = each.row, program.shapes
    if each.result in known:
        return "it is made already"
    if any(operand not in known for operand in each.operands):
        return "an operand is not made before"
    if [shapes[operand] for operand in each.operands] != [tuple(it) for it in row.shapes]:
        return "operands have other shapes than the row is bound to"
    if shapes[each.result] != tuple(row.shape):
        return "the result has another shape than the row makes"
    given = {name: program.wholes[number] for name, number in each.wholes}
    if set(row.wholes) - set(given):
        return "whole numbers are missing"
    looked = [it.result for it in given.values() if isinstance(it, Looked)]
    if any(number != each.result and number not in known for number in looked):
        return "whole numbers are not found before"
    return ""
