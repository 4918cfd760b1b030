"""Loops whose rounds are computed again when the gradient comes back to them.

A gradient's loop reads what the forward loop made, from its last round to its first, so all of that
has to be kept: memory for every round. With checkpoints only what the loop carries on is kept, once
in about √n rounds, and each stretch between is computed again just before it is read. What is
computed twice is computed by the same instructions from the same numbers, and so has the same bits.

What comes out is a program like any other: the forward loop is a loop of stretches, the backward
loop one of a stretch computed again and then read. Ids are made anew; an operand moves by as much
as the ids of what it reads, or else nothing is changed at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isqrt

from .loops import Item, Loop, Rolled, ids_of, operands_of
from .program import Guard, Instruction

LEAST = 256
"""Rounds from which on a loop gets checkpoints."""
MARGIN = 4
"""Rounds more at either end that are kept, so that no stretch reaches past the loop."""

PIECES = 3
"""What a forward loop becomes: rounds that are kept, the stretches, and rounds that are kept."""
KEPT = "stop"
"""The instruction that keeps what a loop carries on: the same number."""


class UnfitError(Exception):
    """A loop is read in a way that checkpoints do not serve."""


def stretches_in(items: Sequence[Item]) -> int:
    """How many loops are cut into stretches that are computed again."""
    return sum(
        isinstance(item, Loop)
        and any(isinstance(part, Instruction) and part.op == KEPT for part in item.body)
        for item in items
    )


@dataclass(frozen=True)
class Span:
    """A loop and where it stands: ``item`` among the items, ``first`` its first id."""

    item: int
    first: int
    loop: Loop

    @property
    def end(self) -> int:
        """The first id after it."""
        return self.first + self.loop.trips * self.loop.period

    def round_of(self, index: int) -> int:
        """The round that an id is of, before its first and after its last counted on."""
        return (index - self.first) // self.loop.period

    def place_of(self, index: int) -> int:
        """Which number of its round an id is."""
        return (index - self.first) % self.loop.period


@dataclass(frozen=True)
class Cut:
    """How a pair of loops is cut. The forward one: ``head`` rounds that are kept, ``count``
    stretches of ``length`` rounds, and the rest, which is kept too. The backward one: ``top``
    rounds that read the rest, the stretches, each ``reach`` rounds late, and the others. ``depth``
    and ``depth_back`` are the rounds back to which the two read themselves."""

    head: int
    length: int
    count: int
    top: int
    reach: int
    depth: int
    depth_back: int
    latest: int
    """The round of the forward loop that the first backward round reads at the latest."""


def checkpointed(rolled: Rolled) -> Rolled:
    """The program with checkpoints, for every pair of long loops that they serve."""
    at = 0
    while at < len(rolled.items):
        item = rolled.items[at]
        if isinstance(item, Loop) and item.trips >= LEAST and not _is_nest(item):
            with suppress(UnfitError):
                rolled = _Pair(rolled, at).run()
                at += PIECES - 1
        at += 1
    return rolled


def _is_nest(loop: Loop) -> bool:
    """Whether a loop is one of stretches already."""
    return any(isinstance(part, Loop) and part.trips * 4 > loop.trips for part in loop.body)


def _spans(body: Sequence[Item], strides: Sequence[int]) -> list[tuple[int, int, int]]:
    """By operand of a loop's body: how far it moves in a round, and the least and the most that
    it is moved by the loops in it."""
    inner = [each for part in body for each in _inner(part)]
    return [(stride, low, high) for stride, (low, high) in zip(strides, inner)]


def _inner(item: Item) -> list[tuple[int, int]]:
    if not isinstance(item, Loop):
        return [(0, 0)] * len(item.args)
    found = []
    for stride, (low, high) in zip(item.strides, [e for part in item.body for e in _inner(part)]):
        far = (item.trips - 1) * stride
        found.append((low + min(far, 0), high + max(far, 0)))
    return found


def _placed(body: Sequence[Item], operands: Sequence[int], first: int) -> list[Item]:
    """Items with other operands, whose ids count up from ``first``."""
    made: list[Item] = []
    done = 0
    for part in body:
        width = len(operands_of(part))
        mine = operands[done : done + width]
        if isinstance(part, Loop):
            made.append(part._replace(body=tuple(_placed(part.body, mine, first))))
        else:
            results = tuple(range(first, first + len(part.results)))
            made.append(part._replace(results=results, args=tuple(mine)))
        first += ids_of(part)
        done += width
    return made


Where = Callable[[int, int], int]
"""What an operand of the old program is in the new one: its id, and the round that reads it."""


class _Pair:
    """A forward loop and the backward loop that reads it, and how they are cut."""

    def __init__(self, rolled: Rolled, at: int) -> None:
        self.rolled = rolled
        self.inputs = len(rolled.frame.inputs) + len(rolled.tables)
        self.starts = [self.inputs]
        for item in rolled.items:
            self.starts.append(self.starts[-1] + ids_of(item))
        self.forward = self._span(at)
        self.backward = self._span(self._reader(at))
        self.cut = self._cut()
        self.kept = self._kept()
        self.items: list[Item] = []

    def _span(self, at: int) -> Span:
        loop = self.rolled.items[at]
        assert isinstance(loop, Loop)
        return Span(at, self.starts[at], loop)

    def _is_made(self, index: int) -> bool:
        """Whether the forward loop makes an id."""
        return self.forward.first <= index < self.forward.end

    def _reader(self, at: int) -> int:
        """The one loop that reads this one from its end to its begin."""
        found = []
        forward = self.forward
        for number in range(at + 1, len(self.rolled.items)):
            item = self.rolled.items[number]
            if isinstance(item, Loop):
                moving = zip(operands_of(item), item.strides)
                if any(s == -forward.loop.period and self._is_made(base) for base, s in moving):
                    found.append(number)
        if len(found) != 1:
            raise UnfitError
        return found[0]

    def _cut(self) -> Cut:
        forward, backward = self.forward, self.backward
        rounds, depth = [], 0
        for base, (stride, low, high) in self._operands(forward):
            if stride == forward.loop.period and base >= self.inputs:
                if forward.round_of(base + low) != forward.round_of(base + high):
                    raise UnfitError
                depth = max(depth, -forward.round_of(base + low))
        depth_back = 0
        for base, (stride, low, high) in self._operands(backward):
            if base < self.inputs:
                continue
            if stride == -forward.loop.period and base < forward.end:
                rounds += [forward.round_of(base + low), forward.round_of(base + high)]
            elif stride == backward.loop.period:
                depth_back = max(depth_back, -backward.round_of(base + low))
        latest, reach = max(rounds), max(rounds) - min(rounds)
        lowest = latest - (backward.loop.trips - 1)
        depth = max(depth, 1)
        head = max(lowest, 0) + reach + depth + MARGIN
        length = isqrt(latest)
        count = (latest - reach - MARGIN - head) // length if length else 0
        least = 2 * (reach + depth + max(depth_back, 1)) + MARGIN
        if count < 2 or length < least or not 0 <= latest < forward.loop.trips:
            raise UnfitError
        top = latest - (head + count * length + reach - 1)
        if top < 1 or backward.loop.trips - top - count * length < reach + 1:
            raise UnfitError
        return Cut(head, length, count, top, reach, depth, max(depth_back, 1), latest)

    def _operands(self, span: Span) -> list[tuple[int, tuple[int, int, int]]]:
        loop = span.loop
        return list(zip(operands_of(loop), _spans(loop.body, loop.strides)))

    def _kept(self) -> dict[tuple[int, int], int]:
        """What the first rounds of a stretch read of rounds before it: by how many rounds before
        its first one, and which number of that round, its place among what is kept."""
        found: set[tuple[int, int]] = set()
        for base, (stride, low, high) in self._operands(self.forward):
            if stride != self.forward.loop.period or base < self.inputs:
                continue
            if low != high:
                raise UnfitError  # a loop in the loop reads several: not worth the words
            before = -self.forward.round_of(base)
            for trip in range(before):
                found.add((before - trip, self.forward.place_of(base)))
        return {key: place for place, key in enumerate(sorted(found))}

    # ---- where numbers are in the new program ------------------------------------------------

    @property
    def stretch(self) -> int:
        """How many ids a stretch of the forward loop has."""
        return len(self.kept) + self.cut.length * self.forward.loop.period

    @property
    def middle(self) -> int:
        """The first id of the stretches."""
        return self.forward.first + self.cut.head * self.forward.loop.period

    @property
    def more(self) -> int:
        """How many ids more there are before what comes after the forward loop."""
        return self.cut.count * len(self.kept)

    @property
    def again(self) -> int:
        """How many ids are made anew in a stretch of the backward loop."""
        return (self.cut.length + self.cut.reach) * self.forward.loop.period

    @property
    def stretches(self) -> int:
        """The first id of the stretches of the backward loop."""
        return self.backward.first + self.more + self.cut.top * self.backward.loop.period

    @property
    def stretch_back(self) -> int:
        """How many ids a stretch of the backward loop has."""
        return self.again + self.cut.length * self.backward.loop.period

    def moved(self, index: int) -> int:
        """An id in the new program: what is computed again has others besides."""
        cut, forward, backward = self.cut, self.forward, self.backward
        if index < forward.first:
            return index
        if index < forward.end:
            number = forward.round_of(index) - cut.head
            if number < 0:
                return index
            return index + len(self.kept) * min(number // cut.length + 1, cut.count)
        if index < backward.first:
            return index + self.more
        if index < backward.end:
            number = backward.round_of(index) - cut.top
            if number < 0:
                return index + self.more
            return index + self.more + self.again * min(number // cut.length + 1, cut.count)
        return index + self.more + self.again * cut.count

    def fixed(self, low: int, high: int) -> int:
        """By how much ids of a range move, if it is the same for all of them."""
        low, high = min(low, high), max(low, high)
        shift = self.moved(low) - low
        if self.moved(high) - high != shift:
            raise UnfitError
        return shift

    def made_again(self, index: int, stretch: int) -> int:
        """The id of what a stretch, counted from the last one, computes again."""
        begin = self.cut.head + (self.cut.count - 1 - stretch) * self.cut.length
        number = self.forward.round_of(index) - begin
        if not 0 <= number < self.cut.length + self.cut.reach:
            raise UnfitError
        first = self.stretches + stretch * self.stretch_back
        return first + number * self.forward.loop.period + self.forward.place_of(index)

    def kept_at(self, index: int, begin: int, stretch: int) -> int:
        """The id under which what a stretch reads of the rounds before it is kept."""
        key = (begin - self.forward.round_of(index), self.forward.place_of(index))
        if key not in self.kept:
            raise UnfitError
        return self.middle + stretch * self.stretch + self.kept[key]

    # ---- the pieces --------------------------------------------------------------------------

    def run(self) -> Rolled:
        """The whole program."""
        items, cut = self.rolled.items, self.cut
        for number, item in enumerate(items):
            if number == self.forward.item:
                self._forward()
            elif number == self.backward.item:
                self._backward()
            else:
                self.items.append(self._other(item, self.moved(self.starts[number])))
        frame = self.rolled.frame
        frame = frame.replaced(
            outputs=[self.moved(index) for index in frame.outputs],
            guards=[Guard(self.moved(g.condition), g.outcome, g.site) for g in frame.guards],
            labels={self.moved(index): label for index, label in frame.labels.items()},
            made={self.moved(index): made for index, made in frame.made.items()},
            count=frame.count + self.more + self.again * cut.count,
        )
        return Rolled(frame, self.items, self.rolled.tables)

    def _other(self, item: Item, first: int) -> Item:
        """An item of neither loop."""
        operands = [
            base + self.fixed(base + low, base + high)
            for base, (low, high) in zip(operands_of(item), _inner(item))
        ]
        return _placed([item], operands, first)[0]

    def _rounds(self, span: Span, begin: int, trips: int, first: int, where: Where) -> Item | None:
        """A piece of a loop: ``trips`` rounds from ``begin`` on."""
        if not trips:
            return None
        loop = span.loop
        operands, strides = [], []
        for base, (stride, low, high) in self._operands(span):
            one = base + begin * stride
            last = one + (trips - 1) * stride
            operands.append(self._same(one, low, high, begin, where))
            new = self._same(last, low, high, begin + trips - 1, where)
            if new - operands[-1] != last - one:
                raise UnfitError
            strides.append(stride)
        body = tuple(_placed(loop.body, operands, first))
        return Loop(trips, body, loop.period, tuple(strides))

    def _same(self, base: int, low: int, high: int, number: int, where: Where) -> int:
        """Where an operand is, if all that loops in the loop read of it lies there as it did."""
        shifts = {where(base + far, number) - base - far for far in {0, low, high}}
        if len(shifts) > 1:
            raise UnfitError
        return base + shifts.pop()

    def _plain(self, index: int, number: int) -> int:
        return self.moved(index)

    def _add(self, piece: Item | None) -> None:
        if piece is not None:
            self.items.append(piece)

    def _forward(self) -> None:
        """The kept rounds of the head, the stretches, the rest."""
        cut, span = self.cut, self.forward
        self._add(self._steady(span, 0, cut.head, span.first))
        parts = self._stretch_of(lambda stretch: self._forward_stretch(stretch))
        self._add(self._looped(parts, self.stretch))
        done = cut.head + cut.count * cut.length
        first = self.moved(span.first + done * span.loop.period)
        self._add(self._steady(span, done, span.loop.trips - done, first))

    def _steady(self, span: Span, begin: int, trips: int, first: int) -> Item | None:
        """A piece whose operands move as they did."""
        for base, (stride, low, high) in self._operands(span):
            one, last = base + begin * stride, base + (begin + trips - 1) * stride
            self.fixed(min(one, last) + low, max(one, last) + high)
        return self._rounds(span, begin, trips, first, self._plain)

    def _forward_stretch(self, stretch: int) -> list[Item]:
        """What is kept, and then the rounds; those that read it one by one."""
        cut, span = self.cut, self.forward
        begin = cut.head + stretch * cut.length
        first = self.middle + stretch * self.stretch
        parts: list[Item] = []
        for (before, place), at in sorted(self.kept.items(), key=lambda each: each[1]):
            old = span.first + (begin - before) * span.loop.period + place
            parts.append(Instruction(KEPT, (first + at,), (self.moved(old),)))

        def where(index: int, number: int) -> int:
            is_mine = span.first <= index < span.end
            if is_mine and span.round_of(index) < begin and self._is_moving(index, number, span):
                return self.kept_at(index, begin, stretch)
            return self.moved(index)

        first += len(self.kept)
        return parts + self._peeled(span, begin, cut.length, cut.depth, first, where)

    def _is_moving(self, index: int, number: int, span: Span) -> bool:
        """Whether what a round reads is of a round shortly before it."""
        return number - span.round_of(index) <= self.cut.depth

    def _peeled(
        self, span: Span, begin: int, trips: int, peel: int, first: int, where: Where
    ) -> list[Item]:
        """Rounds, of which the first few stand one by one."""
        parts: list[Item] = []
        for trip in range(peel):
            piece = self._rounds(span, begin + trip, 1, first, where)
            assert isinstance(piece, Loop)
            parts += piece.body
            first += span.loop.period
        rest = self._rounds(span, begin + peel, trips - peel, first, where)
        return parts + ([rest] if rest is not None else [])

    def _stretch_of(self, make: Callable[[int], list[Item]]) -> list[list[Item]]:
        """A stretch, the next one and the last one: what is linear is known by them."""
        return [make(number) for number in (0, 1, self.cut.count - 1)]

    def _looped(self, parts: list[list[Item]], period: int) -> Item:
        """Stretches as a loop."""
        one, two, last = ([i for part in each for i in operands_of(part)] for each in parts)
        strides = [b - a for a, b in zip(one, two)]
        far = self.cut.count - 1
        if any(c - a != far * stride for a, c, stride in zip(one, last, strides)):
            raise UnfitError
        return Loop(self.cut.count, tuple(parts[0]), period, tuple(strides))

    def _backward(self) -> None:
        """The rounds that read the rest, the stretches, those that read the head."""
        cut, span = self.cut, self.backward
        self._add(self._steady(span, 0, cut.top, self.moved(span.first)))
        parts = self._stretch_of(lambda stretch: self._backward_stretch(stretch))
        self._add(self._looped(parts, self.stretch_back))
        done = cut.top + cut.count * cut.length
        first = self.moved(span.first + done * span.loop.period)

        def where(index: int, number: int) -> int:
            if self._is_made(index) and self.forward.round_of(index) >= cut.head:
                if self._is_read_back(index, number):
                    return self.made_again(index, cut.count - 1)
            return self.moved(index)

        left = span.loop.trips - done
        self.items += self._peeled(span, done, left, max(cut.reach, 1), first, where)

    def _is_read_back(self, index: int, number: int) -> bool:
        """Whether a backward round reads the forward round that is its own, or one just before."""
        late = self.cut.latest - number - self.forward.round_of(index)
        return 0 <= late <= self.cut.reach

    def _backward_stretch(self, stretch: int) -> list[Item]:
        """A stretch computed again, and then read."""
        cut, span = self.cut, self.backward
        forward = cut.count - 1 - stretch
        begin = cut.head + forward * cut.length
        first = self.stretches + stretch * self.stretch_back

        def anew(index: int, number: int) -> int:
            if self._is_made(index) and self._is_moving(index, number, self.forward):
                if self.forward.round_of(index) < begin:
                    return self.kept_at(index, begin, forward)
                return self.made_again(index, stretch)
            return self.moved(index)

        def where(index: int, number: int) -> int:
            if self._is_made(index) and self._is_read_back(index, number):
                return self.made_again(index, stretch)
            return self.moved(index)

        rounds = cut.length + cut.reach
        parts = self._peeled(self.forward, begin, rounds, cut.depth, first, anew)
        done = cut.top + stretch * cut.length
        first += self.again
        return parts + self._peeled(span, done, cut.length, cut.depth_back, first, where)
