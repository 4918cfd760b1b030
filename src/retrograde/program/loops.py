"""Loops: repeated stretches of a program as data, and programs written out again.

Every number of a program has an id, and ids count up in the order of the instructions. So in a
loop that is written out an operand moves from round to round by a constant number of ids, its
stride: 0 where it is the same in every round, the loop's period where it is what another
instruction of the same or of an earlier round made, anything else where it goes along the inputs
or along what another loop made. A loop is its first round and these strides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Union

import numpy as np

from .program import CONSTANT, Input, Instruction, Program

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Loop(NamedTuple):
    """``trips`` rounds of ``body``: its ids and operands are those of the first round.

    A round assigns ``period`` ids. ``strides`` has one number an operand, in the order in which
    the operands stand in the body, those of loops in it included.
    """

    trips: int
    body: tuple[Item, ...]
    period: int
    strides: tuple[int, ...]


Item = Union[Instruction, Loop]  # noqa: UP007


@dataclass
class Rolled:
    """A program in which repeated stretches are loops: ``items`` in place of instructions, and in
    ``frame`` all the rest.

    The ids of the inputs come first, then those of ``tables``: constants of which loops read
    another one in each round; then those of the items, counting up.
    """

    frame: Program
    items: list[Item] = field(default_factory=list)
    tables: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, program: Program) -> Rolled:
        """A flat program as it is."""
        return cls(program.replaced(instructions=[]), list(program.instructions))

    @property
    def has_loops(self) -> bool:
        """Whether anything in it repeats."""
        return any([type(item) is Loop for item in self.items])


def ids_of(item: Item) -> int:
    """How many ids an item assigns."""
    return item.trips * item.period if isinstance(item, Loop) else len(item.results)


def operands_of(item: Item) -> list[int]:
    """The operands of an item in their order, in the first round of every loop."""
    if isinstance(item, Loop):
        return [arg for part in item.body for arg in operands_of(part)]
    return list(item.args)


def static_size(items: Sequence[Item]) -> int:
    """How many instructions there are to read, however often they are done."""
    return sum(static_size(i.body) if isinstance(i, Loop) else 1 for i in items)


def full_size(items: Sequence[Item]) -> int:
    """How many instructions there are when all loops are written out."""
    return sum(i.trips * full_size(i.body) if isinstance(i, Loop) else 1 for i in items)


def _written(item: Item, operands: list[int], offset: int) -> Iterator[Instruction]:
    """The instructions of an item whose operands are these and whose ids lie ``offset`` on."""
    if not isinstance(item, Loop):
        op, results, _, site, parameters = item
        results = tuple([result + offset for result in results])
        yield Instruction(op, results, tuple(operands), site, parameters)
        return
    widths = [len(operands_of(part)) for part in item.body]
    for trip in range(item.trips):
        moved = [each + trip * stride for each, stride in zip(operands, item.strides)]
        at = 0
        for part, width in zip(item.body, widths):
            yield from _written(part, moved[at : at + width], offset + trip * item.period)
            at += width


def instructions_of(items: Sequence[Item]) -> list[Instruction]:
    """Every instruction, loops written out."""
    written: list[Instruction] = []
    for item in items:
        if isinstance(item, Loop):
            written.extend(_written(item, operands_of(item), 0))
        else:
            written.append(item)
    return written


def expand(rolled: Rolled) -> Program:
    """The program with all its loops written out."""
    inputs = dict(rolled.frame.inputs)
    first = len(inputs)
    for column, number in enumerate(rolled.tables.tolist()):
        inputs[first + column] = Input(CONSTANT, "", number, "", column)
    return rolled.frame.replaced(inputs=inputs, instructions=instructions_of(rolled.items))
