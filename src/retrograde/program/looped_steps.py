"""The steps of a program with loops, each instruction once, and where its numbers are.

``places.py`` says what an operand reads: what the same round made, what the last round of a loop
left, what a loop carries on, or what stands in memory, a place a round. Here each of these gets its
room, columns are loaded before they are read, and a loop ends with what it carries on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..ops.structural import DOT, STRUCTURAL
from .answers import Answer, Wanted
from .checkpoints import KEPT
from .eights import EIGHT
from .nodes import Around, Body, Moves, Nest, Node, Reference, nodes_in
from .places import Carry, Given, Last, Memory, Places, Variable
from .plan import IN_PLACE
from .rooms import HANDED, At, Room, Writer

if TYPE_CHECKING:
    from .looped_layout import LoopedLayout, Outside

AFTER, BEFORE = 1, 2
"""What is fetched ahead: the columns that the next round reads."""


class Side(Writer):
    """One side of a program: what is done once, or what is done for every row."""

    def __init__(self, layout: LoopedLayout, once: bool, uniforms: dict[int, int]) -> None:
        super().__init__(layout.extras, once)
        self.layout, self.uniforms = layout, uniforms
        self.places, self.nodes, self.inputs = layout.places, layout.nodes, layout.inputs
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
                self.copy(self.read(start, nest), At(self._carry_room(carry), place), nest)
        begin, inside = len(self.steps), (*nest, loop)
        self.carried = None
        self._do(body, inside)
        for carry in carries:
            self._carry_on(carry, inside)
        self.again(loop, begin)
        self.carried = None

    def _carry_on(self, carry: Carry, nest: Nest) -> None:
        """What a loop carries on, at the end of a round."""
        if self.merged.get((carry.node.number, carry.result)) == carry:
            return
        room, last = self._carry_room(carry), len(carry.starts) - 1
        for place in range(last):
            self.copy(At(room, place + 1), At(room, place), nest)
        inner = carry.node.nest[len(nest) :]
        made = self.at(carry.node, carry.result)
        if inner:
            made = self.left(carry.node, carry.result, inner[0])
        self.copy(made, At(room, last), nest)

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
            self.copy(self.read(node.operands[0], nest), self.at(node, 0), nest)
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
                self.copy(self.at(node, result), self._in(stored), node.nest)
            loop = self.places.lasting.get((node.number, result))
            if loop is not None:
                kept = self.left(node, result, loop)
                self.copy(self.at(node, result), kept, node.nest)

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


def _only_handed(side: Side, outside: Outside) -> set[tuple[int, int]]:
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
