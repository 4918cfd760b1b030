"""Where every number of a program with loops lives: a variable, the last of a loop, what a loop
carries on from round to round, or memory.

Instructions whose operands are the same for all rows are computed once, the others for every row.
What one side hands to the other, and what is read in rounds other than those in which it was made,
goes through memory: an array for each set of results that one operand runs through.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Union

from ..ops.structural import TAKE
from .nodes import Around, IrregularError, Moves, Nest, Node, Nodes, Reference, Source
from .program import ROW, SEED

MOST_CARRIED = 4
"""Rounds back to which a loop carries on what it made, in variables."""


@dataclass(frozen=True)
class Variable:
    """What the same round of all its loops made."""

    node: Node
    result: int


@dataclass(frozen=True)
class Last:
    """What the last round of a loop made, read after the loop."""

    node: Node
    result: int
    loop: Around


@dataclass(frozen=True)
class Carry:
    """What a loop made some rounds ago: ``starts`` stand for it in the first ones."""

    loop: Around
    node: Node
    result: int
    starts: tuple[Reference, ...]


@dataclass(frozen=True)
class Memory:
    """A place in the memory of a family of results."""

    family: int
    base: int
    moves: Moves


@dataclass(frozen=True)
class Given:
    """An input: ``base`` is its id."""

    base: int
    moves: Moves


Place = Union[Variable, Last, Carry, Memory, Given]  # noqa: UP007


@dataclass(eq=False)
class Family:
    """Results that share an array: id ``low + i * step`` has place i, in each round of the loops
    ``home`` anew."""

    number: int
    once: bool
    members: set[tuple[int, int]]
    low: int = 0
    step: int = 1
    size: int = 0
    home: Nest = ()


@dataclass(eq=False)
class Use:
    """A reference read in a nest, by what is computed once or for every row."""

    reference: Reference
    nest: Nest
    once: bool


@dataclass(eq=False)
class Places:
    """The places of a program; ``outside`` are ids that are read when all is done."""

    nodes: Nodes
    outside: Sequence[int] = ()
    varies: list[bool] = field(default_factory=list)
    families: list[Family] = field(default_factory=list)
    family_of: dict[tuple[int, int], Family] = field(default_factory=dict)
    lasting: dict[tuple[int, int], Around] = field(default_factory=dict)
    """By result: the outermost loop that it must outlive."""
    carries: dict[tuple[Around, bool], list[Carry]] = field(default_factory=dict)
    """By loop, and whether that is done once: what it carries on."""

    def __post_init__(self) -> None:
        self._kinds: dict[tuple[Reference, Nest], Place | None] = {}
        frame = self.nodes.rolled.frame
        self._rows = [given.kind in (ROW, SEED) for given in frame.inputs.values()]
        self._rows += [False] * len(self.nodes.rolled.tables)
        self._spans: dict[Reference, set[tuple[int, int]]] = {}
        self.varies = self._varying()
        while self._mixed():
            pass
        self._place()

    # ---- once, or for every row --------------------------------------------------------------

    def _is_row(self, reference: Reference) -> bool:
        """Whether an input differs from row to row."""
        kinds = {
            self._rows[reference.base + shift]
            for shift in _shifts(reference.moves)
            if 0 <= reference.base + shift < len(self._rows)
        }
        if len(kinds) != 1:
            raise IrregularError
        return kinds.pop()

    def _spanned(self, reference: Reference) -> set[tuple[int, int]]:
        known = self._spans.get(reference)
        if known is None:
            known = self._spans[reference] = self.nodes.spanned(reference)
        return known

    def _varying(self) -> list[bool]:
        """Which nodes are computed for every row."""
        nodes = self.nodes
        varies = [False] * len(nodes.all)
        readers: list[list[int]] = [[] for _ in nodes.all]
        guarded = bool(nodes.rolled.frame.guards)
        for node in nodes.all:
            varies[node.number] = guarded and node.op == TAKE.name  # for rows that pass them
            for reference in node.operands:
                if reference.base < nodes.first:
                    varies[node.number] |= self._is_row(reference)
                else:
                    for number, _ in self._spanned(reference):
                        readers[number].append(node.number)
        self._readers = readers
        return _spread(varies, readers, [n for n, there in enumerate(varies) if there])

    def _mixed(self) -> bool:
        """Have everything computed for every row that shares memory with what is."""
        fresh = []
        for use in self._uses():
            if use.once or use.reference.base < self.nodes.first:
                continue
            numbers = {number for number, _ in self._spanned(use.reference)}
            once = [number for number in numbers if not self.varies[number]]
            if not once or len(once) == len(numbers):
                continue
            place = self._kind(use.reference, use.nest)
            if not isinstance(place, Carry) or not self.varies[place.node.number]:
                fresh += once
        for number in fresh:
            self.varies[number] = True
        _spread(self.varies, self._readers, fresh)
        return bool(fresh)

    def _uses(self) -> Iterable[Use]:
        """Everything that is read, what stands for it in first rounds included."""
        pending = [
            Use(reference, node.nest, not self.varies[node.number])
            for node in self.nodes.all
            for reference in node.operands
        ]
        pending += [Use(Reference(index), (), False) for index in self.outside]
        seen: set[tuple[Reference, Nest, bool]] = set()
        while pending:
            use = pending.pop()
            key = (use.reference, use.nest, use.once)
            if key in seen:
                continue
            seen.add(key)
            yield use
            if use.reference.base < self.nodes.first or self._is_handed(use):
                continue
            place = self._kind(use.reference, use.nest)
            if isinstance(place, Carry):
                around = use.nest[: use.nest.index(place.loop)]
                pending += [Use(start, around, use.once) for start in place.starts]

    def _is_handed(self, use: Use) -> bool:
        """Whether rows read what is computed once."""
        if use.once:
            return False
        return not any([self.varies[number] for number, _ in self._spanned(use.reference)])

    # ---- kinds -------------------------------------------------------------------------------

    def _kind(self, reference: Reference, nest: Nest) -> Place | None:
        """How a result is read; None: through memory."""
        key = (reference, nest)
        if key not in self._kinds:
            self._kinds[key] = self._found_kind(reference, nest)
        return self._kinds[key]

    def _found_kind(self, reference: Reference, nest: Nest) -> Place | None:
        source = self.nodes.source(reference)
        if source is not None:
            return _direct(source, nest)
        strides = dict(reference.moves)
        for level, loop in enumerate(nest):
            if strides.get(loop) != loop.period or reference.base >= loop.first:
                continue
            back = -((reference.base - loop.first) // loop.period)
            if back > MOST_CARRIED or back >= loop.trips:
                continue
            source = self.nodes.source(reference, {loop: back})
            if source is not None and _is_carried(source, nest, level, back):
                starts = [reference.without(loop, trip) for trip in range(back)]
                return Carry(loop, source.node, source.result, tuple(starts))
        return None

    # ---- memory ------------------------------------------------------------------------------

    def _place(self) -> None:
        in_memory: list[Use] = []
        for use in self._uses():
            if use.reference.base < self.nodes.first:
                continue
            place = None if self._is_handed(use) else self._kind(use.reference, use.nest)
            if place is None:
                in_memory.append(use)
            elif isinstance(place, Last):
                self._outlive(place.node, place.result, place.loop)
            elif isinstance(place, Carry):
                listed = self.carries.setdefault((place.loop, use.once), [])
                if place not in listed:
                    listed.append(place)
                level = place.node.nest.index(place.loop) + 1
                if level < len(place.node.nest):
                    self._outlive(place.node, place.result, place.node.nest[level])
        self._found_families(in_memory)

    def _outlive(self, node: Node, result: int, loop: Around) -> None:
        known = self.lasting.get((node.number, result))
        if known is None or node.nest.index(known) > node.nest.index(loop):
            self.lasting[node.number, result] = loop

    def _found_families(self, uses: Sequence[Use]) -> None:
        """Sets of results that operands run through, each with its array."""
        parent: dict[tuple[int, int], tuple[int, int]] = {}

        def root(key: tuple[int, int]) -> tuple[int, int]:
            while parent.setdefault(key, key) != key:
                parent[key] = parent[parent[key]]
                key = parent[key]
            return key

        for use in uses:
            first, *rest = sorted(self._spanned(use.reference))
            root(first)
            for other in rest:
                parent[root(other)] = root(first)
        groups: dict[tuple[int, int], set[tuple[int, int]]] = {}
        for key in parent:
            groups.setdefault(root(key), set()).add(key)
        readers: dict[tuple[int, int], list[Use]] = {}
        for use in uses:
            readers.setdefault(root(min(self._spanned(use.reference))), []).append(use)
        for key, members in sorted(groups.items()):
            once = not self.varies[key[0]]
            family = Family(len(self.families), once, members)
            self._measure(family, readers[key])
            self.families.append(family)
            self.family_of.update(dict.fromkeys(members, family))

    def _measure(self, family: Family, uses: Sequence[Use]) -> None:
        """How the ids of a family map to places: the largest step that they all have in common."""
        family.home = self._home(family, uses)
        step, lows, highs = 0, [], []
        for use in uses:
            for loop, stride in use.reference.moves:
                step = step if loop in family.home else gcd(step, stride)
        for number, result in family.members:
            made = self.nodes.all[number].made(result)
            moves = [(loop, stride) for loop, stride in made.moves if loop not in family.home]
            lows.append(made.base)
            highs.append(made.base + sum(stride * (loop.trips - 1) for loop, stride in moves))
            for _, stride in moves:
                step = gcd(step, stride)
        family.low = min(lows)
        for low in lows:
            step = gcd(step, low - family.low)
        family.step = step or 1
        family.size = (max(highs) - family.low) // family.step + 1

    def _home(self, family: Family, uses: Sequence[Use]) -> Nest:
        """The loops in whose rounds all of a family is made and read: the next round may have its
        places."""
        if family.once and not all(use.once for use in uses):
            return ()  # rows read it, when all of it is done
        nests = [self.nodes.all[number].nest for number, _ in family.members]
        home: list[Around] = []
        for level, loop in enumerate(nests[0]):
            if any(level >= len(nest) or nest[level] is not loop for nest in nests):
                break
            if not all(_reads_same_round(use, level, loop, home) for use in uses):
                break
            home.append(loop)
        return tuple(home)

    def in_memory(self, reference: Reference) -> Memory:
        """The place in memory of a reference to results."""
        family = self.family_of[min(self._spanned(reference))]
        return _memory(family, reference)

    def stored(self, node: Node, result: int) -> Memory | None:
        """Where a result is put into memory, if it is."""
        family = self.family_of.get((node.number, result))
        return None if family is None else _memory(family, node.made(result))

    def place(self, reference: Reference, nest: Nest, once: bool) -> Place:
        """Where what is read is."""
        if reference.base < self.nodes.first:
            return Given(reference.base, reference.moves)
        if self._is_handed(Use(reference, nest, once)):
            return self.in_memory(reference)
        return self._kind(reference, nest) or self.in_memory(reference)


def _memory(family: Family, reference: Reference) -> Memory:
    base, rest = divmod(reference.base - family.low, family.step)
    assert rest == 0
    moves = tuple(
        [
            (loop, stride // family.step)
            for loop, stride in reference.moves
            if loop not in family.home
        ]
    )
    return Memory(family.number, base, moves)


def _reads_same_round(use: Use, level: int, loop: Around, home: Sequence[Around]) -> bool:
    """Whether a loop is around what reads, and that reads what the loop's own round made."""
    if level >= len(use.nest) or use.nest[level] is not loop:
        return False
    low = high = use.reference.base
    stride = 0
    for other, move in use.reference.moves:
        if other is loop:
            stride += move
        elif other not in home:
            low += min(0, move * (other.trips - 1))
            high += max(0, move * (other.trips - 1))
    return stride == loop.period and loop.first <= low and high < loop.first + loop.period


