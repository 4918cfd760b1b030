"""Loops whose numbers are needed again, backwards: a window of them, filled anew from checkpoints.

An adjoint reads what a loop made from its last round to its first. To keep all of it a thread of a
GPU has only slow memory; a window of a few rounds fits into fast memory. The loop leaves what it
carries every few rounds, and where the reader comes to the end of the window, those few rounds are
computed once more from there. What is computed twice is the same text, and so has the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..program.nodes import Around, Body, Node, Reference
from ..program.places import Carry, Family, Memory, Places, Variable

MOST_RINGS = 12
"""Arrays that windows may have together: fast memory is small."""
ROUNDS = ((4, 4), (MOST_RINGS, 2))
"""By the arrays that windows have at most: rounds that are filled at once; a window holds twice as
many. What a thread keeps bounds how many threads there are at a time (measured on an H200)."""


class UnfitError(Exception):
    """A loop is read in a way that a window does not serve."""


@dataclass(frozen=True)
class Read:
    """A read of a window: the round, where the reading loop is in its first, and whether it goes
    one back with each round of that."""

    at: int
    is_moving: bool


@dataclass(eq=False)
class Window:
    """A loop with a window: ``first`` is by family the place of its first round, ``rings`` their
    numbers among all windows. ``low`` is the first round in the window when the loop is done;
    ``fills`` are, by reader, the rounds at which it is filled: of a loop in its first round.
    ``nodes`` and ``carries`` are what filling it needs, ``before`` what stands before the loop."""

    loop: Around
    rounds: int
    first: dict[int, int]
    rings: dict[int, int]
    low: int = 0
    fills: dict[object, int] = field(default_factory=dict)
    nodes: set[int] = field(default_factory=set)
    carries: list[Carry] = field(default_factory=list)
    before: list[tuple[int, int, Node, int]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Rounds that it holds."""
        return 2 * self.rounds


def windows_that_fit(places: Places, outside: Sequence[int]) -> tuple[int, list[Window]]:
    """The rounds that are filled at once, and the loops that have windows of so many."""
    for most, rounds in ROUNDS:
        found = windows(places, outside, rounds)
        if sum(len(window.first) for window in found) <= most:
            break
    return rounds, found


def windows(places: Places, outside: Sequence[int], rounds: int) -> list[Window]:
    """The loops of a program that have windows; ``outside`` are ids that are read at the end."""
    found: list[Window] = []
    rings = 0
    for part in places.nodes.body.parts:
        if isinstance(part, Node) or any(isinstance(each, Body) for each in part.parts):
            continue
        assert part.loop is not None
        if part.loop.trips <= 4 * rounds:
            continue
        families = [each for each in places.families if _is_made_in(places, each, part.loop)]
        if not families or rings + len(families) > MOST_RINGS:
            continue
        taken = {number for window in found for number in window.first}
        try:
            window = _Finder(places, outside, part, families, rounds, taken).found()
        except UnfitError:
            continue
        window.rings = {number: rings + at for at, number in enumerate(window.first)}
        rings += len(families)
        found.append(window)
    return found


def _is_made_in(places: Places, family: Family, loop: Around) -> bool:
    """Whether one instruction of a loop makes a family, but for single ones beside the loop."""
    if family.once:
        return False
    made = [places.nodes.all[number] for number, _ in family.members]
    inside = [node for node in made if node.nest]
    return len(inside) == 1 and inside[0].nest == (loop,)


