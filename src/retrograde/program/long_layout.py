"""Layout of programs with long loops: the same plans as ``layout.py`` makes, made from arrays.

The instructions of a loop differ from round to round only in their operands, so everything is
decided once for an instruction and holds for all its rounds: whether it is the same for all rows,
whether its result needs one place for the whole loop or one a round (where rounds overlap, as what
a backward loop reads does), and whether it is only handed on to the next step.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..ops.structural import DOT, STRUCTURAL, TAKE
from .loops import Item, Loop, Rolled, operands_of
from .plan import CARRIED, IN_PLACE, STEPS, UNIFORM, Plan
from .program import CAPTURED, CONSTANT, ROW, SEED, Input
from .rolling import in_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

Integers: TypeAlias = "NDArray[np.int64]"
Small: TypeAlias = "NDArray[np.int32]"
"""What there is one of an instruction or operand: a long program has many."""
Words: TypeAlias = "NDArray[np.uint32]"
Flags: TypeAlias = "NDArray[np.bool_]"


IN_ITS_KIND = UNIFORM - 1
"""The bits of a place that say which slot or uniform number it is."""


@dataclass(frozen=True)
class _Written:
    """A program written out: by instruction which of the static ones it is; its operands."""

    static: Small
    operands: Small


def _written(item: Item, given: Small, first: int) -> tuple[_Written, int]:
    """An item written out, for several instances with operands of their own, a row each; static
    instructions are numbered from ``first`` on, and the next number is returned as well."""
    if not isinstance(item, Loop):
        return _Written(np.full((len(given), 1), first, np.int32), given), first + 1
    trips = np.arange(item.trips, dtype=np.int32)
    moved = given[:, None, :] + trips[:, None] * np.array(item.strides, np.int32)
    moved = moved.reshape(-1, given.shape[1])
    parts, done = [], 0
    for part in item.body:
        width = len(operands_of(part))
        made, first = _written(part, moved[:, done : done + width], first)
        parts.append(made)
        done += width
    rows = len(given)
    static = np.concatenate([part.static for part in parts], axis=1).reshape(rows, -1)
    operands = np.concatenate([part.operands for part in parts], axis=1).reshape(rows, -1)
    return _Written(static, operands), first


def _statics(items: Any) -> list[Any]:
    return [
        each
        for item in items
        for each in (_statics(item.body) if isinstance(item, Loop) else [item])
    ]


class _Places:
    """Places for results, in slots or among the uniform numbers, given and taken back by time."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._free: list[int] = []
        self._busy: list[tuple[int, int]] = []  # a heap: until when, which place

    def one(self, begins: int, ends: int) -> int:
        """A place from one time to another; times of beginning do not go back."""
        while self._busy and self._busy[0][0] < begins:
            self._free.append(heappop(self._busy)[1])
        place = self._free.pop() if self._free else self.fresh(1)
        heappush(self._busy, (ends, place))
        return place

    def fresh(self, count: int) -> int:
        """The first of several places side by side, that nothing else has."""
        self.count += count
        return self.count - count

    def give(
        self, defined: Small, last: Small, key: Small, wanted: Flags, in_place: Flags
    ) -> Words:
        """The place of each result that wants one.

        By result: where it is defined and last used, which static result it is, and whether what
        defines it may overwrite its operands. Where the rounds of a static result overlap, it has
        a place a round, else one for all of them.
        """
        places = np.full(len(defined), CARRIED, np.uint32)
        found = np.flatnonzero(wanted)
        order = found[in_order(key[found])]
        if not len(order):
            return places
        groups = np.split(order, np.flatnonzero(np.diff(key[order])) + 1)
        groups.sort(key=lambda group: int(defined[group[0]]))
        for group in groups:
            begins, ends = defined[group], last[group]
            late = ends[:-1] - begins[1:]
            if len(group) > 1 and bool((late >= np.where(in_place[group[1:]], 1, 0)).any()):
                first = self.fresh(len(group))
                places[group] = np.arange(first, first + len(group))
            else:
                places[group] = self.one(int(begins[0]), int(ends.max()))
        return places