def _spread(varies: list[bool], readers: list[list[int]], fresh: list[int]) -> list[bool]:
    """Whatever reads what differs from row to row does so too."""
    pending = list(fresh)
    while pending:
        for reader in readers[pending.pop()]:
            if not varies[reader]:
                varies[reader] = True
                pending.append(reader)
    return varies


def _shifts(moves: Moves) -> list[int]:
    """How far an id moves in all rounds together: every sum there is."""
    shifts = [0]
    for loop, stride in moves:
        if len(shifts) * loop.trips > 1 << 20:
            raise IrregularError
        shifts = [shift + trip * stride for shift in shifts for trip in range(loop.trips)]
    return shifts


def _shared(node: Node, nest: Nest) -> int:
    """How many loops a node and a nest have in common."""
    shared = 0
    while shared < min(len(node.nest), len(nest)) and node.nest[shared] is nest[shared]:
        shared += 1
    return shared


def _direct(source: Source, nest: Nest) -> Place | None:
    """What one node made in this round, or in the last round of its own loops."""
    node, shared = source.node, _shared(source.node, nest)
    for level, loop in enumerate(node.nest):
        at, factors = source.at[level], source.factors[level]
        if level < shared:
            if at != 0 or factors != {loop: 1}:
                return None
        elif factors or at != loop.trips - 1:
            return None
    if shared == len(node.nest):
        return Variable(node, source.result)
    return Last(node, source.result, node.nest[shared])


def _is_carried(source: Source, nest: Nest, level: int, back: int) -> bool:
    """Whether a node made it ``back`` rounds ago of the loop at a level, in the same rounds of the
    loops around that and the last ones of the loops in it."""
    node = source.node
    if _shared(node, nest) <= level:
        return False
    for at, factors, number, loop in zip(
        source.at, source.factors, range(len(node.nest)), node.nest
    ):
        if number < level:
            good = at == 0 and factors == {loop: 1}
        elif number == level:
            good = at == -back and factors == {loop: 1}
        else:
            good = at == loop.trips - 1 and not factors
        if not good:
            return False
    return True
