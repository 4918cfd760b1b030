"""Numbering: programs as the arrays in which loops are found, and what is found numbered anew.

In a program with loops the inputs come first: arguments and captured leaves as they were, then
constants, then the tables of those that differ from round to round. The instructions follow, in
their order.
"""

from __future__ import annotations

from struct import pack
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
        self._bits: NDArray[np.int64] = np.zeros(0, np.int64)  # of many, sorted
        self._places: NDArray[np.int64] = np.zeros(0, np.int64)
        self._known: dict[bytes, int] = {}
        self.all: list[float] = []

    def address(self, number: float) -> int:
        """The address of a number."""
        if len(self._bits):
            bits = np.float64(number).view(np.int64)
            place = int(np.searchsorted(self._bits, bits))
            if place < len(self._bits) and self._bits[place] == bits:
                return int(self._places[place])
        known = self._known.setdefault(pack("d", number), len(self.all))
        if known == len(self.all):
            self.all.append(number)
        return NUMBERS + known

    def addresses(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """The addresses of many, before any other."""
        bits, first, each = np.unique(
            numbers.view(np.int64), return_index=True, return_inverse=True
        )
        order = np.argsort(first)
        self.all = bits[order].view(np.float64).tolist()
        self._bits, self._places = bits, np.empty(len(order), np.int64)
        self._places[order] = np.arange(NUMBERS, NUMBERS + len(order))
        return np.asarray(self._places[each], np.int64)


class Numbered:
    """The inputs of a rolled program in their order, and the ids that addresses become.

    ``results`` are addresses that are read from outside. What only tables have is no constant.
    """

    def __init__(
        self, given: list[Input], numbers: Numbers, roller: Roller, results: list[int]
    ) -> None:
        read = np.append(roller.operands, results)
        read = np.unique(read[(read >= NUMBERS) & (read < TABLES)]).tolist()
        first = len(given)
        self._constants = {address: first + place for place, address in enumerate(read)}
        constants = [Input(CONSTANT, "", numbers.all[address - NUMBERS]) for address in read]
        self.inputs = dict(enumerate([*given, *constants]))
        known = np.array(numbers.all)
        listed = np.concatenate([np.zeros(0, np.int64), *roller.tables]) - NUMBERS
        self.tables = known[listed] if len(listed) else np.zeros(0)
        self.first_table = len(self.inputs)
        self.first = self.first_table + len(self.tables)

    def id_of(self, address: int) -> int:
        """The id of what has an address."""
        if address < INPUTS:
            return address + self.first
        if address < NUMBERS:
            return address - INPUTS
        if address < TABLES:
            return self._constants[address]
        return address - TABLES + self.first_table

    def items(self, roller: Roller, names: list[str]) -> list[Item]:
        """The items of a rolled program."""
        return items_of(roller, names, self.id_of, self.first)


def _whole(numbers: list[int]) -> NDArray[np.int64]:
    return np.array(numbers, np.int64)


def _small(numbers: list[int]) -> NDArray[np.int32]:
    return np.array(numbers, np.int32)


def roll(program: Program) -> Rolled:
    """A flat program with what repeats in it as loops."""
    numbers, given = Numbers(), list[Input]()
    addresses: dict[int, int] = {}
    for index, each in sorted(program.inputs.items()):
        if each.is_known and index not in program.made:
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
    flat = Flat(_small(ops), _small(sites), _small(results), starts, _whole(operands))
    roller = rolled(flat)
    outside = [*program.outputs, *[guard.condition for guard in program.guards]]
    numbered = Numbered(given, numbers, roller, [addresses[index] for index in outside])
    id_of = numbered.id_of

    def kept(index: int) -> bool:
        return addresses.get(index, NUMBERS) < NUMBERS

    frame = program.replaced(
        inputs=numbered.inputs,
        instructions=[],
        guards=[Guard(id_of(addresses[g.condition]), g.outcome, g.site) for g in program.guards],
        outputs=[id_of(addresses[output]) for output in program.outputs],
        count=numbered.first + made,
        labels={id_of(addresses[i]): label for i, label in program.labels.items() if kept(i)},
        made={id_of(addresses[index]): how for index, how in program.made.items()},
    )
    return Rolled(frame, numbered.items(roller, list(names)), numbered.tables)
