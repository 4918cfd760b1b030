"""Sums of products of two arrays, by matrix products.

The letters of a nest say what matrix product it is: those of one factor and the result are its
rows or columns, those of both factors and not of the result are summed over. Where letters do not
lie evenly, or a window or a condition stands in the way, a factor is copied first (``_packed``), or
the product is made apart and brought to its places afterwards (``_spread``). That is how
convolutions and both their gradients run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..index import RESULT
from .flat import Place
from .nests import ADD, PRODUCT, SET, Ids, Loop, Nest, arranged, copy

COPY, APART = "copy of", "product"
"""What the arrays are called that a plan makes for itself."""


@dataclass(frozen=True)
class Matrix:
    """An array walked as a matrix: where it begins, and the steps of its rows and columns."""

    array: str
    at: Place
    row: int
    column: int


@dataclass(frozen=True)
class Product:
    """``c = a @ b`` or ``c += a @ b``, in every turn of the loops; c's columns lie side by side."""

    sizes: tuple[int, int, int]
    a: Matrix
    b: Matrix
    c: Matrix
    mode: int
    loops: tuple[Loop, ...] = ()

    def words(
        self, array: Ids, whole: Ids, numbers: list[float], turns: Sequence[Loop] = ()
    ) -> list[int]:
        """As the native core reads it."""
        words = [PRODUCT, self.mode, *self.sizes, len(self.loops)]
        words += [length for _, length in self.loops]
        for it in (self.a, self.b, self.c):
            steps = [it.at.steps.get(name, 0) for name, _ in (*self.loops, *turns)]
            words += [array[it.array], it.row, it.column, it.at.base, *steps]
        return words


Step = Nest | Product


