"""Programs derived from programs with long loops, without writing the loops out.

What a transform does to a loop is the same in all rounds but the first and the last few: so a loop
of n rounds is cut down to some twenty, the transform is run on that, its loops are found again, and
their numbers are stretched back. Every number of such a program is a linear function of the rounds:
it is worked out from three lengths of each loop, all of which must agree, and what comes out is
checked as every program is. Where anything is not as regular as that, nothing is stretched.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from struct import pack

from ..errors import ProgramError
from .checker import check_rolled
from .loops import Item, Loop, Rolled, ids_of, operands_of
from .numbering import roll
from .program import CONSTANT, Guard, Input, Instruction, Program

LONG = 64
"""Rounds from which on a loop is cut down."""
SHORT = 28
"""Rounds of the loops that are cut down, and a few more."""
MOST_LENGTHS = 3
"""Lengths that loops may have, apart from differences of a few rounds."""
NEAR = 4
"""Rounds at either end of a loop that may be read otherwise than the rest."""
LEAST_PROOF, MOST_PROOF = 8, 400
"""Rounds more at which it is tried whether the numbers are linear: as many as it takes for what
depends on what to get through all that a loop carries on, and back."""

Transform = Callable[[Program, list[int]], Program]
"""A program and the ids of the inputs asked for → a derived program."""


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
            raise _IrregularError

    def _check_move(self, item: Loop, start: int, stride: int) -> None:
        """An operand in the first round, and how it moves."""
        one = self.place(start + NEAR * stride)
        last = self.place(start + (item.trips - 1) * stride)
        if one is None or last is None or one.item != last.item or one.offset != last.offset:
            raise _IrregularError
        other = self.rolled.items[one.item]
        if not isinstance(other, Loop) or not self.long[one.item] or abs(stride) != other.period:
            raise _IrregularError
        if self.group(other.trips) != self.group(item.trips):
            raise _IrregularError
        first, end = sorted((one.trip, last.trip))
        if first > 2 * NEAR or end < other.trips - 1 - 2 * NEAR:
            raise _IrregularError

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
                    raise _IrregularError

    def _proof(self) -> int:
        """How many rounds more show all that may become of a loop."""
        most = 0
        for item, long in zip(self.rolled.items, self.long):
            if long:
                assert isinstance(item, Loop)
                most = max(most, _carried(item))
        proof = LEAST_PROOF + 4 * most
        if proof > MOST_PROOF or any(SHORT + proof >= trips for trips in self.lengths):
            raise _IrregularError
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
                        raise _IrregularError  # loops in the loop read them, several a round
                    still |= read
                    continue
                for trip in range(item.trips):
                    index = base + trip * stride
                    if index in wanted:
                        found[index] = min(found.get(index, trip), trip)
        if any(found.get(index, 0) > SHORT // 4 for index in still):
            raise _IrregularError
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


# ---- numbers as functions of the rounds --------------------------------------------------------


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
        steps = set()
        for each in at:
            middle_part = each[third - 2 : len(each) - third + 2]
            steps |= {after - before for before, after in pairwise(middle_part)}
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
    try:
        whole = _Long(rolled, wrt)
        if not whole.lengths or len(whole.lengths) > MOST_LENGTHS:
            return None
        shorts = [_Short(whole, more) for more in _more_rounds(len(whole.lengths), whole.proof)]
        samples = [short.program() for short in shorts]
        _check_steady(shorts[-1], *samples[-1])
        derived = [transform(*sample) for sample in samples]
        return _joined(whole, shorts, samples, derived)
    except (_IrregularError, ProgramError):
        return None


MOST_OUTPUTS = 64
"""Outputs of a function for each of which it is followed what they depend on."""


def _check_steady(short: _Short, program: Program, wrt: list[int]) -> None:
    """What depends on the inputs asked for, and what an output depends on, must be the same in
    every round of the later and of the earlier half: a round is made of those before by one rule,
    so what has become steady stays so."""
    if len(program.outputs) > MOST_OUTPUTS:
        raise _IrregularError
    active = set(wrt)
    for op, results, args, _, _ in program.instructions:
        if op != "stop" and not active.isdisjoint(args):
            active.update(results)
    _check_rounds(short, active, late=True)
    for output in program.outputs:
        _check_rounds(short, _under(program, [output], {"stop"}), late=False)
    conditions = [guard.condition for guard in program.guards]
    _check_rounds(short, _under(program, [*program.outputs, *conditions], set()), late=False)


def _under(program: Program, roots: list[int], without: set[str]) -> set[int]:
    """What numbers depend on, not through some ops."""
    found = set(roots)
    for op, results, args, _, _ in reversed(program.instructions):
        if op not in without and not found.isdisjoint(results):
            found.update(args)
    return found


def _check_rounds(short: _Short, marked: set[int], late: bool) -> None:
    for number, trips in short.trips.items():
        item = short.whole.rolled.items[number]
        assert isinstance(item, Loop)
        start = short.starts[number]
        half = range(trips // 2, trips - 1) if late else range(1, trips // 2)
        rounds = {
            tuple([start + trip * item.period + k in marked for k in range(item.period)])
            for trip in half
        }
        if len(rounds) > 1:
            raise _IrregularError


def _more_rounds(groups: int, proof: int) -> list[list[int]]:
    """How many rounds more the short loops have, by group: none, then one and two of each; then
    some more of all, for the proof."""
    nowhere = [0] * groups
    each = [(group, more) for group in range(groups) for more in (1, 2)]
    lines = [[*nowhere[:g], more, *nowhere[g + 1 :]] for g, more in each]
    return [nowhere, *lines, [proof] * groups]


def _joined(
    whole: _Long,
    shorts: list[_Short],
    samples: list[tuple[Program, list[int]]],
    derived: list[Program],
) -> Rolled:
    """Derived programs of several lengths as one of the full lengths."""
    rolled = [_Renumbered(whole, program) for program in derived]
    one, *_, proof = rolled
    form = _form(one.items)
    for other in rolled:
        if _form(other.items) != form or other.inputs != one.inputs:
            raise _IrregularError
    known = rolled[:-1]
    first = len(one.inputs) + len(whole.rolled.tables)
    near = _Lines([whole.proof] * len(whole.lengths))
    if near.items([each.items for each in known], first) != proof.items:
        raise _IrregularError
    lines = _Lines([trips - SHORT for trips in whole.lengths])
    items = lines.items([each.items for each in known], first)
    frame = one.frame.replaced(
        inputs=dict(enumerate(one.inputs)),
        count=first + sum(map(ids_of, items)),
        outputs=_outputs(whole, samples[:-1], [each.outputs for each in known], lines),
        guards=_guards(whole, shorts[:-1], [each.conditions for each in known], lines),
    )
    return check_rolled(Rolled(frame, items, whole.rolled.tables), "stretching")


class _Renumbered:
    """A short derived program, rolled, with the ids that the full one has for what comes first:
    inputs, then the whole tables, then the results."""

    def __init__(self, whole: _Long, program: Program) -> None:
        rolled = roll(program)
        if len(rolled.tables):
            raise _IrregularError  # a number was worked out that differs from round to round
        tables = range(len(whole.frame.inputs), whole.first)
        inputs = sorted(program.inputs.items())
        listed = [i for i, given in inputs if not given.is_known or i in program.made]
        all_inputs = list(rolled.frame.inputs.values())
        self.ids: list[int] = []
        self.inputs: list[Input] = []
        after = len(all_inputs) - sum(index in tables for index in listed)
        for number, each in enumerate(all_inputs):
            index = listed[number] if number < len(listed) else -1
            if index in tables:
                self.ids.append(after + index - tables.start)
            else:
                self.ids.append(len(self.inputs))
                self.inputs.append(each)
        self.shift = after + len(tables) - len(all_inputs)
        self.frame = rolled.frame
        self.items = [self._renumbered(item) for item in rolled.items]
        self.outputs = [self.id_of(output) for output in rolled.frame.outputs]
        self.conditions = [self.id_of(guard.condition) for guard in rolled.frame.guards]

    def id_of(self, index: int) -> int:
        return self.ids[index] if index < len(self.ids) else index + self.shift

    def _renumbered(self, item: Item) -> Item:
        if isinstance(item, Loop):
            return item._replace(body=tuple([self._renumbered(part) for part in item.body]))
        args, results = map(self.id_of, item.args), map(self.id_of, item.results)
        return item._replace(args=tuple(args), results=tuple(results))


def _outputs(
    whole: _Long,
    samples: list[tuple[Program, list[int]]],
    outputs: list[list[int]],
    lines: _Lines,
) -> list[int]:
    """The outputs at the full lengths: what is asked for of moving inputs comes in runs."""
    if not whole.moving:
        if len({len(each) for each in outputs}) != 1:
            raise _IrregularError
        return [lines.number(each) for each in zip(*outputs)]
    before = len(outputs[0]) - len(samples[0][1])
    apart = {len(each) - len(wrt) for each, (_, wrt) in zip(outputs, samples)}
    if before < 0 or apart != {before}:
        raise _IrregularError  # not one output for each input asked for
    found = [lines.number(each) for each in zip(*[each[:before] for each in outputs])]
    runs = [_runs(wrt, whole.moving) for _, wrt in samples]
    full = _runs(whole.wrt, whole.moving)
    if any([moves for moves, _ in each] != [moves for moves, _ in full] for each in runs):
        raise _IrregularError
    places = [before] * len(outputs)
    wanted = before
    for number, (moves, length) in enumerate(full):
        pieces = []
        for sample, each in enumerate(runs):
            end = places[sample] + each[number][1]
            pieces.append(outputs[sample][places[sample] : end])
            places[sample] = end
        found += lines.several(pieces) if moves else [lines.number(e) for e in zip(*pieces)]
        wanted += length
        if len(found) != wanted:
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


def _guards(
    whole: _Long, shorts: list[_Short], conditions: list[list[int]], lines: _Lines
) -> list[Guard]:
    """The guards at the full lengths, those of a loop's rounds one after another."""
    by_place: dict[tuple[int, int], list[int]] = {}  # the guards of one line of a loop
    for number, place in enumerate(whole.guards):
        key = (-1 - number, 0) if place is None else (place.item, place.offset)
        by_place.setdefault(key, []).append(number)
    taken: list[dict[int, int]] = []
    for short, mine in zip(shorts, conditions):
        numbers = [n for n, place in enumerate(whole.guards) if short.is_there(place)]
        if len(numbers) != len(mine):
            raise _IrregularError
        taken.append(dict(zip(numbers, mine)))
    found: dict[int, int] = {}
    for numbers in by_place.values():
        pieces = [[each[n] for n in numbers if n in each] for each in taken]
        if len(numbers) > 1:
            known = lines.several(pieces)
        else:
            known = [lines.number([piece[0] for piece in pieces])]
        if len(known) != len(numbers):
            raise _IrregularError
        found.update(zip(numbers, known))
    return [
        Guard(found[number], guard.outcome, guard.site)
        for number, guard in enumerate(whole.frame.guards)
    ]
