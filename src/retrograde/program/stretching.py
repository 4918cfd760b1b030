"""Programs derived from programs with long loops, without writing the loops out.

What a transform does to a loop is the same in all rounds but the first and the last few: so a loop
of n rounds is cut down to some twenty, the transform is run on that, its loops are found again, and
their numbers are stretched back. Every number of such a program is a linear function of the rounds:
it is worked out from three lengths of each loop, all of which must agree, and what comes out is
checked as every program is. Where anything is not as regular as that, nothing is stretched.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ProgramError
from .checker import check_rolled
from .loops import Item, Loop, Rolled, ids_of, operands_of
from .numbering import roll
from .program import CONSTANT, Guard, Input, Instruction, Program

LONG = 64
"""Rounds from which on a loop is cut down."""
SHORT = 24
"""Rounds of the loops that are cut down, and a few more."""
MOST_LENGTHS = 3
"""Lengths that loops may have, apart from differences of a few rounds."""
NEAR = 4

Transform = Callable[[Program, list[int]], Program]
"""A program and the ids of the inputs asked for to a derived program, with as many outputs again."""


class _IrregularError(Exception):
    """Something does not repeat as it should."""


@dataclass(frozen=True)
class _Place:
    """What an id of a result stands for: an item, a round of it if that is a long loop, and how
    far on in it."""

    item: int
    trip: int
    offset: int


class _Long:
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
        self.long = [
            isinstance(item, Loop) and item.trips >= LONG for item in rolled.items
        ]
        self.lengths = self._lengths()
        self.wrt = list(wrt)
        self.moving = self._moving()
        self.guards = [self.place(g.condition) for g in self.frame.guards]

    def _lengths(self) -> list[int]:
        """The longest of each group of loops of nearly the same length."""
        found = {item.trips for item, long in zip(self.rolled.items, self.long) if long}
        groups: list[int] = []
        for trips in sorted(found, reverse=True):
            if not groups or groups[-1] - trips > NEAR:
                groups.append(trips)
        return groups

    def _moving(self) -> dict[int, int]:
        """By input: the first round in which a long loop reads it, for inputs that are read so."""
        found: dict[int, int] = {}
        wanted = set(self.wrt)
        for item, long in zip(self.rolled.items, self.long):
            if not long or not wanted:
                continue
            assert isinstance(item, Loop)
            for base, stride in zip(operands_of(item), item.strides):
                if base < self.first and stride:
                    for trip in range(item.trips):
                        index = base + trip * stride
                        if index in wanted:
                            found[index] = min(found.get(index, trip), trip)
        return found

    def place(self, index: int) -> _Place | None:
        """Where a result is; None for an input."""
        if index < self.first:
            return None
        number = bisect_right(self.starts, index) - 1
        offset = index - self.starts[number]
        if not self.long[number]:
            return _Place(number, 0, offset)
        item = self.rolled.items[number]
        assert isinstance(item, Loop)
        trip, offset = divmod(offset, item.period)
        return _Place(number, trip, offset)

    def group(self, trips: int) -> int:
        """The group of a length."""
        return next(i for i, n in enumerate(self.lengths) if 0 <= n - trips <= NEAR)


class _Short:
    """A long program with its loops cut down: ``more`` rounds than ``SHORT`` by group of length."""

    def __init__(self, whole: _Long, more: Sequence[int]) -> None:
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

    def is_there(self, place: _Place | None) -> bool:
        """Whether something that is asked for once a round is asked for here."""
        return place is None or place.trip < self.trips.get(place.item, 1)

    def id_of(self, index: int) -> int:
        """The id that a number has here: rounds of a loop go from its start, or from its end."""
        place = self.whole.place(index)
        return index if place is None else self.at(place)

    def at(self, place: _Place) -> int:
        """The id of a place."""
        item = self.whole.rolled.items[place.item]
        trip, start = place.trip, self.starts[place.item]
        if place.item not in self.trips:
            return start + place.offset
        assert isinstance(item, Loop)
        if 2 * trip >= item.trips:
            trip -= item.trips - self.trips[place.item]
        if not 0 <= trip < self.trips[place.item]:
            raise _IrregularError
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
        inputs = dict(frame.inputs)
        at = len(inputs)
        for column, constant in enumerate(whole.rolled.tables.tolist()):
            inputs[at + column] = Input(CONSTANT, "", constant, "", column)
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
            first = self.whole.first + (out[-1].results[-1] + 1 - self.whole.first if out else 0)
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
                moved = [
                    operands[at] + trip * item.strides[at] for at in range(done, done + width)
                ]
                self._write(part, moved, out)
                done += width


# ---- numbers as functions of the rounds --------------------------------------------------------


class _Sequence(list[int]):
    """Numbers of which there are more where loops are longer."""


def _numbers(items: Sequence[Item]) -> Iterator[int | _Sequence]:
    """All numbers of items but their own ids, which count up."""
    for item in items:
        if isinstance(item, Loop):
            yield item.trips
            yield item.period
            yield from item.strides
            yield from _numbers(item.body)
        elif len(item.args) >= SHORT // 2:
            yield _Sequence(item.args)
        else:
            yield from item.args


def _form(items: Sequence[Item]) -> list[object]:
    """What is left of items without their numbers."""
    form: list[object] = []
    for item in items:
        if isinstance(item, Loop):
            form += ["loop", len(item.strides), _form(item.body)]
        else:
            width = len(item.args)
            form += [item.op, len(item.results), width if width < SHORT // 2 else -1, item.site]
    return form


class _Lines:
    """Numbers known at the shortest lengths, one round more and two rounds more of each group."""

    def __init__(self, far: Sequence[int]) -> None:
        self.far = list(far)

    def number(self, at: Sequence[int]) -> int:
        """A number at the full lengths. ``at``: the shortest, then by group one and two more."""
        found = at[0]
        for group, far in enumerate(self.far):
            one, two = at[1 + 2 * group], at[2 + 2 * group]
            if two - one != one - at[0]:
                raise _IrregularError
            found += (one - at[0]) * far
        return found

    def several(self, at: Sequence[Sequence[int]]) -> list[int]:
        """A sequence at the full lengths: the same step in its middle, at all lengths."""
        length = self.number([len(each) for each in at])
        shortest = min(map(len, at))
        if length == shortest:
            return [self.number([each[i] for each in at]) for i in range(length)]
        third = shortest // 3
        begin = [self.number([each[i] for each in at]) for i in range(third)]
        end = [self.number([each[len(each) - third + i] for each in at]) for i in range(third)]
        steps = {b - a for each in at for a, b in zip(each[third - 2 : 1 - third], each[third - 1 : 2 - third])}
        if third < 3 or len(steps) != 1:
            raise _IrregularError
        (step,) = steps
        middle = length - 2 * third
        if begin[-1] + (middle + 1) * step != end[0] or begin[-1] - begin[-2] != step:
            raise _IrregularError
        return [*begin, *[begin[-1] + (i + 1) * step for i in range(middle)], *end]

    def items(self, forms: Sequence[Sequence[Item]], first: int) -> list[Item]:
        """Items at the full lengths, from those at the short ones; ids count up from ``first``."""
        made: list[Item] = []
        for parts in zip(*forms):
            item: Item
            one = parts[0]
            if isinstance(one, Loop):
                loops = [part for part in parts if isinstance(part, Loop)]
                strides = zip(*[loop.strides for loop in loops])
                item = Loop(
                    self.number([loop.trips for loop in loops]),
                    tuple(self.items([loop.body for loop in loops], first)),
                    self.number([loop.period for loop in loops]),
                    tuple([self.number(each) for each in strides]),
                )
            else:
                rows = [part.args for part in parts if isinstance(part, Instruction)]
                if len(one.args) >= SHORT // 2:
                    args = self.several(rows)
                else:
                    args = [self.number(each) for each in zip(*rows)]
                results = tuple(range(first, first + len(one.results)))
                item = one._replace(results=results, args=tuple(args))
            made.append(item)
            first += ids_of(item)
        return made


def stretched(rolled: Rolled, wrt: Sequence[int], transform: Transform) -> Rolled | None:
    """What a transform makes of a program with long loops; None where it is not regular enough,
    or where there are none."""
    whole = _Long(rolled, wrt)
    if not whole.lengths or len(whole.lengths) > MOST_LENGTHS:
        return None
    groups = len(whole.lengths)
    nowhere = [0] * groups
    points = [nowhere]
    for group in range(groups):
        for more in (1, 2):
            points.append([*nowhere[:group], more, *nowhere[group + 1 :]])
    try:
        samples = [_Short(whole, point).program() for point in points]
        derived = [roll(transform(*sample)) for sample in samples]
        return _joined(whole, samples, derived)
    except (_IrregularError, ProgramError):
        return None


def _joined(
    whole: _Long, samples: list[tuple[Program, list[int]]], derived: list[Rolled]
) -> Rolled:
    """Derived programs of several lengths as one of the full lengths."""
    one = derived[0]
    form, inputs = _form(one.items), list(one.frame.inputs.values())
    for other in derived:
        same = _form(other.items) == form and list(other.frame.inputs.values()) == inputs
        if not same or len(other.tables):
            raise _IrregularError
    lines = _Lines([trips - SHORT for trips in whole.lengths])
    first = len(inputs)
    items = lines.items([each.items for each in derived], first)
    frame = one.frame.replaced(
        count=first + sum(map(ids_of, items)),
        outputs=_outputs(whole, samples, derived, lines),
        guards=_guards(whole, derived, lines),
    )
    return check_rolled(Rolled(frame, items), "stretching")


def _outputs(
    whole: _Long,
    samples: list[tuple[Program, list[int]]],
    derived: list[Rolled],
    lines: _Lines,
) -> list[int]:
    """The outputs at the full lengths: what is asked for of moving inputs comes in runs."""
    if not whole.moving:
        if len({len(each.frame.outputs) for each in derived}) != 1:
            raise _IrregularError
        return [lines.number(each) for each in zip(*[d.frame.outputs for d in derived])]
    before = len(derived[0].frame.outputs) - len(samples[0][1])
    if before < 0 or any(len(d.frame.outputs) - len(w) != before for d, (_, w) in zip(derived, samples)):
        raise _IrregularError  # not one output for each input asked for
    found = [lines.number(each) for each in zip(*[d.frame.outputs[:before] for d in derived])]
    runs = [_runs(wrt, whole.moving) for _, wrt in samples]
    full = _runs(whole.wrt, whole.moving)
    if any([moves for moves, _ in each] != [moves for moves, _ in full] for each in runs):
        raise _IrregularError
    places = [before] * len(derived)
    for number, (moves, length) in enumerate(full):
        pieces = []
        for sample, each in enumerate(runs):
            end = places[sample] + each[number][1]
            pieces.append(derived[sample].frame.outputs[places[sample] : end])
            places[sample] = end
        found += lines.several(pieces) if moves else [lines.number(e) for e in zip(*pieces)]
        if len(found) != before + sum(count for _, count in full[: number + 1]):
            raise _IrregularError
    return found


def _runs(wrt: Sequence[int], moving: dict[int, int]) -> list[tuple[bool, int]]:
    """How many inputs in a row move, how many do not, and so on."""
    runs: list[tuple[bool, int]] = []
    for index in wrt:
        moves = index in moving
        if runs and runs[-1][0] == moves:
            runs[-1] = moves, runs[-1][1] + 1
        else:
            runs.append((moves, 1))
    return runs


def _guards(whole: _Long, derived: list[Rolled], lines: _Lines) -> list[Guard]:
    """The guards at the full lengths, those of a loop's rounds one after another."""
    by_place: dict[tuple[int, int], list[int]] = {}  # the guards of one line of a loop
    for number, place in enumerate(whole.guards):
        key = (-1 - number, 0) if place is None else (place.item, place.offset)
        by_place.setdefault(key, []).append(number)
    conditions = [[g.condition for g in each.frame.guards] for each in derived]
    taken: list[dict[int, int]] = []
    points = [0] * len(derived)
    shorts = _short_guards(whole, len(lines.far))
    for sample, numbers in enumerate(shorts):
        if len(numbers) != len(conditions[sample]):
            raise _IrregularError
        taken.append(dict(zip(numbers, conditions[sample])))
    del points
    found: dict[int, int] = {}
    for numbers in by_place.values():
        pieces = [[each[n] for n in numbers if n in each] for each in taken]
        known = lines.several(pieces) if len(numbers) > 1 else [lines.number([p[0] for p in pieces])]
        if len(known) != len(numbers):
            raise _IrregularError
        found.update(zip(numbers, known))
    return [
        Guard(found[number], guard.outcome, guard.site)
        for number, guard in enumerate(whole.frame.guards)
    ]


def _short_guards(whole: _Long, groups: int) -> list[list[int]]:
    """Which guards the short programs have, in the order of the lengths."""
    nowhere = [0] * groups
    points = [nowhere] + [
        [*nowhere[:g], more, *nowhere[g + 1 :]] for g in range(groups) for more in (1, 2)
    ]
    shorts = [_Short(whole, point) for point in points]
    return [
        [n for n, place in enumerate(whole.guards) if short.is_there(place)] for short in shorts
    ]
