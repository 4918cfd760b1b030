"""Layout of programs with long loops: plans whose loops are loops.

Every instruction is laid out once, however often it is done. ``places.py`` says what its operands
read: what the same round made, what the last round of a loop left, what a loop carries on, or what
stands in memory, a place a round. Each of these is a *room* here: places side by side that are
taken for as long as anything in them is needed. Where a place moves from round to round, its loop
ends with a move of it. What is not as regular as that is laid out by ``long_layout.py``.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..ops.structural import DOT, STRUCTURAL
from .answers import Answer, Wanted, by_rule
from .checkpoints import KEPT
from .eights import EIGHT, by_eights
from .loops import Rolled
from .nodes import Around, Body, IrregularError, Moves, Nest, Node, Nodes, Reference, nodes_in
from .places import Carry, Given, Last, Memory, Places, Variable
from .plan import CARRIED, EXTRA, IN_PLACE, STEPS, UNIFORM, Plan
from .program import CAPTURED, CONSTANT, ROW, SEED

OUT = 0
"""The field of a step that it writes to."""
AFTER, BEFORE = 1, 2
"""What is fetched ahead: the columns that the next round reads."""


@dataclass(eq=False)
class Room:
    """Places side by side. ``home`` are the loops in one round of which all of its life is,
    ``touched`` is when it is read or written, and in which loops: a read comes before the write of
    the same step, if that may overwrite its operands."""

    size: int
    home: Nest
    touched: list[tuple[int, Nest]] = field(default_factory=list)
    first: int = -1


@dataclass(frozen=True)
class At:
    """A place that moves: in a room, or among the numbers that are the same for all rows."""

    room: Room | None
    base: int
    moves: Moves = ()

    def after(self, loops: Sequence[Around]) -> At:
        """Where it is after the last round of some loops."""
        ends = sum(stride * (loop.trips - 1) for loop, stride in self.moves if loop in loops)
        return At(self.room, self.base + ends, tuple([m for m in self.moves if m[0] not in loops]))


HANDED = At(None, CARRIED)
"""What the step before hands on in registers."""


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


class _Inputs:
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


class _Side:
    """The steps of one side, in rooms that have no places yet: those that are done once, or those
    for every row."""

    def __init__(self, layout: _LoopedLayout, once: bool, uniforms: dict[int, int]) -> None:
        self.layout, self.once, self.uniforms = layout, once, uniforms
        self.places, self.nodes, self.inputs = layout.places, layout.nodes, layout.inputs
        self.steps: list[list[int]] = []
        self.extras = layout.extras
        self.spans: dict[Around, tuple[int, int]] = {}
        self.moves: dict[Around, list[tuple[int, int, int]]] = {}
        self.fixes: list[tuple[int, int, Room]] = []
        self.primary: dict[tuple[int, int], At] = {}
        self.lasting: dict[tuple[int, int], At] = {}
        self.memory: dict[int, Room] = {}
        self.loaded: dict[Reference, At] = {}
        self.groups: dict[Reference, list[Reference]] = {}
        self.ahead: list[tuple[Nest, tuple[int, Moves], int]] = []
        self.carried: tuple[int, int] | None = None
        self.merged = _merged(self.places, once)
        self.carry_rooms: dict[Carry, Room] = {}
        self.handed = set() if once else _only_handed(self, layout.outside)

    def mine(self, node: Node) -> bool:
        """Whether a node is done on this side."""
        return self.places.varies[node.number] != self.once

    # ---- steps -----------------------------------------------------------------------------

    def step(self, name: str, count: int = 0, nest: Nest = (), **fields: Any) -> None:
        """One more step; its fields are numbers, or places that it reads, and ``out``."""
        number = len(self.steps)
        self.steps.append([STEPS[name], count, 0, 0, 0, 0])
        for which, key in enumerate(("out", "x", "y", "z")):
            value = fields.get(key, 0)
            if isinstance(value, At):
                late = which == OUT or name not in (*IN_PLACE, "copy")
                self._put(number, which, value, 2 * number + late, nest)
            else:
                base, moves = value if isinstance(value, tuple) else (value, ())
                self.steps[number][2 + which] = base
                self._move(number, which, moves)

    def listed(self, operands: Sequence[At], nest: Nest) -> int:
        """A list of operands of the step to come."""
        first, when = len(self.extras), 2 * len(self.steps) + 1
        for at in operands:
            self.extras.append(0)
            self._put(len(self.extras) - 1, EXTRA, at, when, nest)
        return first

    def _put(self, number: int, which: int, at: At, when: int, nest: Nest) -> None:
        base = at.base
        if at.room is not None:
            at.room.touched.append((when, nest))
            self.fixes.append((number, which, at.room))
        elif not self.once and at is not HANDED:
            base |= UNIFORM
        if which == EXTRA:
            self.extras[number] = base
        else:
            self.steps[number][2 + which] = base
        self._move(number, which, at.moves)

    def _move(self, number: int, which: int, moves: Moves) -> None:
        for loop, stride in moves:
            self.moves.setdefault(loop, []).append((number, which, stride))

    # ---- where numbers are -----------------------------------------------------------------

    def at(self, node: Node, result: int) -> At:
        """Where a result is in the rounds in which it was made."""
        key = (node.number, result)
        if key not in self.primary:
            self.primary[key] = self._chosen(node, result)
        return self.primary[key]

    def _chosen(self, node: Node, result: int) -> At:
        key = (node.number, result)
        if node.count > 1:
            room = Room(node.count, node.nest)
            for each in range(node.count):
                self.primary[node.number, each] = At(room, each)
            return self.primary[key]
        stored = self.places.stored(node, result)
        if stored is not None:
            return self._in(stored)
        if key in self.merged:
            return At(self._carry_room(self.merged[key]), 0)
        return At(Room(1, self._home(node, result)), 0)

    def _home(self, node: Node, result: int) -> Nest:
        """The loops that a result need not outlive."""
        outer = self.places.lasting.get((node.number, result))
        return node.nest if outer is None else node.nest[: node.nest.index(outer)]

    def _in(self, memory: Memory) -> At:
        """A place in memory."""
        family = self.places.families[memory.family]
        together = self.layout.together[memory.family]
        width, first = len(together), together[0]
        base = memory.base * width + together.index(memory.family)
        moves = tuple([(loop, stride * width) for loop, stride in memory.moves])
        if family.once:
            return At(None, self.uniforms[first] + base, moves)
        if first not in self.memory:
            self.memory[first] = Room(family.size * width, family.home)
        return At(self.memory[first], base, moves)

    def left(self, node: Node, result: int, loop: Around) -> At:
        """Where the last round of a loop left a result."""
        if node.count == 1:
            return self.at(node, result).after(node.nest[node.nest.index(loop) :])
        key = (node.number, result)
        if key not in self.lasting:
            self.lasting[key] = At(Room(1, self._home(node, result)), 0)
        return self.lasting[key]

    def _carry_room(self, carry: Carry) -> Room:
        if carry not in self.carry_rooms:
            home = carry.node.nest[: carry.node.nest.index(carry.loop)]
            if self.merged.get((carry.node.number, carry.result)) == carry:
                home = min(home, self._home(carry.node, carry.result), key=len)
            self.carry_rooms[carry] = Room(len(carry.starts), home)
        return self.carry_rooms[carry]

    def read(self, reference: Reference, nest: Nest) -> At:
        """Where an operand is."""
        place = self.places.place(reference, nest, self.once)
        if isinstance(place, Given):
            if self.inputs.is_row(place.base):
                return self.loaded[reference]
            return At(None, self.inputs.first(reference), place.moves)
        if isinstance(place, Variable):
            return self.at(place.node, place.result)
        if isinstance(place, Last):
            return self.left(place.node, place.result, place.loop)
        if isinstance(place, Carry):
            return At(self._carry_room(place), 0)
        return self._in(place)

    # ---- instructions ----------------------------------------------------------------------

    def run(self) -> None:
        """The whole side."""
        if not self.once:
            self._load([Reference(index) for index in self.layout.outside.read], ())
            self._hand_out(self.layout.outside.begin)
        self._do(self.nodes.body, ())
        if not self.once:
            self._hand_out(self.layout.outside.end)

    def _do(self, body: Body, nest: Nest) -> None:
        if not self.once:
            self._group(body)
        for part in body.parts:
            inside = [part] if isinstance(part, Node) else [*nodes_in(part)]
            mine = [node for node in inside if self.mine(node)]
            if not mine:
                continue
            if not self.once:
                self._load(self._rows_of(mine, body.loop), nest)
            if self.ahead and len(nest) and self.ahead[-1][0] == nest:
                self._fetch()
            if isinstance(part, Node):
                self._compute(part)
            else:
                self._loop(part, nest)
        while self.ahead and self.ahead[-1][0] == nest:
            self._fetch()

    def _group(self, body: Body) -> None:
        """Columns that a loop loads together: eight adjacent ones that move alike."""
        nodes = [node for node in nodes_in(body) if self.mine(node)]
        by_moves: dict[Moves, dict[int, Reference]] = {}
        for reference in self._rows_of(nodes, body.loop) if body.loop else ():
            by_moves.setdefault(reference.moves, {})[self.inputs.first(reference)] = reference
        for found in by_moves.values():
            run: list[int] = []
            for place in sorted(found):
                run = [*run, place] if run and run[-1] == place - 1 else [place]
                if len(run) == EIGHT:
                    group = [found[each] for each in run]
                    self.groups.update(dict.fromkeys(group, group))
                    run = []

    def _fetch(self) -> None:
        """A part of what the next tile reads of columns that are loaded together."""
        nest, column, share = self.ahead.pop()
        towards = dict(column[1]).get(nest[-1], 0) if nest else 0
        where = AFTER if towards > 0 else BEFORE if towards < 0 else 0
        self.step("fetch", 0, nest, x=column, y=share, z=where)

    def _rows_of(self, nodes: Sequence[Node], loop: Around | None) -> list[Reference]:
        """The columns that instructions read and that move with a loop, but with none in it."""
        found = []
        for node in nodes:
            for reference in (*node.operands, *self._starts(node)):
                if not self.inputs.is_row(reference.base):
                    continue
                levels = [node.nest.index(each) for each, _ in reference.moves]
                inner = node.nest[max(levels)] if levels else None
                if inner is loop:
                    found.append(reference)
        return found

    def _starts(self, node: Node) -> Iterator[Reference]:
        """What stands for what loops carry on, where an instruction reads that."""
        for reference in node.operands:
            pending = [(reference, node.nest)]
            while pending:
                each, nest = pending.pop()
                if each.base < self.nodes.first:
                    continue
                place = self.places.place(each, nest, self.once)
                if isinstance(place, Carry):
                    around = nest[: nest.index(place.loop)]
                    yield from place.starts
                    pending += [(start, around) for start in place.starts]

    def _load(self, references: Sequence[Reference], nest: Nest) -> None:
        for reference in references:
            if not self.inputs.is_row(reference.base):
                continue
            known = self.loaded.get(reference)
            if known is not None and known.room is not None and known.room.home == nest:
                continue
            group = self.groups.get(reference, [reference])
            self.loaded.update({each: At(Room(1, nest), 0) for each in group})
            column = (self.inputs.first(group[0]), reference.moves)
            if len(group) == 1:
                self.step("load", 0, nest, out=self.loaded[reference], x=column)
            else:
                rooms = self.listed([self.loaded[each] for each in group], nest)
                self.step("eight", 0, nest, x=column, y=rooms)
                self.ahead += [(nest, column, share) for share in range(EIGHT)]

    def _loop(self, body: Body, nest: Nest) -> None:
        loop = body.loop
        assert loop is not None
        carries = self.places.carries.get((loop, self.once), [])
        for carry in carries:
            for place, start in enumerate(carry.starts):
                self._copy(self.read(start, nest), At(self._carry_room(carry), place), nest)
        begin, inside = len(self.steps), (*nest, loop)
        self.carried = None
        self._do(body, inside)
        for carry in carries:
            self._carry_on(carry, inside)
        self._again(loop, begin)

    def _carry_on(self, carry: Carry, nest: Nest) -> None:
        """What a loop carries on, at the end of a round."""
        if self.merged.get((carry.node.number, carry.result)) == carry:
            return
        room, last = self._carry_room(carry), len(carry.starts) - 1
        for place in range(last):
            self._copy(At(room, place + 1), At(room, place), nest)
        inner = carry.node.nest[len(nest) :]
        made = self.at(carry.node, carry.result)
        if inner:
            made = self.left(carry.node, carry.result, inner[0])
        self._copy(made, At(room, last), nest)

    def _copy(self, what: At, where: At, nest: Nest) -> None:
        self.step("copy", 0, nest, out=where, x=what)

    def _again(self, loop: Around, begin: int) -> None:
        """The end of a loop."""
        at = len(self.steps)
        moves = self.moves.pop(loop, [])
        self.steps.append([STEPS["again"], loop.trips, 0, at - begin, len(moves), 0])
        for number, which, stride in moves:
            far = number if which == EXTRA else at - number
            self.steps.append([STEPS["move"], which, far, stride & 0xFFFFFFFF, 0, 0])
        self.spans[loop] = begin, len(self.steps)
        self.carried = None

    def _operand(self, reference: Reference, node: Node) -> At:
        if self.carried is not None and reference.base >= self.nodes.first:
            place = self.places.place(reference, node.nest, self.once)
            if place == Variable(self.nodes.all[self.carried[0]], self.carried[1]):
                return HANDED
        return self.read(reference, node.nest)

    def _compute(self, node: Node) -> None:
        nest, op = node.nest, node.op
        half = len(node.operands) // 2
        if op == KEPT:
            self._copy(self.read(node.operands[0], nest), self.at(node, 0), nest)
        elif op in IN_PLACE:
            fields = {
                key: self._operand(operand, node)
                for key, operand in zip(("x", "y", "z"), node.operands)
            }
            out = HANDED if (node.number, 0) in self.handed else self.at(node, 0)
            self.step(op, 0, nest, out=out, **fields)
        else:
            first = self.listed([self.read(operand, nest) for operand in node.operands], nest)
            if op == "scatter":
                self.step(op, node.count, nest, out=self.at(node, 0), x=first, y=half)
            elif op == DOT.name:
                self.step(op, half, nest, out=self.at(node, 0), x=first, y=first + half)
            else:
                count = len(STRUCTURAL[op].items(tuple(range(len(node.operands)))))
                self.step(op, count, nest, out=self.at(node, 0), x=first)
        if not self.once and op not in ("scatter", KEPT):
            self.carried = node.number, 0
        if node.count > 1:
            self._spread(node)
        for what, wanted in self.layout.outside.asked.get(node.number, ()):
            if not self.once:
                self._answer(what, wanted, node)

    def _spread(self, node: Node) -> None:
        """The results of a scatter go to where they are kept longer."""
        for result in range(node.count):
            stored = self.places.stored(node, result)
            if stored is not None:
                self._copy(self.at(node, result), self._in(stored), node.nest)
            loop = self.places.lasting.get((node.number, result))
            if loop is not None:
                kept = self.left(node, result, loop)
                self._copy(self.at(node, result), kept, node.nest)

    # ---- outputs and guards ----------------------------------------------------------------

    def _answer(self, what: str, wanted: Wanted, node: Node) -> None:
        """A step for what is asked of a result."""
        made = (node.number, wanted.result)
        place = HANDED if made == self.carried else self.at(node, wanted.result)
        number = (wanted.base, wanted.moves)
        done = (wanted.base + 1, wanted.moves) if self.layout.in_order and what == "guard" else 0
        count = int(wanted.holds) if what == "guard" else 0
        self.step(what, count, node.nest, x=place, y=number, z=done)

    def _hand_out(self, asked: Sequence[tuple[str, Answer, int]]) -> None:
        for what, answer, index in asked:
            done = answer.number + 1 if self.layout.in_order and what == "guard" else 0
            count = int(answer.holds) if what == "guard" else 0
            place = self.read(Reference(index), ())
            self.step(what, count, (), x=place, y=answer.number, z=done)

    # ---- places ----------------------------------------------------------------------------

    def settled(self, first: int) -> int:
        """Give the rooms their places from ``first`` on; how many places there are then."""
        rooms = {id(room): room for _, _, room in self.fixes}
        lives = [(*self._life(room), room) for room in rooms.values()]
        lives.sort(key=lambda life: life[:2])
        free: list[int] = []
        busy: list[tuple[int, int]] = []
        count = first
        for begin, end, room in lives:
            for each in [each for each in busy if each[0] < begin]:
                busy.remove(each)
                free.append(each[1])
            if room.size == 1 and free:
                room.first = free.pop()
            else:
                room.first = count
                count += room.size
            if room.size == 1:
                busy.append((end, room.first))
        for number, which, room in self.fixes:
            if which == EXTRA:
                self.extras[number] += room.first
            else:
                self.steps[number][2 + which] += room.first
        return count

    def _life(self, room: Room) -> tuple[int, int]:
        """From when to when a room is taken: all of a loop whose rounds it outlives."""
        begins, ends = [], []
        for when, nest in room.touched:
            if len(nest) > len(room.home):
                begin, end = self.spans[nest[len(room.home)]]
                begins.append(2 * begin)
                ends.append(2 * end)
            else:
                begins.append(when)
                ends.append(when)
        return min(begins), max(ends)


def _reads(places: Places, once: bool) -> Iterator[tuple[Node | None, Nest, Reference]]:
    """What one side reads: by which node, in which loops; None where a loop begins."""
    for node in places.nodes.all:
        if places.varies[node.number] != once:
            for reference in node.operands:
                yield node, node.nest, reference


def _merged(places: Places, once: bool) -> dict[tuple[int, int], Carry]:
    """By result: what a loop carries on in the very place where the result is made, since nothing
    reads the one of the round before any more when it is."""
    found: dict[tuple[int, int], Carry] = {}
    for (loop, side), carries in places.carries.items():
        for carry in carries if side == once else ():
            key = (carry.node.number, carry.result)
            fits = (
                len(carry.starts) == 1
                and carry.node.nest[-1] is loop
                and carry.node.count == 1
                and key not in places.family_of
            )
            if fits:
                found.setdefault(key, carry)
    if not found:
        return found
    carried = set(found.values())
    for node, nest, reference in _reads(places, once):
        assert node is not None
        pending = [(reference, nest)]
        while pending:
            each, around = pending.pop()
            if each.base < places.nodes.first:
                continue
            place = places.place(each, around, once)
            if not isinstance(place, Carry):
                continue
            pending += [(start, around[: around.index(place.loop)]) for start in place.starts]
            if place in carried:
                late = node.number > place.node.number
                if late or (node is place.node and node.op not in IN_PLACE):
                    found.pop((place.node.number, place.result), None)
    return found


def _only_handed(side: _Side, outside: Outside) -> set[tuple[int, int]]:
    """The results that nothing but the next step reads."""
    places = side.places
    following: dict[int, Node] = {}
    pending = [places.nodes.body]
    while pending:
        body = pending.pop()
        before: Node | None = None
        for part in body.parts:
            if isinstance(part, Body):
                pending.append(part)
                if any(side.mine(node) for node in nodes_in(part)):
                    before = None
            elif side.mine(part):
                if before is not None:
                    following[before.number] = part
                before = part
    found = {
        (number, 0)
        for number, after in following.items()
        if places.nodes.all[number].op in IN_PLACE and after.op in IN_PLACE
    }
    found -= places.family_of.keys() | places.lasting.keys()
    found -= {(c.node.number, c.result) for every in places.carries.values() for c in every}
    for node, nest, reference in _reads(places, False):
        if reference.base < places.nodes.first:
            continue
        place = places.place(reference, nest, False)
        if isinstance(place, (Variable, Last)):
            key = (place.node.number, place.result)
            if isinstance(place, Last) or following.get(place.node.number) is not node:
                found.discard(key)
    for (loop, once), carries in places.carries.items():
        for carry in () if once else carries:
            around = carry.node.nest[: carry.node.nest.index(loop)]
            for start in carry.starts:
                if start.base >= places.nodes.first:
                    place = places.place(start, around, False)
                    if isinstance(place, (Variable, Last)):
                        found.discard((place.node.number, place.result))
    for index in outside.read:
        if index >= places.nodes.first:
            node, result, _ = places.nodes.locate(index)
            found.discard((node.number, result))
    return found


class _LoopedLayout:
    def __init__(self, rolled: Rolled, outputs: list[tuple[str, int]]) -> None:
        rolled = by_eights(rolled)
        self.rolled, self.outputs = rolled, outputs
        self.nodes = Nodes(rolled)
        self.inputs = _Inputs(rolled)
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
        count = self.inputs.count
        uniforms: dict[int, int] = {}
        for family in self.places.families:
            together = self.together[family.number]
            if family.once and family.number == together[0]:
                uniforms[family.number] = count
                count += family.size * len(together)
        once = _Side(self, True, uniforms)
        once.run()
        places = once.settled(count)
        lanes = _Side(self, False, uniforms)
        lanes.run()
        slots = lanes.settled(0)
        frame = self.rolled.frame
        asked = self.inputs.asked()
        stored = sum(what == "store" for what, _ in self.outputs)
        return Plan(
            _words(lanes.steps), _words(once.steps), array("I", self.extras or [0]),
            self.inputs.numbers(), [self.inputs.place[i] for i in asked], asked,
            array("I", self.inputs.columns), slots, stored, len(self.outputs) - stored,
            len(frame.guards), self.outputs, max(places, self.inputs.count + 1),
        )  # fmt: skip


def _words(steps: Sequence[Sequence[int]]) -> array[int]:
    return array("I", [number for step in steps for number in step])


def laid_out_looped(rolled: Rolled, outputs: list[tuple[str, int]]) -> Plan | None:
    """The plan for a program with long loops; None where they are not regular enough."""
    try:
        return _LoopedLayout(rolled, outputs).run()
    except IrregularError:
        return None
