"""Numbering: programs as the arrays in which loops are found, and what is found numbered anew.

In a program with loops the inputs come first: arguments and captured leaves as they were, then
constants, then the tables of those that differ from round to round. The instructions follow, in
their order.
"""

from __future__ import annotations

from itertools import chain
from struct import pack, unpack
from typing import TYPE_CHECKING

import numpy as np

from .loops import Item, Rolled
from .program import CONSTANT, Guard, Input, Program
from .rolling import INPUTS, NUMBERS, TABLES, Flat, Roller, items_of, rolled

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Numbers:
    """Plain numbers and their addresses while a program is read; equal bits share one."""

    def __init__(self) -> None:
        self._known: dict[bytes, int] = {}

    def address(self, number: float) -> int:
        """The address of a number."""
        return NUMBERS + self._known.setdefault(pack("d", number), len(self._known))

    def all(self) -> list[float]:
        """Every number, in the order of their addresses."""
        return [unpack("d", bits)[0] for bits in self._known]


class Numbered:
    """The inputs of a rolled program in their order, and the ids that addresses become."""

    def __init__(self, given: list[Input], numbers: Numbers, roller: Roller) -> None:
        known = numbers.all()
        self.constants = len(given)
        self.tables = self.constants + len(known)
        constants = [Input(CONSTANT, "", number) for number in known]
        listed = chain.from_iterable([(table - NUMBERS).tolist() for table in roller.tables])
        tables = [Input(CONSTANT, "", known[each], "", at) for at, each in enumerate(listed)]
        self.inputs = dict(enumerate([*given, *constants, *tables]))
        self.first = len(self.inputs)

    def id_of(self, address: int) -> int:
        """The id of what has an address."""
        if address < INPUTS:
            return address + self.first
        if address < NUMBERS:
            return address - INPUTS
        if address < TABLES:
            return address - NUMBERS + self.constants
        return address - TABLES + self.tables

    def items(self, roller: Roller, names: list[str]) -> list[Item]:
        """The items of a rolled program."""
        return items_of(roller, names, self.id_of, self.first)


def _whole(numbers: list[int]) -> NDArray[np.int64]:
    return np.array(numbers, np.int64)


def roll(program: Program) -> Rolled:
    """A flat program with what repeats in it as loops."""
    numbers, given = Numbers(), list[Input]()
    addresses: dict[int, int] = {}
    for index, each in sorted(program.inputs.items()):
        if each.kind == CONSTANT and index not in program.made:
            continue
        addresses[index] = INPUTS + len(given)
        given.append(each)
    for index, each in program.inputs.items():
        if index not in addresses:
            addresses[index] = numbers.address(each.number)
    names: dict[str, int] = {}
    ops, sites, results, widths, operands = [], [], [], [], []
    made = 0
    for op, assigned, args, site, _ in program.instructions:
        ops.append(names.setdefault(op, len(names)))
        sites.append(site)
        results.append(len(assigned))
        widths.append(len(args))
        operands += [addresses[arg] for arg in args]
        for result in assigned:
            addresses[result] = made
            made += 1
    starts = np.cumsum([0, *widths], dtype=np.int64)
    flat = Flat(_whole(ops), _whole(sites), _whole(results), starts, _whole(operands))
    roller = rolled(flat)
    numbered = Numbered(given, numbers, roller)
    ids = {index: numbered.id_of(address) for index, address in addresses.items()}
    frame = program.replaced(
        inputs=numbered.inputs,
        instructions=[],
        guards=[Guard(ids[g.condition], g.outcome, g.site) for g in program.guards],
        outputs=[ids[output] for output in program.outputs],
        count=numbered.first + made,
        labels={ids[index]: label for index, label in program.labels.items() if index in ids},
        made={ids[index]: how for index, how in program.made.items()},
    )
    return Rolled(frame, numbered.items(roller, list(names)))
