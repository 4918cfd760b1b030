"""What is done for every row on the CPU: a program's statements, and the columns of its arrays.

A loop that runs through an array has its columns laid out as vectors, eight at a time, and what the
next tile of rows reads of it fetched from memory meanwhile. Where a column is needed before, all of
them are laid out first.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..program.nodes import Around, Body, Moves, Nest
from ..program.places import Given
from .statements import Printer, affine


@dataclass(frozen=True, eq=False)
class Passage:
    """The first loop that runs through an array: where it begins, and whether its columns can be
    laid out as it comes to them, eight at a time."""

    array: int
    first: int
    moves: Moves
    loop: Around
    is_eager: bool

    @property
    def eights(self) -> range:
        """The columns that are laid out in the loop."""
        whole = self.loop.trips // 8 * 8 if self.is_eager else 0
        return range(self.first, self.first + whole)


@dataclass(eq=False)
class RowPrinter(Printer):
    """Prints what is done for every row on the CPU. The first loop that runs through an array also
    lays out its columns and fetches what the next tile reads of it: that comes from memory while
    this tile is computed."""

    passages: list[Passage] = field(default_factory=list)
    """What there is of that, by array."""

    def __post_init__(self) -> None:
        self.passages = passages(self)

    def keep_whole(self, arrays: set[int]) -> None:
        """Have all columns of some arrays laid out first: what stands before the program reads
        them."""
        self.passages = [
            replace(it, is_eager=it.is_eager and it.array not in arrays) for it in self.passages
        ]

    def columns(self, array: int, width: int) -> list[str]:
        """The columns of an array that are laid out before anything is computed."""
        name = f"xs{array}, a{array}, row"
        eights = next((it.eights for it in self.passages if it.array == array), range(0))
        if not eights:
            return [f"rg_columns({name}, 0, {width});"]
        first, last = eights.start, eights.stop
        before = [f"rg_columns({name}, 0, {first});"] if first else []
        return [*before, f"rg_columns({name}, turns{array} ? {last} : {first}, {width});"]

    def before_loop(self, loop: Around, depth: int) -> None:
        """Where the next tile lies."""
        for it in self.passages:
            if it.loop is loop:
                a = it.array
                ahead = f"rg_look_ahead(a{a}, row, {loop.trips})"
                self.out(f"const rg_ahead ahead{a} = {ahead};", depth)

    def before_round(self, body: Body, depth: int) -> None:
        """Eight columns, and a round's part of the next tile."""
        for it in self.passages:
            if it.loop is not body.loop:
                continue
            a, k, column = it.array, f"k{it.loop.number}", affine(it.first, it.moves)
            if it.eights:
                due = f"turns{a} && {k} % 8 == 0 && {k} < {len(it.eights)}"
                self.out(f"if ({due}) rg_eight(xs{a}, a{a}, row, {column});", depth)
            self.out(f"rg_fetch(ahead{a}, a{a}, {column}, {k});", depth)


def passages(printer: Printer) -> list[Passage]:
    """The first loop through each array."""
    found: dict[int, Passage] = {}
    read: dict[int, list[tuple[Given, Nest]]] = {}
    for node in printer.nodes.all:
        if printer.places.varies[node.number] == printer.once:
            continue
        for reference in node.operands:
            place = printer.places.place(reference, node.nest, printer.once)
            if isinstance(place, Given) and place.base in printer.layout.listed:
                array, _ = printer.layout.listed[place.base]
                read.setdefault(array, []).append((place, node.nest))
    for array, places in read.items():
        for number, (place, nest) in enumerate(places):
            if place.moves and place.moves[-1][0] is nest[-1]:
                found[array] = _passage(printer, array, places, number)
                break
    return list(found.values())


def _passage(
    printer: Printer, array: int, places: list[tuple[Given, Nest]], number: int
) -> Passage:
    """The loop of one reading of an array. Its columns can wait for it if nothing read them before,
    and it reads each in its own round."""
    place, nest = places[number]
    loop, first = nest[-1], printer.layout.listed[place.base][1]
    columns = range(first, first + loop.trips)
    alone = len(nest) == 1 and place.moves == ((loop, 1),)
    before = all(
        not it.moves and printer.layout.listed[it.base][1] not in columns
        for it, _ in places[:number]
    )
    inside = all(it == place for it, around in places[number:] if around and around[0] is loop)
    return Passage(array, first, place.moves, loop, alone and before and inside)
