"""Programs derived from programs with long loops, without writing the loops out.

What a transform does to a loop is the same in all rounds but the first and the last few: so a loop
of n rounds is cut down to some twenty, the transform is run on that, its loops are found again, and
their numbers are stretched back. Every number of such a program is a linear function of the rounds:
it is worked out from three lengths of each loop, all of which must agree, and what comes out is
checked as every program is. Where anything is not as regular as that, nothing is stretched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from ..errors import ProgramError
from .checker import check_rolled
from .loops import Item, Loop, Rolled, ids_of
from .numbering import roll
from .program import Guard, Input, Instruction, Program
from .shortening import SHORT, IrregularError, Long, Short

MOST_LENGTHS = 3
"""Lengths that loops may have, apart from differences of a few rounds."""

Transform = Callable[[Program, list[int]], Program]
"""A program and the ids of the inputs asked for → a derived program."""


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
                raise IrregularError
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
            raise IrregularError
        (step,) = steps
        middle = length - 2 * third
        if begin[-1] + (middle + 1) * step != end[0] or begin[-1] - begin[-2] != step:
            raise IrregularError
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
        whole = Long(rolled, wrt)
        if not whole.lengths or len(whole.lengths) > MOST_LENGTHS:
            return None
        shorts = [Short(whole, more) for more in _more_rounds(len(whole.lengths), whole.proof)]
        samples = [short.program() for short in shorts]
        _check_steady(shorts[-1], *samples[-1])
        derived = [transform(*sample) for sample in samples]
        return _joined(whole, shorts, samples, derived)
    except (IrregularError, ProgramError):
        return None


MOST_OUTPUTS = 64
"""Outputs of a function for each of which it is followed what they depend on."""


def _check_steady(short: Short, program: Program, wrt: list[int]) -> None:
    """What depends on the inputs asked for, and what an output depends on, must be the same in
    every round of the later and of the earlier half: a round is made of those before by one rule,
    so what has become steady stays so."""
    if len(program.outputs) > MOST_OUTPUTS:
        raise IrregularError
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


def _check_rounds(short: Short, marked: set[int], late: bool) -> None:
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
            raise IrregularError


def _more_rounds(groups: int, proof: int) -> list[list[int]]:
    """How many rounds more the short loops have, by group: none, then one and two of each; then
    some more of all, for the proof."""
    nowhere = [0] * groups
    each = [(group, more) for group in range(groups) for more in (1, 2)]
    lines = [[*nowhere[:g], more, *nowhere[g + 1 :]] for g, more in each]
    return [nowhere, *lines, [proof] * groups]


def _joined(
    whole: Long,
    shorts: list[Short],
    samples: list[tuple[Program, list[int]]],
    derived: list[Program],
) -> Rolled:
    """Derived programs of several lengths as one of the full lengths."""
    rolled = [_Renumbered(whole, program) for program in derived]
    one, *_, proof = rolled
    form = _form(one.items)
    for other in rolled:
        if _form(other.items) != form or other.inputs != one.inputs:
            raise IrregularError
    known = rolled[:-1]
    first = len(one.inputs) + len(whole.rolled.tables)
    near = _Lines([whole.proof] * len(whole.lengths))
    if near.items([each.items for each in known], first) != proof.items:
        raise IrregularError
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

    def __init__(self, whole: Long, program: Program) -> None:
        rolled = roll(program)
        if len(rolled.tables):
            raise IrregularError  # a number was worked out that differs from round to round
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
    whole: Long,
    samples: list[tuple[Program, list[int]]],
    outputs: list[list[int]],
    lines: _Lines,
) -> list[int]:
    """The outputs at the full lengths: what is asked for of moving inputs comes in runs."""
    if not whole.moving:
        if len({len(each) for each in outputs}) != 1:
            raise IrregularError
        return [lines.number(each) for each in zip(*outputs)]
    before = len(outputs[0]) - len(samples[0][1])
    apart = {len(each) - len(wrt) for each, (_, wrt) in zip(outputs, samples)}
    if before < 0 or apart != {before}:
        raise IrregularError  # not one output for each input asked for
    found = [lines.number(each) for each in zip(*[each[:before] for each in outputs])]
    runs = [_runs(wrt, whole.moving) for _, wrt in samples]
    full = _runs(whole.wrt, whole.moving)
    if any([moves for moves, _ in each] != [moves for moves, _ in full] for each in runs):
        raise IrregularError
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
            raise IrregularError
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
    whole: Long, shorts: list[Short], conditions: list[list[int]], lines: _Lines
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
            raise IrregularError
        taken.append(dict(zip(numbers, mine)))
    found: dict[int, int] = {}
    for numbers in by_place.values():
        pieces = [[each[n] for n in numbers if n in each] for each in taken]
        if len(numbers) > 1:
            known = lines.several(pieces)
        else:
            known = [lines.number([piece[0] for piece in pieces])]
        if len(known) != len(numbers):
            raise IrregularError
        found.update(zip(numbers, known))
    return [
        Guard(found[number], guard.outcome, guard.site)
        for number, guard in enumerate(whole.frame.guards)
    ]
