"""Layout of programs with long loops: plans whose loops are loops.

Every instruction is laid out once, however often it is done: ``looped_steps.py`` writes its step.
Here is where the inputs are, which outputs and guards are dealt with in loops, and the plan. What
is not as regular as that is laid out by ``long_layout.py``.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .answers import Answer, Wanted, by_rule
from .eights import by_eights
from .looped_steps import Side
from .loops import Rolled
from .nodes import Around, Body, IrregularError, Node, Nodes, Reference, nodes_in
from .places import Places
from .plan import Plan
from .program import CAPTURED, CONSTANT, ROW, SEED


@dataclass(eq=False)
class Outside:
    """Outputs and guards: in ``asked`` by the node that makes them, as steps after it; in ``end``
    what is read when all is done, in ``begin`` before anything is."""

    asked: dict[int, list[tuple[str, Wanted]]] = field(default_factory=dict)
    begin: list[tuple[str, Answer, int]] = field(default_factory=list)
    end: list[tuple[str, Answer, int]] = field(default_factory=list)

    @property
    def read(self) -> list[int]:
        """The ids that are read outside of all loops."""
        return [index for _, _, index in (*self.begin, *self.end)]


class Inputs:
    """Where the numbers are that a program does not compute: columns of the rows, or places."""

    def __init__(self, rolled: Rolled) -> None:
        inputs = [rolled.frame.inputs[i] for i in range(len(rolled.frame.inputs))]
        self.given, self.tables = inputs, rolled.tables
        self.columns = [i for i, given in enumerate(inputs) if given.kind in (ROW, SEED)]
        others = [i for i, given in enumerate(inputs) if given.kind not in (ROW, SEED)]
        others.sort(key=lambda i: inputs[i].kind != CAPTURED)
        others += range(len(inputs), len(inputs) + len(rolled.tables))
        self.place = {index: place for place, index in enumerate(self.columns)}
        self.place.update((index, place) for place, index in enumerate(others))
        self.count = len(others)
        self.others = others

    def is_row(self, index: int) -> bool:
        """Whether an input differs from row to row."""
        return index < len(self.given) and self.given[index].kind in (ROW, SEED)

    def first(self, reference: Reference) -> int:
        """The place of a reference in its first rounds, if it moves by as many places as ids."""
        low = high = reference.base
        for loop, stride in reference.moves:
            low += min(0, stride * (loop.trips - 1))
            high += max(0, stride * (loop.trips - 1))
        if low not in self.place or high not in self.place or self.is_row(low) != self.is_row(high):
            raise IrregularError
        if self.place[high] - self.place[low] != high - low:
            raise IrregularError
        return self.place[reference.base]

    def numbers(self) -> Any:
        """The uniform numbers: constants and tables are there, the rest comes with a run."""
        numbers = np.zeros(self.count + 1)
        for index in self.others[: self.count - len(self.tables)]:
            if self.given[index].kind == CONSTANT:
                numbers[self.place[index]] = self.given[index].number
        numbers[self.count - len(self.tables) : self.count] = self.tables
        return numbers

    def asked(self) -> list[int]:
        """Arguments that are the same for all rows, by id."""
        return [
            i for i, g in enumerate(self.given) if g.kind not in (ROW, SEED, CAPTURED, CONSTANT)
        ]


class LoopedLayout:
    """A program with loops as it is laid out."""

    def __init__(self, rolled: Rolled, outputs: list[tuple[str, int]]) -> None:
        rolled = by_eights(rolled)
        self.rolled, self.outputs = rolled, outputs
        self.nodes = Nodes(rolled)
        self.inputs = Inputs(rolled)
        self.extras: list[int] = []
        self.places = Places(self.nodes)
        self.outside = self._sorted()
        self.places = Places(self.nodes, self.outside.read)
        if self._sorted().read != self.outside.read:  # what is read at the end varies with that
            raise IrregularError
        self.in_order = self._is_in_order()
        self.together = self._together()

    def _together(self) -> dict[int, list[int]]:
        """By family: those of which a number each stands side by side, since the same loops make
        and read them: what is made in a round then lies together."""
        found: dict[Any, list[int]] = {}
        for family in self.places.families:
            nests = {self.nodes.all[number].nest for number, _ in family.members}
            key = (family.once, family.size, family.home, frozenset(nests))
            found.setdefault(key, []).append(family.number)
        return {number: group for group in found.values() for number in group}

    # ---- outputs and guards ----------------------------------------------------------------

    def _sorted(self) -> Outside:
        """Outputs and guards: where they follow a rule, as soon as they are made."""
        outside = Outside()
        counts = {"store": 0, "reduce": 0}
        layers: dict[tuple[int, int, str], list[dict[tuple[int, ...], tuple[Answer, int]]]] = {}
        for what, index in self.outputs:
            self._sort(outside, layers, what, Answer(counts[what]), index)
            counts[what] += 1
        for number, guard in enumerate(self.rolled.frame.guards):
            self._sort(outside, layers, "guard", Answer(number, guard.outcome), guard.condition)
        for (number, result, what), found in layers.items():
            node = self.nodes.all[number]
            for layer in found:
                rule = by_rule(node, result, {rounds: a for rounds, (a, _) in layer.items()})
                if rule is not None:
                    outside.asked.setdefault(number, []).append((what, rule))
                elif what == "guard":
                    raise IrregularError
                else:
                    outside.end += [(what, answer, index) for answer, index in layer.values()]
        return outside

    def _sort(self, outside: Outside, layers: Any, what: str, answer: Answer, index: int) -> None:
        """One output or guard."""
        early = outside.begin if what == "guard" else outside.end
        if index < self.nodes.first:
            early.append((what, answer, index))
            return
        node, result, rounds = self.nodes.locate(index)
        if not self.places.varies[node.number]:
            early.append((what, answer, index))
            return
        found = layers.setdefault((node.number, result, what), [])
        layer = next((each for each in found if rounds not in each), None)
        if layer is None:
            found.append(layer := {})
        layer[rounds] = answer, index

    def _is_in_order(self) -> bool:
        """Whether guards are checked in the order of their numbers."""
        numbers = [answer.number for what, answer, _ in self.outside.begin]

        def walk(body: Body, rounds: dict[Around, int]) -> None:
            for part in body.parts:
                if isinstance(part, Node):
                    for what, wanted in self.outside.asked.get(part.number, ()):
                        if what == "guard":
                            shift = sum(stride * rounds[loop] for loop, stride in wanted.moves)
                            numbers.append(wanted.base + shift)
                elif any(
                    what == "guard"
                    for node in nodes_in(part)
                    for what, _ in self.outside.asked.get(node.number, ())
                ):
                    assert part.loop is not None
                    for trip in range(part.loop.trips):
                        walk(part, {**rounds, part.loop: trip})

        walk(self.nodes.body, {})
        return numbers == list(range(len(self.rolled.frame.guards)))

    # ---- the plan --------------------------------------------------------------------------

    def run(self) -> Plan:
        """The plan."""
        count = self.inputs.count
        uniforms: dict[int, int] = {}
        for family in self.places.families:
            together = self.together[family.number]
            if family.once and family.number == together[0]:
                uniforms[family.number] = count
                count += family.size * len(together)
        once = Side(self, True, uniforms)
        once.run()
        places = once.settled(count)
        lanes = Side(self, False, uniforms)
        lanes.run()
        slots = lanes.settled(0)
        frame = self.rolled.frame
        asked = self.inputs.asked()
        stored = sum(what == "store" for what, _ in self.outputs)
        return Plan(
            lanes.words, once.words, array("I", self.extras or [0]),
            self.inputs.numbers(), [self.inputs.place[i] for i in asked], asked,
            array("I", self.inputs.columns), slots, stored, len(self.outputs) - stored,
            len(frame.guards), self.outputs, max(places, self.inputs.count + 1),
        )  # fmt: skip


def laid_out_looped(rolled: Rolled, outputs: list[tuple[str, int]]) -> Plan | None:
    """The plan for a program with long loops; None where they are not regular enough."""
    try:
        return LoopedLayout(rolled, outputs).run()
    except IrregularError:
        return None