class _Finder:
    """Whether a window serves one loop, and what it needs."""

    def __init__(
        self,
        places: Places,
        outside: Sequence[int],
        body: Body,
        families: list[Family],
        rounds: int,
        taken: set[int],
    ) -> None:
        assert body.loop is not None
        self.places, self.outside, self.body, self.loop = places, outside, body, body.loop
        self.families, self.taken = families, taken
        self.window = Window(body.loop, rounds, {}, {})

    def found(self) -> Window:
        """The window, or an error that there is none."""
        last = self._members()
        window = self.window
        window.low = -(-(last + 1 - window.size) // window.rounds) * window.rounds
        self._walk()
        if window.fills:  # else all that is read is still there: nothing is computed again
            self._slice()
        return window

    def _members(self) -> int:
        """Where the numbers of each family lie; the last round there is."""
        top = self.places.nodes.body.parts
        here = top.index(self.body)
        last = self.loop.trips - 1
        for family in self.families:
            beside: list[tuple[int, Node, int]] = []
            for number, result in family.members:
                node = self.places.nodes.all[number]
                place = self.places.stored(node, result)
                assert place is not None
                if not node.nest:
                    beside.append((place.base, node, result))
                elif place.moves != ((self.loop, 1),):
                    raise UnfitError
                else:
                    self.window.first[family.number] = place.base
            for place_of, node, result in beside:
                at = place_of - self.window.first[family.number]
                if top.index(node) < here:
                    if not -self.window.rounds <= at < 0:
                        raise UnfitError
                    self.window.before.append((family.number, at, node, result))
                elif at < self.loop.trips:
                    raise UnfitError
                last = max(last, at)
        return last

    # ---- reads -------------------------------------------------------------------------------

    def _reads_of(self, reference: Reference, nest: tuple[Around, ...]) -> Iterator[Read]:
        """How a window is read by an operand."""
        if reference.base < self.places.nodes.first:
            return
        place = self.places.place(reference, nest, False)
        if not isinstance(place, Memory) or place.family not in self.window.first:
            return
        at = place.base - self.window.first[place.family]
        if not place.moves:
            yield Read(at, False)
        elif len(nest) == 1 and place.moves == ((nest[0], -1),):
            yield Read(at, True)
        else:
            raise UnfitError

    def _node_reads(self, node: Node) -> list[Read]:
        if not self.places.varies[node.number]:
            return []
        return [read for operand in node.operands for read in self._reads_of(operand, node.nest)]

    def _walk(self) -> None:
        """Go through the program as it runs: is what is read always in the window?"""
        done, low = False, self.window.low
        for part in self.places.nodes.body.parts:
            if part is self.body:
                if any(self._body_reads(self.body)):
                    raise UnfitError
                done = True
                continue
            if isinstance(part, Node):
                reads = self._node_reads(part)
            else:
                reads = self._body_reads(part)
                self._check(self._start_reads(part, ()), low, low)
            if not reads:
                continue
            if not done:
                raise UnfitError
            low = self._read(part, reads, low)
        self._check([read for index in self.outside for read in self._end_reads(index)], low, low)

    def _end_reads(self, index: int) -> Iterator[Read]:
        return self._reads_of(Reference(index), ())

    def _start_reads(self, body: Body, around: tuple[Around, ...]) -> list[Read]:
        """How a window is read before the first rounds of a loop that stands in others."""
        carries = self.places.carries.get((body.loop, False), []) if body.loop else []
        starts = [start for carry in carries for start in carry.starts]
        return [read for start in starts for read in self._reads_of(start, around)]

    def _body_reads(self, body: Body, around: tuple[Around, ...] = ()) -> list[Read]:
        assert body.loop is not None
        inside = (*around, body.loop)
        found: list[Read] = []
        for part in body.parts:
            if isinstance(part, Node):
                found += self._node_reads(part)
            elif self._body_reads(part, inside) or self._start_reads(part, inside):
                raise UnfitError  # loops in loops
        return found

    def _read(self, part: Node | Body, reads: list[Read], low: int) -> int:
        """One reader, round by round; where the window stands then."""
        moving = [read.at for read in reads if read.is_moving]
        fixed = [read.at for read in reads if not read.is_moving]
        if isinstance(part, Node) or not moving:
            if min(fixed) < low:
                if not isinstance(part, Node):
                    raise UnfitError
                low -= self.window.rounds
                self.window.fills[part] = min(fixed)
            self._check([Read(at, False) for at in fixed], low, low)
            return low
        assert part.loop is not None
        first, start = min(moving), low
        for trip in range(part.loop.trips):
            if first - trip < low:
                low -= self.window.rounds
                self.window.fills[part] = first
            if first - trip < low or max(moving) - trip >= low + self.window.size:
                raise UnfitError
        self._check([Read(at, False) for at in fixed], low, start)
        return low

    def _check(self, reads: Sequence[Read], low: int, high: int) -> None:
        """Whether rounds are in the window while it moves from ``high`` down to ``low``."""
        for read in reads:
            if read.is_moving or not high <= read.at < low + self.window.size:
                raise UnfitError
        lowest = -self.window.rounds if self.window.before else 0
        if low < lowest:
            raise UnfitError

    # ---- what is computed again --------------------------------------------------------------

    def _slice(self) -> None:
        """The instructions and carries of the loop that make the families."""
        pending = [
            (number, result)
            for family in self.families
            for number, result in family.members
            if self.places.nodes.all[number].nest
        ]
        while pending:
            number, _ = pending.pop()
            if number in self.window.nodes:
                continue
            self.window.nodes.add(number)
            node = self.places.nodes.all[number]
            for operand in node.operands:
                if operand.base < self.places.nodes.first:
                    continue
                place = self.places.place(operand, node.nest, False)
                if isinstance(place, Variable) and place.node.nest == (self.loop,):
                    pending.append((place.node.number, place.result))
                elif isinstance(place, Carry):
                    if place not in self.window.carries:
                        self.window.carries.append(place)
                    pending.append((place.node.number, place.result))
                elif isinstance(place, Memory) and place.family in self.taken:
                    raise UnfitError
