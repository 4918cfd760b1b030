"""Loop nests over flat memory: a term of a statement, ready to be carried out by the native core.

Loops are put in an order that goes through memory evenly, those along which everything goes on
evenly become one, and the one that is best done many turns at once comes last. All this depends
on shapes alone, and so does the order in which what meets in a place is added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from ..index import (
    RESULT,
    Index,
    Letter,
    Quotient,
    Read,
    Ref,
    Shape,
    Term,
    Test,
)
from .adjoint import written_once
from .flat import Flat, Place, place
from .programs import Program, program

SET, ADD, MULTIPLY, RUN_ADD, RUN_MULTIPLY = range(5)
"""What becomes of the amounts: written, added, multiplied; or added or multiplied up along the
last loop, each total written as it stands."""

AT_MOST, DIFFERS = range(2)
"""A guard: a number that has to be at most 0, or other than 0."""

NEST, PRODUCT = range(2)
"""What a step of a plan is, in words."""

LETTER, QUOTIENT, READ = range(3)
"""What an atom of a formula is, in words."""

Loop = tuple[str, int]
Ids = Mapping[str, int]


@dataclass(frozen=True)
class Nest:
    """One term: loops, where it goes, what it reads and when, and its body."""

    mode: int
    loops: tuple[Loop, ...]
    to: Place
    reads: tuple[tuple[str, Place], ...]
    guards: tuple[tuple[int, Place], ...]
    body: Program
    ordered: bool = False
    target: str = RESULT

    @property
    def places(self) -> tuple[Place, ...]:
        """Every place and guard: what moves with the loops."""
        return (self.to, *(it for _, it in self.reads), *(it for _, it in self.guards))

    def words(
        self, array: Ids, whole: Ids, numbers: list[float], turns: Sequence[Loop] = ()
    ) -> list[int]:
        """As the native core reads it; its numbers are put behind those that are there.

        ``turns`` are loops around this nest and others.
        """
        at = {name: n for n, (name, _) in enumerate(self.loops)}
        tables: dict[tuple[tuple[str, ...], Index], int] = {}

        def said(it: Place) -> list[int]:
            steps = [it.steps.get(name, 0) for name, _ in (*self.loops, *turns)]
            own = [tables.setdefault(entry, len(tables)) for entry in it.rest]
            return [it.base, *steps, len(own), *own]

        to = said(self.to)
        reads = [word for name, it in self.reads for word in (array[name], *said(it))]
        guards = [word for kind, it in self.guards for word in (kind, *said(it))]
        words = [NEST, self.mode, len(self.loops), *(length for _, length in self.loops)]
        words.append(len(tables))
        for names, index in tables:
            walked = [at[name] for name, _ in self.loops if name in names]
            formula = _formula(index, at, whole)
            words += [len(walked), *walked, len(formula), *formula]
        words += [array[self.target], *to, len(self.reads), *reads, len(self.guards), *guards]
        body = self.body
        words += [body.rooms, len(numbers), len(body.steps)]
        for op, room, operands in body.steps:
            words += [op, room, len(operands), *(word for it in operands for word in it)]
        numbers.extend(body.numbers)
        return [*words, *body.result]


def nest(term: Term, how: str, shapes: Mapping[str, Shape]) -> Nest | None:
    """The nest of a term; None if no turn of its loops counts."""
    lengths = dict(term.loops)
    if 0 in lengths.values():
        return None
    flat = Flat(lengths, shapes)
    found = term.refs
    guards = []
    for test in term.where:
        kind, index = _guard(test, flat)
        holds = _known(kind, index, flat)
        if holds is False:
            return None
        if holds is None:
            guards.append((kind, place(index)))
    return Nest(
        {"=": SET, "+=": ADD, "*=": MULTIPLY}[how],
        tuple(loop for loop in term.loops if loop[1] != 1),
        place(flat.at(RESULT, term.to.at)),
        tuple((ref.array, place(flat.at(ref.array, ref.at))) for ref in found),
        tuple(guards),
        program(term.body, found),
        how == "=" and not written_once(term),  # the last to be written stays
    )


def arranged(made: Nest) -> Nest:
    """The nest with its loops in the order in which they are to turn."""
    if made.ordered or made.mode in (RUN_ADD, RUN_MULTIPLY):
        return made
    first = made.reads[0][1] if made.reads else made.to
    kept = [loop for loop in made.loops if loop[0] in made.to.letters]
    over = [loop for loop in made.loops if loop[0] not in made.to.letters]
    kept.sort(key=lambda loop: -abs(made.to.steps.get(loop[0], 1 << 62)))
    over.sort(key=lambda loop: -abs(first.steps.get(loop[0], 1 << 62)))
    made = joined(replace(made, loops=(*kept, *over)))
    if len(made.loops) < 2:
        return made
    best = max(range(len(made.loops)), key=lambda n: (_merit(made, made.loops[n]), n))
    last = made.loops[best]
    rest = [loop for loop in made.loops if loop != last]
    beside = [loop for loop in rest if not _share_a_guard(made, loop[0], last[0])]
    if made.guards and beside and rest[-1] not in beside:  # the last two are done as a block
        before = max(beside, key=lambda loop: loop[1])
        rest = [*(loop for loop in rest if loop != before), before]
    return replace(made, loops=(*rest, last))


def _share_a_guard(made: Nest, one: str, other: str) -> bool:
    return any({one, other} <= guard.letters for _, guard in made.guards)


SHORT = 6
"""A loop below this length is not worth being the last if there is another."""


def _merit(made: Nest, loop: Loop) -> tuple[bool, int]:
    """How well a loop is done many turns at once."""
    name, length = loop
    merit = 0
    for number, it in enumerate((made.to, *(it for _, it in made.reads))):
        looked_up = any(name in names for names, _ in it.rest)
        step = it.steps.get(name, 0)
        if not looked_up and step in (0, 1):
            merit += 2 + (number == 0 and step == 1)
    return length >= SHORT, merit


def joined(made: Nest) -> Nest:
    """Loops along which everything goes on evenly, as one."""
    places = made.places
    looked_up = {name for it in places for names, _ in it.rest for name in names}
    loops: list[Loop] = []
    for name, length in made.loops:
        if loops and not {name, loops[-1][0]} & looked_up:
            outer, count = loops[-1]
            if all(it.steps.get(outer, 0) == it.steps.get(name, 0) * length for it in places):
                loops[-1] = (name, count * length)
                continue
        loops.append((name, length))
    return replace(made, loops=tuple(loops))


def running(made: Nest) -> Nest | None:
    """``z[i] += x[k] where k <= i`` as one walk along k that keeps the total; None if it is not so.

    With the letters changed, ``z[k] += x[i] where k <= i``, the walk is from the end.
    """
    if made.mode not in (ADD, MULTIPLY) or made.ordered:
        return None
    lengths = dict(made.loops)
    size = prod(length for _, length in made.loops)
    for number, (kind, guard) in enumerate(made.guards):
        if kind != AT_MOST or guard.rest or guard.base or len(guard.steps) != 2:
            continue
        low, high = sorted(guard.steps, key=lambda name: -guard.steps[name])
        if (guard.steps[low], guard.steps[high]) != (1, -1) or lengths[low] != lengths[high]:
            continue
        rest = tuple(it for n, it in enumerate(made.guards) if n != number)
        reads = [it for _, it in (*made.reads, *rest)]
        kept, over = (high, low) if high in made.to.letters else (low, high)
        if (
            over in made.to.letters
            or kept not in made.to.steps
            or any(kept in it.letters for it in reads)
            or any(kept in names for names, _ in made.to.rest)
            or not all(name in made.to.letters for name in lengths if name != over)
        ):
            continue
        walk = replace(
            made,
            mode=RUN_ADD if made.mode == ADD else RUN_MULTIPLY,
            loops=(
                *(loop for loop in made.loops if loop[0] not in (kept, over)),
                (over, lengths[over]),
            ),
            to=_renamed(made.to, kept, over),
            guards=rest,
        )
        if not covers(replace(walk, guards=()), size // lengths[over]):
            continue
        return walk if over == low else _turned(walk, over, lengths[over])
    return None


def _renamed(it: Place, old: str, new: str) -> Place:
    return replace(it, steps={new if name == old else name: n for name, n in it.steps.items()})


def _turned(made: Nest, name: str, length: int) -> Nest | None:
    """The same from the other end; None where places are looked up along it."""
    if any(name in names for it in made.places for names, _ in it.rest):
        return None

    def other_end(it: Place) -> Place:
        step = it.steps.get(name, 0)
        return replace(it, base=it.base + step * (length - 1), steps={**it.steps, name: -step})

    return replace(
        made,
        to=other_end(made.to),
        reads=tuple((array, other_end(it)) for array, it in made.reads),
        guards=tuple((kind, other_end(it)) for kind, it in made.guards),
    )


def covers(made: Nest, size: int) -> bool:
    """Whether it is plain that every place of the result is written, each once."""
    if made.guards or made.to.rest or made.ordered:
        return False
    steps = sorted((abs(made.to.steps.get(name, 0)), n) for name, n in made.loops
                   if name in made.to.steps)  # fmt: skip
    reach = 1
    for step, length in steps:
        if step != reach:
            return False
        reach *= length
    return reach == size


def copy(
    target: str,
    to: Place,
    array: str,
    of: Place,
    loops: Sequence[Loop],
    mode: int = SET,
    guards: Sequence[tuple[int, Place]] = (),
) -> Nest:
    """A nest that moves numbers from one array to another."""
    ref = Ref(array, ())
    body = program(ref, [ref])
    return Nest(mode, tuple(loops), to, ((array, of),), tuple(guards), body, False, target)


def _guard(test: Test, flat: Flat) -> tuple[int, Index]:
    apart = flat.normal(test.left) - flat.normal(test.right)
    made: Mapping[str, Callable[[], tuple[int, Index]]] = {
        "<=": lambda: (AT_MOST, apart),
        "<": lambda: (AT_MOST, apart + 1),
        ">=": lambda: (AT_MOST, -apart),
        "!=": lambda: (DIFFERS, apart),
    }
    return made[test.symbol]()


def _known(kind: int, index: Index, flat: Flat) -> bool | None:
    """Whether a guard holds always (True) or never (False)."""
    reach = flat.reach(index)
    if reach is None:
        return None
    low, high = reach
    if kind == AT_MOST:
        return True if high <= 0 else False if low > 0 else None
    return True if low > 0 or high < 0 else False if low == high == 0 else None


def _formula(index: Index, at: Mapping[str, int], whole: Ids) -> list[int]:
    words = [len(index.parts)]
    for atoms, factor in index.parts:
        words += [factor, len(atoms)]
        for atom in atoms:
            if isinstance(atom, Letter):
                words += [LETTER, at[atom.name]]
            elif isinstance(atom, Quotient):
                by = atom.by.number
                assert by is not None
                words += [QUOTIENT, by, *_formula(atom.of, at, whole)]
            else:
                assert isinstance(atom, Read)
                words += [READ, whole[atom.array], *_formula(atom.at[0], at, whole)]
    return words