class _LongLayout:
    def __init__(self, rolled: Rolled, outputs: list[tuple[str, int]]) -> None:
        self.rolled, self.frame, self.outputs = rolled, rolled.frame, outputs
        self.inputs: list[Input] = [self.frame.inputs[i] for i in range(len(self.frame.inputs))]
        self.given = len(self.inputs) + len(rolled.tables)
        self.statics = _statics(rolled.items)
        self._write_out()
        self.extras: list[int] = []
        self.columns: list[int] = []
        self.loads = 0

    def _write_out(self) -> None:
        """Every instruction in its order, as arrays."""
        pieces, first = [], 0
        for item in self.rolled.items:
            given = np.array(operands_of(item), np.int32).reshape(1, -1)
            made, first = _written(item, given, first)
            pieces.append(made)
        self.static = np.concatenate([piece.static.reshape(-1) for piece in pieces])
        self.operands = np.concatenate([piece.operands.reshape(-1) for piece in pieces])
        widths = np.array([len(each.args) for each in self.statics], np.int32)
        results = np.array([len(each.results) for each in self.statics], np.int32)
        self.widths, self.several = widths[self.static], results[self.static]
        numbers = np.arange(len(self.static), dtype=np.int32)
        self.starts = np.zeros(len(self.static) + 1, np.int32)
        np.cumsum(self.widths, out=self.starts[1:])
        self.owners = np.repeat(numbers, self.widths)
        self.made = np.repeat(numbers, self.several)  # by result: where
        self.result = np.cumsum(self.several, dtype=np.int32)  # first id
        self.result += np.int32(self.given) - self.several
        self.in_place = np.array([each.op in IN_PLACE for each in self.statics])[self.static]

    def _varying(self) -> tuple[Flags, Flags]:
        """Which inputs and which static instructions differ from row to row."""
        kinds = [given.kind in (ROW, SEED) for given in self.inputs]
        inputs = np.array(kinds + [False] * len(self.rolled.tables), bool)
        from_input = self.operands < self.given
        varies = np.zeros(len(self.statics), bool)
        direct = inputs[self.operands[from_input]]
        varies[self.static[self.owners[from_input][direct]]] = True
        if self.frame.guards:  # an index may be meant for rows that pass them
            varies |= np.array([each.op == TAKE.name for each in self.statics])
        count = len(self.statics)
        maker = self.static[self.made[self.operands[~from_input] - self.given]]
        codes = maker * np.int64(count) + self.static[self.owners[~from_input]]
        if count * count < 1 << 24:
            pairs = np.flatnonzero(np.bincount(codes, minlength=1))
        else:
            pairs = np.unique(codes)
        users: dict[int, list[int]] = {}
        for maker_number, user in zip((pairs // count).tolist(), (pairs % count).tolist()):
            users.setdefault(maker_number, []).append(user)
        pending = np.flatnonzero(varies).tolist()
        while pending:
            for user in users.get(pending.pop(), ()):
                if not varies[user]:
                    varies[user] = True
                    pending.append(user)
        return inputs, varies

    def run(self) -> Plan:
        inputs, varies = self._varying()
        lane = varies[self.static]
        self._place(inputs, lane)
        once = self._steps(np.flatnonzero(~lane), strip=True)
        steps = _with_fetches(self._with_others(np.flatnonzero(lane), inputs))
        uniforms = np.zeros(self.uniforms + 1)
        places = self.place[: self.given] & IN_ITS_KIND
        constants = np.array([given.kind == CONSTANT for given in self.inputs], bool)
        numbers = np.array([given.number for given in self.inputs])
        uniforms[places[: len(numbers)][constants]] = numbers[constants]
        uniforms[places[len(numbers) : self.given]] = self.rolled.tables
        asked = [
            i for i, g in enumerate(self.inputs) if g.kind not in (ROW, SEED, CAPTURED, CONSTANT)
        ]
        stored = sum(what == "store" for what, _ in self.outputs)
        return Plan(
            _words(steps), _words(once), array("I", self.extras or [0]), uniforms,
            [int(places[i]) for i in asked], asked, array("I", self.columns), self.slots,
            stored, len(self.outputs) - stored, len(self.frame.guards), self.outputs,
            self.uniforms + 1,
        )  # fmt: skip

    # ---- places ------------------------------------------------------------------------------

    def _place(self, inputs: Flags, lane: Flags) -> None:
        """Where every number is: by id."""
        count = self.given + len(self.made)
        self.place = np.full(count, CARRIED, np.uint32)
        numbers = np.flatnonzero(~inputs)
        captured = np.array([g.kind == CAPTURED for g in self.inputs], bool)
        captured = np.append(captured, np.zeros(len(self.rolled.tables), bool))[numbers]
        ordered = np.concatenate((numbers[captured], numbers[~captured]))
        self.place[ordered] = np.arange(len(ordered)) | UNIFORM
        self.last = np.full(count, -1, np.int32)
        self.last[self.operands] = self.owners  # of several uses the last one stays
        ends = np.maximum(self.last[self.given :], self.made)
        on_lanes = lane[self.made]
        kept = np.zeros(count, bool)  # what lanes read lasts
        kept[self.operands[lane[self.owners]]] = True
        kept[self._outside()] = True
        several = np.array([len(each.results) for each in self.statics], np.int32)
        key = (np.cumsum(several, dtype=np.int32) - several)[self.static[self.made]]
        key += np.arange(self.given, self.given + len(self.made), dtype=np.int32)
        key -= self.result[self.made]
        may = self.in_place[self.made]
        once = _Places(len(ordered))
        lasting = np.where(kept[self.given :], len(self.static), ends)
        alone = (self.several == 1)[self.made]
        uniform = once.give(self.made, lasting, key, ~on_lanes & alone, may)
        self._side_by_side(uniform, once, ~lane)
        self.uniforms = once.count
        self._hand_on(lane)
        slots = _Places(0)
        wanted = on_lanes & alone & ~self.only_handed[self.made]
        lanes = slots.give(self.made, ends, key, wanted, may)
        self._side_by_side(lanes, slots, lane)
        self.place[self.given :] = np.where(on_lanes, lanes, uniform | np.uint32(UNIFORM))
        self.slots = slots.count

    def _side_by_side(self, places: Words, among: _Places, which: Flags) -> None:
        """The results of a scatter stand side by side: fresh places for each."""
        for number in np.flatnonzero((self.several > 1) & which).tolist():
            first, count = int(self.result[number]) - self.given, int(self.several[number])
            place = among.fresh(count)
            places[first : first + count] = np.arange(place, place + count)

    def _hand_on(self, lane: Flags) -> None:
        """Which operands come from the step just before, and which results are needed nowhere
        else: for all rounds of a static instruction, or for none."""
        steps = np.flatnonzero(lane)
        before = np.full(len(self.static), -1, np.int32)
        good = (self.several == 1)[steps]
        before[steps[1:]] = np.where(good[:-1], self.result[steps[:-1]], -1)
        self.handed = (self.operands == before[self.owners]) & self.in_place[self.owners]
        only = np.zeros(self.given + len(self.made), bool)
        only[self.operands] = True
        only[self.operands[~self.handed]] = False
        mine = only[self.result] & lane & (self.several == 1)
        never = np.unique(self.static[~mine])
        mine[np.isin(self.static, never)] = False
        self.only_handed = mine

    def _outside(self) -> list[int]:
        return [i for _, i in self.outputs] + [g.condition for g in self.frame.guards]

    # ---- steps -------------------------------------------------------------------------------

    def _steps(self, numbers: Integers, strip: bool = False) -> Words:
        """The steps of some instructions, six numbers each."""
        steps = np.zeros((len(numbers), 6), np.uint32)
        codes = np.array([STEPS[each.op] for each in self.statics], np.uint32)
        steps[:, 0] = codes[self.static[numbers]]
        steps[:, 2] = self.place[self.result[numbers]] & IN_ITS_KIND
        place = np.where(self.handed, CARRIED, self.place[self.operands])
        if strip:
            place = place & IN_ITS_KIND
        plain = self.in_place[numbers]
        for field in range(3):
            has = plain & (self.widths[numbers] > field)
            steps[has, 3 + field] = place[self.starts[numbers[has]] + field]
        for row in np.flatnonzero(~plain).tolist():
            steps[row] = self._listed_step(int(numbers[row]), steps[row], place)
        return steps

    def _listed_step(self, number: int, step: Any, place: Words) -> list[int]:
        """A step that lists its operands among the extras."""
        each = self.statics[self.static[number]]
        operands = place[self.starts[number] : self.starts[number + 1]].tolist()
        code, out, first, half = int(step[0]), int(step[2]), len(self.extras), len(operands) // 2
        self.extras += operands
        if each.op == "scatter":
            return [code, len(each.results), out, first, half, 0]
        if each.op == DOT.name:
            return [code, half, out, first, first + half, 0]
        return [code, len(STRUCTURAL[each.op].items(tuple(operands))), out, first, 0, 0]

    def _with_others(self, numbers: Integers, inputs: Flags) -> Words:
        """The steps on lanes, with loads before first uses and stores and guards after results."""
        position = np.full(len(self.static) + 1, -1, np.int32)
        position[numbers] = np.arange(len(numbers))
        inserted: list[tuple[int, int, list[int]]] = []  # before which step, and in which order
        loaded = self._loads(inserted, position, len(numbers), inputs)
        steps = self._steps(numbers)
        self._ask(inserted, position, loaded)
        inserted.sort(key=lambda each: each[:2])
        if not inserted:
            return steps
        rows = np.array([step for _, _, step in inserted], np.uint32)
        return np.insert(steps, [at for at, _, _ in inserted], rows, axis=0)

    def _loads(
        self,
        inserted: list[tuple[int, int, list[int]]],
        position: Small,
        end: int,
        inputs: Flags,
    ) -> dict[int, int]:
        """The steps that load columns, eight together where they lie so; by input before which
        step it is there."""
        edges = np.flatnonzero(self.operands < self.given)
        edges = edges[inputs[self.operands[edges]]]
        found, first = np.unique(self.operands[edges], return_index=True)
        use = dict(zip(found.tolist(), position[self.owners[edges[first]]].tolist()))
        for index in self._outside():
            if index < self.given and inputs[index]:
                use.setdefault(index, end)
        by_place: dict[tuple[str, int], list[int]] = {}
        for index in sorted(use):
            given = self.inputs[index]
            key = (given.array, given.column // 8) if given.column >= 0 else ("", -1 - index)
            by_place.setdefault(key, []).append(index)
        groups = []
        for group in by_place.values():
            groups += [group] if len(group) == 8 else [[index] for index in group]
        groups.sort(key=lambda group: min(use[index] for index in group))
        after = _Places(self.slots)
        loaded: dict[int, int] = {}
        for order, group in enumerate(groups):
            at = min(use[index] for index in group)
            slots = []
            for index in group:
                late = int(self.last[index])
                until = end + 1 if late < 0 else int(position[late]) + 1
                slots.append(after.one(at, until))
            self.place[group] = slots
            loaded.update(dict.fromkeys(group, at))
            offset = len(self.extras)
            if len(group) > 1:
                self.extras += slots
            name = "eight" if len(group) > 1 else "load"
            step = [STEPS[name], 0, slots[0], len(self.columns), offset, 0]
            self.columns += group
            inserted.append((at, order, step))
        self.loads = len(groups)
        self.slots = after.count
        return loaded

    def _ask(
        self,
        inserted: list[tuple[int, int, list[int]]],
        position: Small,
        loaded: dict[int, int],
    ) -> None:
        """Stores, reductions and guards, each as soon as its number is there."""
        counts = {"store": 0, "reduce": 0}
        wanted = []
        for what, index in self.outputs:
            wanted.append((self._ready(index, position, loaded), what, index, 0, counts[what]))
            counts[what] += 1
        for number, guard in enumerate(self.frame.guards):
            at = self._ready(guard.condition, position, loaded)
            wanted.append((at, "guard", guard.condition, int(guard.outcome), number))
        wanted.sort(key=lambda each: each[0])
        checked: set[int] = set()
        passed = 0
        offset = self.loads
        for place, (at, what, index, count, target) in enumerate(wanted):
            if what == "guard":
                checked.add(target)
                while passed in checked:
                    passed += 1
            done = passed if what == "guard" else 0
            where = int(self.place[index])
            inserted.append((at, offset + place, [STEPS[what], count, 0, where, target, done]))

    def _ready(self, index: int, position: Small, loaded: dict[int, int]) -> int:
        """Before which step a number is there."""
        if index < self.given:
            return loaded.get(index, 0)
        at = int(position[self.made[index - self.given]])
        return at + 1  # 0 where it is the same for all rows


def _with_fetches(steps: Words) -> Words:
    """The steps, and evenly among them those that fetch the next rows' columns ahead of time."""
    eights = steps[steps[:, 0] == STEPS["eight"]]
    if not len(eights):
        return steps
    wanted = np.zeros((8 * len(eights), 6), np.uint32)
    wanted[:, 0] = STEPS["fetch"]
    wanted[:, 3] = np.repeat(eights[:, 3], 8)
    wanted[:, 4] = np.tile(np.arange(8), len(eights))
    places = ((np.arange(len(wanted)) + 1) * (len(steps) / len(wanted))).astype(np.int64)
    return np.insert(steps, places, wanted, axis=0)


def _words(steps: Words) -> array[int]:
    words = array("I")
    words.frombytes(np.ascontiguousarray(steps).reshape(-1).view(np.uint8).data)
    return words


def laid_out_long(rolled: Rolled, outputs: list[tuple[str, int]]) -> Plan:
    """The plan for a program with long loops."""
    return _LongLayout(rolled, outputs).run()