@dataclass(frozen=True)
class Way:
    """Steps, in every turn of the loops around them; ``finite`` are arrays that have to be so.

    ``made`` are the arrays it makes for itself: their sizes, and whether they begin as zeros.
    """

    steps: tuple[Step, ...]
    turns: tuple[Loop, ...] = ()
    finite: tuple[str, ...] = ()
    made: Mapping[str, tuple[int, bool]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Run:
    """Letters along which some places go on evenly: all in all so long, with these steps."""

    letters: tuple[str, ...]
    length: int
    steps: tuple[int, ...]


NONE = _Run((), 1, ())


class Contraction:
    """A nest that adds up products of two references: its letters, by where they stand."""

    def __init__(self, made: Nest, once: bool) -> None:
        self.made, self.once = made, once
        (self.left, self.a), (self.right, self.b) = (made.reads * 2)[:2]
        self.c = made.to
        self.lengths = dict(made.loops)

        def letters(*where: bool) -> list[str]:
            return [
                name for name in self.lengths
                if (name in self.a.steps, name in self.b.steps, name in self.c.steps) == where
            ]  # fmt: skip

        self.rows, self.columns = letters(True, False, True), letters(False, True, True)
        self.over, self.batch = letters(True, True, False), letters(True, True, True)
        known = len(self.rows) + len(self.columns) + len(self.over) + len(self.batch)
        self.plain = known == len(self.lengths) and not any(it.rest for it in made.places)
        self.guarded = {name for _, it in made.guards for name in it.letters}

    def swapped(self) -> Contraction:
        """The same with its factors changed."""
        reads = ((self.right, self.b), (self.left, self.a))
        return Contraction(replace(self.made, reads=reads), self.once)

    def runs(self, names: Sequence[str], *places: Place) -> list[_Run]:
        """Letters joined where these places go on evenly, the best run first.

        Letters that conditions ask about come before others, so that the loops around do not
        change what a copy has to leave out; then those side by side, then the longest.
        """

        def steps(name: str) -> tuple[int, ...]:
            return tuple(it.steps.get(name, 0) for it in places)

        found: list[_Run] = []
        for name in sorted(names, key=lambda name: tuple(-abs(n) for n in steps(name))):
            length = self.lengths[name]
            if found and found[-1].steps == tuple(n * length for n in steps(name)):
                last = found[-1]
                found[-1] = _Run((*last.letters, name), last.length * length, steps(name))
            else:
                found.append(_Run((name,), length, steps(name)))

        def merit(run: _Run) -> tuple[bool, bool, int]:
            asked = not self.guarded.isdisjoint(run.letters)
            return asked, 1 in run.steps and run.length >= ENOUGH, run.length

        return sorted(found, key=merit, reverse=True)

    def stay_inside(self, sizes: Mapping[str, int], *places: tuple[str, Place]) -> bool:
        """Whether places are inside their arrays in all turns, whatever conditions say."""
        for array, place in places:
            reach = [place.steps.get(letter, 0) * (n - 1) for letter, n in self.made.loops]
            low = place.base + sum(min(0, it) for it in reach)
            if low < 0 or place.base + sum(max(0, it) for it in reach) >= sizes[array]:
                return False
        return True

    def lies_in_longer_rows(self, one: _Run, other: _Run) -> bool:
        """Whether the second factor has longer rows along one run than along another."""

        def row(run: _Run) -> int:
            last = run.letters[-1] if run.letters else ""
            return self.lengths[last] if self.b.steps.get(last) == 1 else 0

        return row(one) > row(other)

    def loops(self, *used: _Run) -> tuple[Loop, ...]:
        """The loops that are left when some runs are taken."""
        taken = {name for run in used for name in run.letters}
        return tuple(loop for loop in self.made.loops if loop[0] not in taken)


def ways(made: Nest, once: bool, sizes: Mapping[str, int]) -> tuple[Way, ...]:
    """How a nest is carried out that adds up products; ``once``: each place of the result is one
    turn of the letters on the left. ``sizes`` says how many numbers arrays have."""
    whole = Contraction(made, once)
    if not whole.plain or not whole.over or (whole.batch and not whole.rows + whole.columns):
        return ()
    long_way = Way((arranged(made),))
    way = None
    if once and not made.guards:
        way = _direct(whole, WORTH)
    if once and way is None:
        way = _packed(whole, sizes) or _packed(whole.swapped(), sizes)
    if way is None:
        way = _spread(whole, sizes)
    if once and way is None and not made.guards:
        way = _direct(whole, FEW)
    if way is None:
        return ()
    return (way, long_way) if way.finite else (way,)


ENOUGH = 16
"""A run of this length is as good as any."""

LARGE = 1 << 15
"""Numbers of a factor from which a matrix product copies it, whatever its layout."""

FEW = 64
"""Multiplications below which a matrix product is not worth being called."""


WORTH = 1 << 13
"""Multiplications from which one is worth being called again and again, rather than copying."""


def _direct(it: Contraction, least: int) -> Way | None:
    """All factors as they lie, in products of at least so many multiplications if in several."""
    rows, columns = it.runs(it.rows, it.a, it.c), it.runs(it.columns, it.b, it.c)
    over = it.runs(it.over, it.a, it.b)
    across = next((run for run in columns if run.steps[1] == 1), None)
    if across is None:
        if any(run.steps[1] == 1 for run in rows) or (columns and not rows):
            return _direct(it.swapped(), least)
        if columns:
            return None
        across = NONE
    down, along = (rows or [NONE])[0], (over or [NONE])[0]
    loops = it.loops(down, across, along)
    batch_only = all(name in it.batch for name, _ in loops)
    enough = FEW if batch_only else least
    if loops and down.length * across.length * along.length < enough:
        return None
    mode = ADD if len(over) > 1 else SET
    return Way((_product(it, down, across, along, loops, mode),))


def _product(
    it: Contraction, down: _Run, across: _Run, along: _Run, loops: tuple[Loop, ...], mode: int
) -> Product:
    return Product(
        (down.length, across.length, along.length),
        Matrix(it.left, it.a, _step(it.a, down), _step(it.a, along)),
        Matrix(it.right, it.b, _step(it.b, along), _step(it.b, across)),
        Matrix(RESULT, it.c, _step(it.c, down), _step(it.c, across)),
        mode,
        loops,
    )


def _packed(it: Contraction, sizes: Mapping[str, int]) -> Way | None:
    """The second factor copied first: windows laid out, with zeros where a condition does not hold.

    Zeros times what is not finite would be NaN, so then the long way is taken.
    """
    if not it.guarded <= set(it.b.steps):
        return None
    if not it.stay_inside(sizes, (it.left, it.a), (RESULT, it.c)):
        return None
    rows, columns = it.runs(it.rows, it.a, it.c), it.runs(it.columns, it.c)
    over = it.runs(it.over, it.a)
    if not over:
        return None
    across = next((run for run in columns if run.steps[0] == 1), (columns or [NONE])[0])
    down, along = (rows or [NONE])[0], over[0]
    upright = across is NONE or across.steps[0] == 1
    if not upright and down is not NONE and down.steps[1] != 1:
        return None
    if down.length * across.length * along.length < FEW:
        return None
    turns = it.loops(down, across, along)
    size = along.length * across.length
    first, second = (along, across)
    if size > LARGE and it.lies_in_longer_rows(along, across):  # it is copied again in any case
        first, second = (across, along)
    own = [(name, it.lengths[name]) for name in (*first.letters, *second.letters)]
    packed = _box(own)
    name = f"{COPY} {it.right}"
    laid = arranged(copy(name, packed, it.right, it.b, own, SET, it.made.guards))
    fresh = Contraction(replace(it.made, reads=((it.left, it.a), (name, packed)), guards=()), True)
    mode = ADD if any(n in it.over for n, _ in turns) else SET
    product = _product(fresh, down, across, along, (), mode)
    if not upright:
        product = _transposed(product)
    finite = (it.left,) if it.made.guards else ()
    return Way((laid, product), turns, finite, {name: (size, bool(it.made.guards))})


def _transposed(it: Product) -> Product:
    m, n, k = it.sizes
    return replace(
        it, sizes=(n, m, k), a=_turned(it.b), b=_turned(it.a), c=_turned(it.c)
    )  # fmt: skip


def _turned(it: Matrix) -> Matrix:
    return replace(it, row=it.column, column=it.row)


def _spread(it: Contraction, sizes: Mapping[str, int]) -> Way | None:
    """The product made apart, over all letters that say where it goes, then added to its places."""
    over = it.runs(it.over, it.a, it.b)
    if len(over) != 1 or set(over[0].letters) & it.guarded:
        return None
    if not it.stay_inside(sizes, (it.left, it.a), (it.right, it.b)):
        return None
    rows = it.runs(it.rows, it.a)
    columns = it.runs(it.columns, it.b)
    down, across = (columns or [NONE])[0], (rows or [NONE])[0]
    along = over[0]
    if down.length * across.length * along.length < FEW:
        return None
    turns = it.loops(down, across, along)
    own = [(name, it.lengths[name]) for name in (*down.letters, *across.letters)]
    box = _box(own)
    product = Product(
        (down.length, across.length, along.length),
        Matrix(it.right, it.b, _step(it.b, down), _step(it.b, along)),
        Matrix(it.left, it.a, _step(it.a, along), _step(it.a, across)),
        Matrix(APART, box, across.length, 1),
        SET,
    )
    brought = copy(RESULT, it.c, APART, box, own, ADD, it.made.guards)
    size = down.length * across.length
    return Way((product, arranged(brought)), turns, (), {APART: (size, False)})


def _box(loops: Sequence[Loop]) -> Place:
    """An array with these letters for axes."""
    steps, step = {}, 1
    for name, length in reversed(loops):
        steps[name] = step
        step *= length
    return Place(0, steps)


def _step(it: Place, run: _Run) -> int:
    return it.steps.get(run.letters[-1], 0) if run.letters else 0
