"""Programs with long loops, cut down to short ones.

What a transform does to a loop is the same in all rounds but the first and the last few, so
``stretching.py`` runs it on loops of some thirty rounds. Here is what such a short program looks
like, and what of a long one is regular enough to be shown by it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from struct import pack

from .loops import Item, Loop, Rolled, ids_of, operands_of
from .program import CONSTANT, Guard, Input, Instruction, Program

LONG = 64
"""Rounds from which on a loop is cut down."""
SHORT = 28
"""Rounds of the loops that are cut down, and a few more."""
NEAR = 4
"""Rounds at either end of a loop that may be read otherwise than the rest."""
LEAST_PROOF, MOST_PROOF = 8, 400
"""Rounds more at which it is tried whether the numbers are linear: as many as it takes for what
depends on what to get through all that a loop carries on, and back."""


class IrregularError(Exception):
    """Something does not repeat as it should."""


@dataclass(frozen=True)
class Place:
    """What an id of a result stands for: an item, a round of it if that is a long loop, and how
    far on in it."""

    item: int
    trip: int
    offset: int


class Long:
    """A program with long loops."""

    def __init__(self, rolled: Rolled, wrt: Sequence[int]) -> None:
        self.rolled = rolled
        self.frame = rolled.frame
        self.first = len(self.frame.inputs) + len(rolled.tables)
        self.starts: list[int] = []
        at = self.first
        for item in rolled.items:
            self.starts.append(at)
            at += ids_of(item)
        self.long = [isinstance(item, Loop) and item.trips >= LONG for item in rolled.items]
        self.lengths = self._lengths()
        self.wrt = list(wrt)
        self.moving = self._moving()
        self.guards = [self.place(g.condition) for g in self.frame.guards]
        self.proof = self._proof()
        self.tables = self._tables()
        self.known = [i for i, given in self.frame.inputs.items() if given.is_known]
        self._check_moves()
        self._check_lists(self.rolled.items)

    def _check_moves(self) -> None:
        """What a long loop reads of other rounds, its own or another loop's, it must read round by
        round and from end to end: else the short programs would show rounds that are read for
        others that are not."""
        for number, item in enumerate(self.rolled.items):
            if not self.long[number]:
                continue
            assert isinstance(item, Loop)
            reach = [span for part in item.body for span in _inner(part)]
            for base, stride, (low, high, _) in zip(operands_of(item), item.strides, reach):
                if stride and base < self.first:
                    far = (item.trips - 1) * stride
                    self._check_inputs(base + low + min(far, 0), base + high + max(far, 0))
                elif stride:
                    for start in (base + low, base + high):
                        self._check_move(item, start, stride)

    def _check_inputs(self, low: int, high: int) -> None:
        """Values that the function makes in each round are known numbers, and a transform makes
        use of that: they must all be the same."""
        known = [i for i in self.known if low <= i <= high]
        numbers = {pack("d", self.frame.inputs[i].number) for i in known}
        if known and (len(numbers) > 1 or len(known) <= high - low):
            raise IrregularError

    def _check_move(self, item: Loop, start: int, stride: int) -> None:
        """An operand in the first round, and how it moves."""
        one = self.place(start + NEAR * stride)
        last = self.place(start + (item.trips - 1) * stride)
        if one is None or last is None or one.item != last.item or one.offset != last.offset:
            raise IrregularError
        other = self.rolled.items[one.item]
        if not isinstance(other, Loop) or not self.long[one.item] or abs(stride) != other.period:
            raise IrregularError
        if self.group(other.trips) != self.group(item.trips):
            raise IrregularError
        first, end = sorted((one.trip, last.trip))
        if first > 2 * NEAR or end < other.trips - 1 - 2 * NEAR:
            raise IrregularError

    def _check_lists(self, items: Sequence[Item]) -> None:
        """A list of many operands has every round of a loop that it has any of, but a few at the
        ends."""
        for item in items:
            if isinstance(item, Loop):
                self._check_lists(item.body)
                continue
            rounds: dict[tuple[int, int], list[int]] = {}
            for place in map(self.place, item.args if len(item.args) >= LONG else ()):
                if place is not None and self.long[place.item]:
                    rounds.setdefault((place.item, place.offset), []).append(place.trip)
            for (number, _), trips in rounds.items():
                loop = self.rolled.items[number]
                assert isinstance(loop, Loop)
                whole = sorted(trips) == list(range(min(trips), max(trips) + 1))
                if not whole or min(trips) > NEAR or max(trips) < loop.trips - 1 - NEAR:
                    raise IrregularError

    def _proof(self) -> int:
        """How many rounds more show all that may become of a loop."""
        most = 0
        for item, long in zip(self.rolled.items, self.long):
            if long:
                assert isinstance(item, Loop)
                most = max(most, _carried(item))
        proof = LEAST_PROOF + 4 * most
        if proof > MOST_PROOF or any(SHORT + proof >= trips for trips in self.lengths):
            raise IrregularError
        return proof

    def _tables(self) -> dict[int, Input]:
        """The numbers of tables that short programs read: the same for all of them."""
        read: set[int] = set()
        for item, long in zip(self.rolled.items, self.long):
            if long and isinstance(item, Loop):
                item = item._replace(trips=SHORT + self.proof)
            read.update(_inputs_of(item, operands_of(item), self.first))
        first, numbers = len(self.frame.inputs), self.rolled.tables
        return {
            index: Input(CONSTANT, "", float(numbers[index - first]), "", index - first)
            for index in sorted(read)
            if index >= first
        }

    def _lengths(self) -> list[int]:
        """The longest of each group of loops of nearly the same length."""
        items = self.rolled.items
        found = {item.trips for item in items if isinstance(item, Loop) and item.trips >= LONG}
        groups: list[int] = []
        for trips in sorted(found, reverse=True):
            if not groups or groups[-1] - trips > NEAR:
                groups.append(trips)
        return groups

    def _moving(self) -> dict[int, int]:
        """By input asked for: the first round in which a long loop reads it, for inputs that are
        read one a round."""
        found: dict[int, int] = {}
        wanted = set(self.wrt)
        if not wanted:
            return found
        still: set[int] = set()  # read otherwise too
        for item, long in zip(self.rolled.items, self.long):
            if not long:
                still |= _inputs_of(item, operands_of(item), self.first) & wanted
                continue
            assert isinstance(item, Loop)
            reach = [span for part in item.body for span in _inner(part)]
            for base, stride, (low, high, _) in zip(operands_of(item), item.strides, reach):
                if base >= self.first:
                    continue
                if low or high or not stride:
                    whole = range(
                        min(base, base + (item.trips - 1) * stride) + low,
                        max(base, base + (item.trips - 1) * stride) + high + 1,
                    )
                    read = {index for index in whole if index in wanted}
                    if read and stride:
                        raise IrregularError  # loops in the loop read them, several a round
                    still |= read
                    continue
                for trip in range(item.trips):
                    index = base + trip * stride
                    if index in wanted:
                        found[index] = min(found.get(index, trip), trip)
        if any(found.get(index, 0) > SHORT // 4 for index in still):
            raise IrregularError
        return found

    def place(self, index: int) -> Place | None:
        """Where a result is; None for an input."""
        if index < self.first:
            return None
        number = bisect_right(self.starts, index) - 1
        offset = index - self.starts[number]
        if not self.long[number]:
            return Place(number, 0, offset)
        item = self.rolled.items[number]
        assert isinstance(item, Loop)
        trip, offset = divmod(offset, item.period)
        return Place(number, trip, offset)

    def group(self, trips: int) -> int:
        """The group of a length."""
        return next(i for i, n in enumerate(self.lengths) if 0 <= n - trips <= NEAR)


def _carried(loop: Loop) -> int:
    """How many numbers a loop hands on to later rounds, or a few more."""
    begin = min(_results(loop))
    found: dict[tuple[int, int, int], int] = {}
    inner = [each for part in loop.body for each in _inner(part)]
    for base, stride, (low, high, count) in zip(operands_of(loop), loop.strides, inner):
        if stride == loop.period and base + low < begin:
            found[base, low, high] = count
    return sum(found.values())


def _inner(item: Item) -> list[tuple[int, int, int]]:
    """By operand: how far it goes down and up in the loops of an item, and over how many."""
    if not isinstance(item, Loop):
        return [(0, 0, 1)] * len(item.args)
    spans = [span for part in item.body for span in _inner(part)]
    found = []
    for (low, high, count), stride in zip(spans, item.strides):
        far = (item.trips - 1) * stride
        more = item.trips if stride else 1
        found.append((low + min(far, 0), high + max(far, 0), count * more))
    return found


def _results(item: Item) -> list[int]:
    if isinstance(item, Loop):
        return [result for part in item.body for result in _results(part)]
    return list(item.results)


def _inputs_of(item: Item, operands: list[int], first: int) -> set[int]:
    """The inputs that an item reads in all its rounds."""
    if not isinstance(item, Loop):
        return {operand for operand in operands if operand < first}
    found: set[int] = set()
    widths = [len(operands_of(part)) for part in item.body]
    for trip in range(item.trips):
        moved = [each + trip * stride for each, stride in zip(operands, item.strides)]
        done = 0
        for part, width in zip(item.body, widths):
            found |= _inputs_of(part, moved[done : done + width], first)
            done += width
    return found


class Short:
    """A long program with its loops cut down: ``more`` rounds than ``SHORT`` by group of length."""

    def __init__(self, whole: Long, more: Sequence[int]) -> None:
        self.whole = whole
        self.trips: dict[int, int] = {}
        self.starts: list[int] = []
        at = whole.first
        for number, item in enumerate(whole.rolled.items):
            self.starts.append(at)
            if whole.long[number]:
                assert isinstance(item, Loop)
                group = whole.group(item.trips)
                trips = SHORT + more[group] + item.trips - whole.lengths[group]
                self.trips[number] = trips
                at += trips * item.period
            else:
                at += ids_of(item)
        self.count = at

    def is_there(self, place: Place | None) -> bool:
        """Whether something that is asked for once a round is asked for here."""
        return place is None or place.trip < self.trips.get(place.item, 1)

    def id_of(self, index: int) -> int:
        """The id that a number has here: rounds of a loop go from its start, or from its end."""
        place = self.whole.place(index)
        return index if place is None else self.at(place)

    def at(self, place: Place) -> int:
        """The id of a place."""
        item = self.whole.rolled.items[place.item]
        trip, start = place.trip, self.starts[place.item]
        if place.item not in self.trips:
            return start + place.offset
        assert isinstance(item, Loop)
        if 2 * trip >= item.trips:
            trip -= item.trips - self.trips[place.item]
        if not 0 <= trip < self.trips[place.item]:
            raise IrregularError
        return start + trip * item.period + place.offset

    def program(self) -> tuple[Program, list[int]]:
        """The program, flat, and those of the inputs asked for that it reads."""
        whole, frame = self.whole, self.whole.frame
        instructions: list[Instruction] = []
        for number, item in enumerate(whole.rolled.items):
            if number in self.trips:
                assert isinstance(item, Loop)
                item = item._replace(trips=self.trips[number])
            self._write(item, operands_of(item), instructions)
        inputs = {**frame.inputs, **whole.tables}
        guards = [
            Guard(self.at(place) if place else guard.condition, guard.outcome, guard.site)
            for guard, place in zip(frame.guards, whole.guards)
            if self.is_there(place)
        ]
        short = frame.replaced(
            inputs=inputs,
            instructions=instructions,
            guards=guards,
            outputs=[self.id_of(output) for output in frame.outputs],
            count=self.count,
            labels={},
        )
        least = min(self.trips.values())
        return short, [i for i in whole.wrt if whole.moving.get(i, 0) < least]

    def _write(self, item: Item, operands: list[int], out: list[Instruction]) -> None:
        if not isinstance(item, Loop):
            first = out[-1].results[-1] + 1 if out else self.whole.first
            if len(operands) >= LONG:
                operands = [i for i in operands if self.is_there(self.whole.place(i))]
            args = tuple([self.id_of(operand) for operand in operands])
            results = tuple(range(first, first + len(item.results)))
            out.append(Instruction(item.op, results, args, item.site, item.parameters))
            return
        widths = [len(operands_of(part)) for part in item.body]
        for trip in range(item.trips):
            done = 0
            for part, width in zip(item.body, widths):
                moved = [operands[at] + trip * item.strides[at] for at in range(done, done + width)]
                self._write(part, moved, out)
                done += width
