"""Rolling: a flat program's repeated stretches are found and become loops.

A stretch repeats where the same ops of the same arity, made at the same places of the source, come
again at a fixed distance, and where every operand moves by a constant from round to round. Inner
loops are found first; each then counts as one thing, and the search begins again. All of it works
on flat arrays and takes a few sorts, so a long trace costs little more than reading it. What comes
out is proved by writing it out again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..errors import ProgramError
from .loops import Item, Loop
from .program import Instruction

if TYPE_CHECKING:
    from numpy.typing import NDArray

Integers: TypeAlias = "NDArray[np.int64]"
Small: TypeAlias = "NDArray[np.int32]"

LEAST_TRIPS = 3
"""Rounds from which on a stretch is a loop."""
LEAST_SAVED = 18
"""Instructions that a loop must save."""
WIDEST = 1 << 12
"""How many instructions are compared at most to tell one place in a round from another."""
INPUTS = 1 << 40
"""Addresses from here on are inputs; below, results in the order of the program."""
NUMBERS = 1 << 41
"""Addresses from here on are plain numbers."""
TABLES = 1 << 42
"""Addresses from here on are numbers that come one a round."""


@dataclass(frozen=True)
class Flat:
    """A flat program as arrays: by instruction ``ops`` (numbers of any kind), ``sites``,
    ``results`` (how many) and ``starts`` (of its operands, one more at the end); ``operands`` are
    addresses."""

    ops: Small
    sites: Small
    results: Small
    starts: Integers
    operands: Integers

    def __len__(self) -> int:
        return len(self.ops)


@dataclass(frozen=True, eq=False)
class _Shape:
    """A loop without its place: rounds, the things in its body, how far a round goes on."""

    trips: int
    body: Small  # the things: instructions, or below 0 shapes
    widths: Integers  # how many operands each has
    offsets: Integers  # where each one's results begin in a round
    period: int
    strides: Integers


class Roller:
    """Finds the loops of a program.

    After :meth:`run` there is a thing for each instruction or loop: its number, or -1 minus that
    of its shape, with the operands of the first round. ``tables`` are the plain numbers that the
    addresses from ``TABLES`` on stand for."""

    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        self.things = np.arange(len(flat), dtype=np.int32)
        self.tokens = _tokens(flat)
        self.starts, self.operands = flat.starts, flat.operands.copy()
        self.at = np.cumsum(flat.results, dtype=np.int64)
        self.at -= flat.results
        self.spans = flat.results.astype(np.int64)
        self.shapes: list[_Shape] = []
        self._bodies: list[tuple[int, ...]] = []  # by shape: the tokens of its body
        self.known: dict[Any, int] = {}
        self.tables: list[Integers] = []
        self.table_length = 0
        self.fresh = int(self.tokens.max(initial=0)) + 1

    def run(self) -> None:
        """Roll until nothing repeats any more."""
        while len(self.tokens) >= 2 * LEAST_TRIPS and self._round():
            pass

    # ---- a round: all loops of one depth -------------------------------------------------------

    def _round(self) -> bool:
        taken = np.zeros(len(self.tokens), dtype=bool)
        accepted: list[tuple[int, int, int]] = []  # start, end, shape
        moved: dict[int, Integers] = {}  # by start: the operands of the first round
        ids, width, count = self.tokens, 1, len(self.tokens)
        while True:
            for period, start, end in sorted(_stretches(ids, width)):
                for free_start, free_end in _free(taken, start, end, LEAST_TRIPS * period):
                    for found in self._rolled(free_start, free_end, period):
                        first, last, shape, operands = found
                        taken[first:last] = True
                        accepted.append((first, last, shape))
                        moved[first] = operands
            if width * 2 > min(WIDEST, count // 2) or taken.mean() > 0.5:
                break
            pairs = ids[:-width] * np.int64(int(ids.max()) + 1)
            pairs += ids[width:]
            ids = _numbered(pairs)
            width *= 2
        if accepted:
            self._replace(sorted(accepted), moved)
        return bool(accepted)

    def _replace(self, accepted: list[tuple[int, int, int]], moved: dict[int, Integers]) -> None:
        """Put one thing in the place of each loop found."""
        keep = np.ones(len(self.tokens), dtype=bool)
        firsts = []
        for first, last, shape in accepted:
            keep[first + 1 : last] = False
            firsts.append(first)
            self.things[first] = -1 - shape
            self.spans[first] = self.shapes[shape].trips * self.shapes[shape].period
            self.tokens[first] = self._token(shape)
        pieces, widths, done = [], np.diff(self.starts), 0
        for first, last, _ in accepted:
            pieces += [self.operands[self.starts[done] : self.starts[first]], moved[first]]
            widths[first] = len(moved[first])
            done = last
        pieces.append(self.operands[self.starts[done] :])
        self.operands = np.concatenate(pieces)
        self.starts = np.concatenate(([0], np.cumsum(widths[keep])))
        self.things, self.tokens = self.things[keep], self.tokens[keep]
        self.at, self.spans = self.at[keep], self.spans[keep]

    def _token(self, number: int) -> int:
        """Loops of one shape look the same."""
        shape = self.shapes[number]
        key = (shape.trips, shape.period, self._bodies[number], shape.strides.tobytes())
        return self.known.setdefault(key, self.fresh + len(self.known))

    # ---- one stretch ---------------------------------------------------------------------------

    def _rolled(
        self, start: int, end: int, period: int
    ) -> Iterator[tuple[int, int, int, Integers]]:
        """The loops in a stretch of things that repeat at a distance."""
        pending = [(start, end)]
        while pending:
            start, end = pending.pop()
            trips = (end - start) // period
            if trips < LEAST_TRIPS or (trips - 1) * period < LEAST_SAVED:
                continue
            operands = self.operands[self.starts[start] : self.starts[start + trips * period]]
            table = operands.reshape(trips, -1)
            first, last = _longest_steady(table)
            if last - first < LEAST_TRIPS or (last - first - 1) * period < LEAST_SAVED:
                continue  # it is the longest
            at = start + first * period
            shape, base = self._shape(at, period, table[first:last])
            yield at, at + (last - first) * period, shape, base
            if first:
                pending.append((start, start + first * period))
            if last < trips:
                pending.append((start + last * period, start + trips * period))

    def _shape(self, start: int, period: int, table: Integers) -> tuple[int, Integers]:
        """A new shape for what repeats from ``start`` on, and the operands of its first round."""
        base, strides = table[0].copy(), table[1] - table[0]
        numbers = np.flatnonzero((base >= NUMBERS) & (base < TABLES))
        for column in numbers[(table[:, numbers] != base[numbers]).any(axis=0)].tolist():
            self.tables.append(table[:, column].copy())
            base[column], strides[column] = TABLES + self.table_length, 1
            self.table_length += len(table)
        body = slice(start, start + period)
        begin = self.at[start]
        ends = self.at[start + period - 1] + self.spans[start + period - 1]
        self._bodies.append(tuple(self.tokens[body].tolist()))
        self.shapes.append(
            _Shape(
                len(table),
                self.things[body].copy(),
                np.diff(self.starts[start : start + period + 1]),
                self.at[body] - begin,
                int(ends - begin),
                strides,
            )
        )
        return len(self.shapes) - 1, base


def _tokens(flat: Flat) -> Small:
    """One number for all instructions that look the same."""
    widths = np.diff(flat.starts)
    key = flat.ops * np.int64(int(flat.sites.max(initial=-1)) + 2)
    key += flat.sites
    key += 1
    key *= int(widths.max(initial=0)) + 1
    key += widths
    key *= int(flat.results.max(initial=0)) + 1
    key += flat.results
    return _numbered(key)


def _numbered(keys: Integers) -> Small:
    """Equal keys as one number each, counting up from 0."""
    most = int(keys.max(initial=0))
    if most < 1 << 24:  # a table is faster than a sort
        there = np.zeros(most + 1, np.int32)
        there[keys] = 1
        numbers: Small = (np.cumsum(there, dtype=np.int32) - np.int32(1))[keys]
        return numbers
    return np.unique(keys, return_inverse=True)[1].astype(np.int32)


def in_order(numbers: Integers | Small) -> Integers:
    """Where small numbers stand, sorted; equal ones in their order."""
    if len(numbers) and int(numbers.max()) < 1 << 16:  # counted, not compared
        return np.argsort(numbers.astype(np.uint16), kind="stable")
    return np.argsort(numbers, kind="stable")


def _stretches(ids: Small, width: int) -> list[tuple[int, int, int]]:
    """(period, start, end) of stretches in which each window of ``width`` came a period before."""
    count = len(ids)
    order = in_order(ids)
    sorted_ids = ids[order]
    apart = np.zeros(count, dtype=np.int32)
    apart[order[1:]] = (order[1:] - order[:-1]) * (sorted_ids[1:] == sorted_ids[:-1])
    del sorted_ids, order
    cut = np.flatnonzero(np.diff(apart)) + 1
    begins, ends = np.concatenate(([0], cut)), np.concatenate((cut, [count]))
    periods = apart[begins]
    lengths = ends - begins + width - 1 + periods
    good = (periods > 0) & (lengths >= LEAST_TRIPS * periods) & (lengths - periods >= LEAST_SAVED)
    return [
        (period, begin - period, end + width - 1)
        for begin, end, period in zip(
            begins[good].tolist(), ends[good].tolist(), periods[good].tolist()
        )
    ]


def _free(taken: NDArray[np.bool_], start: int, end: int, least: int) -> Iterator[tuple[int, int]]:
    """The pieces of a stretch that no loop has, if they are long enough."""
    marks = np.flatnonzero(taken[start:end])
    if not len(marks):
        yield start, end
        return
    edges = np.concatenate(([-1], marks, [end - start]))
    for gap in np.flatnonzero(np.diff(edges) > least).tolist():
        yield start + int(edges[gap]) + 1, start + int(edges[gap + 1])


def _longest_steady(table: Integers) -> tuple[int, int]:
    """The longest run of rounds in which every operand moves by a constant and stays of its kind.

    Plain numbers may move as they like: they become tables.
    """
    if table.shape[1] == 0:
        return 0, len(table)
    steps = np.diff(table, axis=0)
    kinds = table >> 40
    numbers = (kinds >= NUMBERS >> 40).all(axis=0) & (kinds < TABLES >> 40).all(axis=0)
    alike = ((steps[1:] == steps[:-1]) | numbers).all(axis=1)
    alike &= (kinds[1:-1] == kinds[2:]).all(axis=1) & (kinds[:-2] == kinds[2:]).all(axis=1)
    # round i, i + 1 and i + 2 go on alike: the longest run of such, and the two at its end
    edges = np.flatnonzero(np.diff(np.concatenate(([0], alike.astype(np.int8), [0]))))
    begins, ends = edges[::2], edges[1::2]
    if not len(begins):
        return 0, 0
    longest = int(np.argmax(ends - begins))
    return int(begins[longest]), int(ends[longest]) + 2


def written_out(roller: Roller) -> Integers:
    """The operands of all instructions with the loops written out: the proof of the rolling."""
    pieces: list[Integers] = []
    for place, thing in enumerate(roller.things.tolist()):
        operands = roller.operands[roller.starts[place] : roller.starts[place + 1]]
        pieces.append(operands if thing >= 0 else _rounds(roller, -1 - thing, operands[None, :]))
    flat = np.concatenate([piece.reshape(-1) for piece in pieces]) if pieces else np.zeros(0, int)
    if roller.tables:
        table = np.concatenate(roller.tables)
        in_table = flat >= TABLES
        while in_table.any():
            flat[in_table] = table[flat[in_table] - TABLES]
            in_table = flat >= TABLES
    return flat


def _rounds(roller: Roller, number: int, given: Integers) -> Integers:
    """The operands of a loop written out, for several of its instances at once: a row each."""
    shape = roller.shapes[number]
    trips = np.arange(shape.trips)
    moved = given[:, None, :] + trips[:, None] * shape.strides  # instance, round, operand
    moved = moved.reshape(-1, moved.shape[2])
    if (shape.body >= 0).all():
        return moved.reshape(len(given), -1)
    parts, at = [], 0
    for thing, width in zip(shape.body.tolist(), shape.widths.tolist()):
        part = moved[:, at : at + width]
        parts.append(part if thing >= 0 else _rounds(roller, -1 - thing, part))
        at += width
    return np.concatenate(parts, axis=1).reshape(len(given), -1)


def rolled(flat: Flat) -> Roller:
    """The loops of a flat program, proved by writing them out."""
    roller = Roller(flat)
    roller.run()
    if roller.shapes and not np.array_equal(written_out(roller), flat.operands):
        raise ProgramError.of("rolling", "written out it is another program")
    return roller


def items_of(roller: Roller, names: Sequence[str], place: Any, first: int) -> list[Item]:
    """The things of a rolled program as items: ``place`` makes ids of addresses of inputs,
    results begin at ``first``."""
    flat = roller.flat
    ops, sites = flat.ops.tolist(), flat.sites.tolist()
    results = flat.results.tolist()

    def id_of(address: int) -> int:
        return address + first if address < INPUTS else int(place(address))

    def item(thing: int, operands: list[int], at: int) -> Item:
        if thing >= 0:
            made = tuple(range(at, at + results[thing]))
            return Instruction(names[ops[thing]], made, tuple(operands), sites[thing])
        shape = roller.shapes[-1 - thing]
        parts: list[Item] = []
        done = 0
        for part, width, offset in zip(
            shape.body.tolist(), shape.widths.tolist(), shape.offsets.tolist()
        ):
            parts.append(item(part, operands[done : done + width], at + offset))
            done += width
        return Loop(shape.trips, tuple(parts), shape.period, tuple(shape.strides.tolist()))

    made: list[Item] = []
    operands = [id_of(each) for each in roller.operands.tolist()]
    starts = roller.starts.tolist()
    for number, (thing, at) in enumerate(zip(roller.things.tolist(), roller.at.tolist())):
        made.append(item(thing, operands[starts[number] : starts[number + 1]], at + first))
    return made
