"""The instructions of a program with loops, each once, and which of them made what is read.

Ids count up in the order of the instructions, loops written out, so an operand of an instruction in
loops is a linear function of their rounds. Here such functions are followed back to the instruction
whose results they run through.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .loops import Item, Loop, Rolled, operands_of

MOST_PIECES = 4096
"""Instructions that one operand may read in the course of its loops."""


class IrregularError(Exception):
    """An operand runs through numbers in a way that no loop has."""


@dataclass(frozen=True, eq=False)
class Around:
    """A loop: ``first`` is its first id in the first round of all loops around it."""

    number: int
    trips: int
    period: int
    first: int


Nest = tuple[Around, ...]
Moves = tuple[tuple[Around, int], ...]


@dataclass(frozen=True)
class Reference:
    """An id that moves with loops: ``base`` where all are in their first round."""

    base: int
    moves: Moves = ()

    def without(self, loop: Around, trip: int) -> Reference:
        """The same in one round of a loop."""
        stride = sum(s for around, s in self.moves if around is loop)
        rest = tuple([move for move in self.moves if move[0] is not loop])
        return Reference(self.base + trip * stride, rest)


@dataclass(eq=False)
class Node:
    """An instruction, however often it is done; ``results`` are its ids in the first rounds."""

    number: int
    op: str
    first: int
    count: int
    nest: Nest
    operands: list[Reference] = field(default_factory=list)

    def made(self, result: int) -> Reference:
        """The id of a result."""
        return Reference(self.first + result, tuple([(loop, loop.period) for loop in self.nest]))

    @property
    def rounds(self) -> int:
        """How often it is done."""
        times = 1
        for loop in self.nest:
            times *= loop.trips
        return times


@dataclass(eq=False)
class Body:
    """What is done one after another: instructions and loops, with the ids at which they begin."""

    loop: Around | None
    parts: list[Node | Body] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Source:
    """What a reference reads: one result of one node, in rounds ``at`` where all counters are 0,
    which move with loops by ``factors``."""

    node: Node
    result: int
    at: tuple[int, ...]
    factors: tuple[dict[Around, int], ...]


Range = tuple[Around, int, int, int]
"""A loop, how far an id moves in a round, the first and the last round."""


class Nodes:
    """A program with loops as nodes."""

    def __init__(self, rolled: Rolled) -> None:
        self.rolled = rolled
        self.first = len(rolled.frame.inputs) + len(rolled.tables)
        self.all: list[Node] = []
        self.loops: list[Around] = []
        self._at = self.first
        self.body = Body(None)
        moves: list[list[Moves]] = [[() for _ in operands_of(item)] for item in rolled.items]
        self._add(self.body, rolled.items, moves, (), self.first)

    def _add(
        self,
        body: Body,
        items: Sequence[Item],
        moves: Sequence[list[Moves]],
        nest: Nest,
        first: int,
    ) -> int:
        """Add items whose ids begin at ``first``; what the next one would begin at."""
        for item, mine in zip(items, moves):
            body.starts.append(first)
            if isinstance(item, Loop):
                first = self._add_loop(body, item, mine, nest, first)
                continue
            node = Node(len(self.all), item.op, first, len(item.results), nest)
            node.operands = [Reference(arg, moved) for arg, moved in zip(item.args, mine)]
            self.all.append(node)
            body.parts.append(node)
            first += len(item.results)
        return first

    def _add_loop(self, body: Body, item: Loop, mine: list[Moves], nest: Nest, first: int) -> int:
        loop = Around(len(self.loops), item.trips, item.period, first)
        self.loops.append(loop)
        inside = Body(loop)
        body.parts.append(inside)
        moved = [(*m, (loop, s)) if s else m for m, s in zip(mine, item.strides)]
        parts, done = [], 0
        for part in item.body:
            width = len(operands_of(part))
            parts.append(moved[done : done + width])
            done += width
        self._add(inside, item.body, parts, (*nest, loop), first)
        return first + item.trips * item.period

    # ---- from ids to nodes -------------------------------------------------------------------

    def locate(self, index: int) -> tuple[Node, int, tuple[int, ...]]:
        """The node that makes an id, which of its results it is, and in which rounds."""
        if index < self.first:
            raise IrregularError
        body = self.body
        rounds: list[int] = []
        while True:
            part = body.parts[bisect_right(body.starts, index) - 1]
            if isinstance(part, Node):
                return part, index - part.first, tuple(rounds)
            assert part.loop is not None
            trip = (index - part.loop.first) // part.loop.period
            rounds.append(trip)
            index -= trip * part.loop.period
            body = part

    def _source(self, base: int, ranges: Sequence[Range]) -> Source | None:
        """What ids read over a box of rounds; None where it is not one node's.

        Ids of one node are a linear function of its rounds, each at most once. So if the corners
        along each axis belong to one node, everything between them does, as long as its rounds are
        rounds that the node has.
        """
        start = base + sum(stride * low for _, stride, low, _ in ranges)
        node, result, at = self.locate(start)
        constant = list(at)
        factors: list[dict[Around, int]] = [{} for _ in at]
        least, most = list(at), list(at)
        for loop, stride, low, high in ranges:
            far = high - low
            if not far:
                continue
            other, same, then = self.locate(start + stride * far)
            if other is not node or same != result:
                return None
            for level, (one, two) in enumerate(zip(at, then)):
                step, rest = divmod(two - one, far)
                if rest:
                    return None
                if step:
                    factors[level][loop] = step
                    constant[level] -= step * low
                    least[level] += min(two - one, 0)
                    most[level] += max(two - one, 0)
        for low, high, loop in zip(least, most, node.nest):
            if low < 0 or high >= loop.trips:
                return None
        return Source(node, result, tuple(constant), tuple(factors))

    @staticmethod
    def ranges(reference: Reference, since: dict[Around, int] | None = None) -> list[Range]:
        """The rounds over which a reference moves, some of them only from one round on."""
        since = since or {}
        return [
            (loop, stride, since.get(loop, 0), loop.trips - 1) for loop, stride in reference.moves
        ]

    def source(self, reference: Reference, since: dict[Around, int] | None = None) -> Source | None:
        """What a reference reads in all rounds; None where that is not one node's."""
        return self._source(reference.base, self.ranges(reference, since))

    def spanned(self, reference: Reference) -> set[tuple[int, int]]:
        """All (node, result) that a reference reads."""
        found: set[tuple[int, int]] = set()
        pending = [self.ranges(reference)]
        for _ in range(MOST_PIECES):
            if not pending:
                return found
            ranges = pending.pop()
            source = self._source(reference.base, ranges)
            if source is not None:
                found.add((source.node.number, source.result))
                continue
            widest = self._widest(reference.base, ranges)
            loop, stride, low, high = ranges[widest]
            middle = (low + high) // 2
            for piece in ((low, middle), (middle + 1, high)):
                pending.append([*ranges[:widest], (loop, stride, *piece), *ranges[widest + 1 :]])
        raise IrregularError

    def _widest(self, base: int, ranges: Sequence[Range]) -> int:
        """Which loop to halve: one in whose rounds alone several nodes are read, if there is any,
        and of those the longest."""

        def weight(at: int) -> tuple[bool, int]:
            alone = [
                (loop, stride, low, high if number == at else low)
                for number, (loop, stride, low, high) in enumerate(ranges)
            ]
            _, _, low, high = ranges[at]
            return self._source(base, alone) is None, high - low

        return max(range(len(ranges)), key=weight)


def nodes_in(body: Body) -> Iterator[Node]:
    """The nodes of a body and of the loops in it, in their order."""
    for part in body.parts:
        if isinstance(part, Node):
            yield part
        else:
            yield from nodes_in(part)
