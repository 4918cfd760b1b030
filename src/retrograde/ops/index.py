"""Index notation: the language in which the array law states its rows.

``z[i, j] += x[i, k] * y[k, j]`` says how one number of the result is made. Letters are loops; those
that do not stand on the left are summed over. An index is a whole-number formula of letters, sizes
and given numbers, or is read from an array of whole numbers. The body is an expression of the
scalar law (``expr.py``) over references to arrays. Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Union

from .expr import Both, Call, Compare, Condition, Either, Expr, Where, parts

Shape = tuple[int, ...]
RESULT = "z"
"""The name of the array a statement makes."""


@dataclass(frozen=True)
class Letter:
    """A loop. ``many`` says that it stands for as many axes as an argument names."""

    name: str
    many: bool = False


@dataclass(frozen=True)
class Size:
    """The length of one axis of an array, counted among the axes that the row names."""

    array: str
    axis: int = 0


@dataclass(frozen=True)
class Given:
    """A whole number that comes with the call: a stride, a shift."""

    name: str


@dataclass(frozen=True)
class Quotient:
    """``of // by``, rounded down."""

    of: Index
    by: Index


@dataclass(frozen=True)
class Remainder:
    """``of % by``, never negative."""

    of: Index
    by: Index


@dataclass(frozen=True)
class Read:
    """``n[i]``: an index that stands in an array of whole numbers."""

    array: str
    at: tuple[Index, ...]


Atom = Letter | Size | Given | Quotient | Remainder | Read
Whole = Union["Index", int]


@dataclass(frozen=True)
class Index:
    """A sum of products of atoms with whole factors: ``stride * t + s - 1``."""

    parts: tuple[tuple[tuple[Atom, ...], int], ...] = ()

    def __add__(self, other: Whole) -> Index:
        return _sum((*self.parts, *as_index(other).parts))

    __radd__ = __add__

    def __neg__(self) -> Index:
        return self * -1

    def __sub__(self, other: Whole) -> Index:
        return self + as_index(other) * -1

    def __rsub__(self, other: Whole) -> Index:
        return as_index(other) - self

    def __mul__(self, other: Whole) -> Index:
        return _sum(
            tuple(
                ((*left, *right), a * b)
                for left, a in self.parts
                for right, b in as_index(other).parts
            )
        )

    __rmul__ = __mul__

    def __floordiv__(self, by: Whole) -> Index:
        divisor = as_index(by)
        whole, under = self.number, divisor.number
        if under == 1:
            return self
        if whole is not None and under is not None:
            return as_index(whole // under)
        return Index((((Quotient(self, divisor),), 1),))

    def __mod__(self, by: Whole) -> Index:
        divisor = as_index(by)
        whole, under = self.number, divisor.number
        if whole is not None and under is not None:
            return as_index(whole % under)
        return Index((((Remainder(self, divisor),), 1),))

    def __le__(self, other: Whole) -> Test:
        return Test("<=", self, as_index(other))

    def __lt__(self, other: Whole) -> Test:
        return Test("<", self, as_index(other))

    def __ge__(self, other: Whole) -> Test:
        return Test(">=", self, as_index(other))

    @property
    def number(self) -> int | None:
        """The number it is, if no letter, size or array is left in it."""
        if not self.parts:
            return 0
        return self.parts[0][1] if len(self.parts) == 1 and not self.parts[0][0] else None

    @property
    def letter(self) -> Letter | None:
        """The letter it is, if it is one alone."""
        if len(self.parts) == 1 and self.parts[0][1] == 1 and len(self.parts[0][0]) == 1:
            only = self.parts[0][0][0]
            return only if isinstance(only, Letter) else None
        return None

    @property
    def affine(self) -> tuple[Mapping[str, int], int] | None:
        """Its factor for each letter, and its constant; None where it is no such sum."""
        factors: dict[str, int] = {}
        constant = 0
        for atoms, factor in self.parts:
            if not atoms:
                constant = factor
            elif len(atoms) == 1 and isinstance(atoms[0], Letter):
                factors[atoms[0].name] = factor
            else:
                return None
        return factors, constant


@dataclass(frozen=True)
class Test:
    """A condition on loops: only where it holds is the body added."""

    symbol: str
    left: Index
    right: Index


@dataclass(frozen=True)
class Ref(Expr):
    """One number of an array in a body: ``x[i, k]``."""

    array: str
    at: tuple[Index, ...]


@dataclass(frozen=True)
class Array:
    """An array of the notation: ``x[i, k]`` refers to one of its numbers, ``x[()]`` to its only."""

    name: str

    def __getitem__(self, at: Whole | tuple[Whole, ...]) -> Ref:
        return Ref(self.name, _places(at))


@dataclass(frozen=True)
class Wholes:
    """An array of whole numbers: ``n[i]`` is an index."""

    name: str

    def __getitem__(self, at: Whole | tuple[Whole, ...]) -> Index:
        return Index((((Read(self.name, _places(at)),), 1),))


@dataclass(frozen=True)
class Term:
    """``to`` receives ``body``, over all loops in their order, where the conditions hold.

    A loop is a letter and its length; a row's own terms have none until they are bound to shapes.
    """

    to: Ref
    body: Expr
    where: tuple[Test, ...] = ()
    loops: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Chosen:
    """Whole numbers found by looking at the data: ``argmax`` of an array over some of its axes.

    ``names`` are the arrays they are kept in: one an axis, or one along the only axis.
    """

    names: tuple[str, ...]
    by: str
    array: str
    axes: tuple[int, ...]


@dataclass(frozen=True)
class Statement:
    """A row bound to shapes: all that an evaluator, a printer or the adjoint rule needs.

    ``how`` is ``=`` where each place is written at most once (the others are 0), ``+=`` where what
    meets in a place is added up, ``*=`` where it is multiplied.
    """

    terms: tuple[Term, ...]
    shape: Shape
    how: str = "="
    chosen: tuple[Chosen, ...] = ()

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """The arrays of numbers that its bodies read, in the order of their first mention."""
        found = (ref.array for term in self.terms for ref in refs(term.body))
        return tuple(dict.fromkeys(found))

    @cached_property
    def wholes(self) -> tuple[str, ...]:
        """The arrays of whole numbers that its indices read."""
        found = (
            atom.array
            for term in self.terms
            for index in indices(term)
            for atom in atoms(index)
            if isinstance(atom, Read)
        )
        return tuple(dict.fromkeys(found))


def as_index(whole: Whole) -> Index:
    """Let numbers stand among indices."""
    if isinstance(whole, Index):
        return whole
    return Index((((), int(whole)),)) if whole else Index()


def letter(name: str, many: bool = False) -> Index:
    """A letter as an index."""
    return Index((((Letter(name, many),), 1),))


def letters(names: str) -> tuple[Index, ...]:
    """Several letters: ``i, j = letters("i j")``."""
    return tuple(map(letter, names.split()))


def size(array: str, axis: int = 0) -> Index:
    """The length of an axis as an index."""
    return Index((((Size(array, axis),), 1),))


def given(name: str) -> Index:
    """A number of the call as an index."""
    return Index((((Given(name),), 1),))


def differs(left: Index, right: Index) -> Test:
    """``left != right`` (a function, because ``!=`` compares indices as data)."""
    return Test("!=", left, right)


def refs(node: Expr | Condition) -> tuple[Ref, ...]:
    """The references in a body, each once, from left to right."""
    found: dict[Ref, None] = {}
    seen: set[int] = set()  # bodies share their parts: as a tree they may be huge
    pending = [node]
    while pending:
        part = pending.pop()
        if id(part) not in seen:
            seen.add(id(part))
            if isinstance(part, Ref):
                found[part] = None
            pending.extend(reversed(parts(part)))
    return tuple(found)


def indices(term: Term) -> Iterator[Index]:
    """Every index of a term: of its two sides, then of its conditions."""
    for ref in (term.to, *refs(term.body)):
        yield from ref.at
    for test in term.where:
        yield test.left
        yield test.right


def atoms(index: Index) -> Iterator[Atom]:
    """Every atom of an index, those inside others included."""
    for product, _ in index.parts:
        for atom in product:
            yield atom
            for inner in _inside(atom):
                yield from atoms(inner)


def letters_of(index: Index) -> tuple[str, ...]:
    """The names of the letters in an index, each once."""
    return tuple(dict.fromkeys(a.name for a in atoms(index) if isinstance(a, Letter)))


def rewritten(index: Index, change: Callable[[Atom], Index | None]) -> Index:
    """An index with some of its atoms replaced; None leaves one as it is, but for its inside."""
    total = Index()
    for product, factor in index.parts:
        value = as_index(factor)
        for atom in product:
            new = change(atom)
            value = value * (_rebuilt(atom, change) if new is None else new)
        total = total + value
    return total


def map_refs(node: Expr, change: Callable[[Ref], Expr]) -> Expr:
    """A body with its references replaced."""
    done: dict[int, Expr | Condition] = {}

    def part(node: Expr | Condition) -> Expr | Condition:
        if id(node) not in done:
            done[id(node)] = rebuilt(node)
        return done[id(node)]

    def expression(node: Expr) -> Expr:
        new = part(node)
        assert isinstance(new, Expr)
        return new

    def condition(node: Condition) -> Condition:
        new = part(node)
        assert isinstance(new, Condition)
        return new

    def rebuilt(node: Expr | Condition) -> Expr | Condition:
        if isinstance(node, Ref):
            return change(node)
        if isinstance(node, Call):
            return Call(node.name, tuple(map(expression, node.args)))
        if isinstance(node, Where):
            return Where(
                condition(node.condition), expression(node.then), expression(node.otherwise)
            )
        if isinstance(node, Compare):
            return Compare(node.symbol, expression(node.left), expression(node.right))
        if isinstance(node, (Both, Either)):
            return type(node)(condition(node.left), condition(node.right))
        return node

    return expression(node)


def map_term(
    term: Term,
    at: Callable[[str, tuple[Index, ...]], tuple[Index, ...]],
    index: Callable[[Index], Index],
) -> Term:
    """A term with the places of its references and the sides of its conditions replaced."""

    def moved(ref: Ref) -> Ref:
        return Ref(ref.array, at(ref.array, ref.at))

    tests = tuple(Test(t.symbol, index(t.left), index(t.right)) for t in term.where)
    return replace(term, to=moved(term.to), body=map_refs(term.body, moved), where=tests)


def _sum(parts: tuple[tuple[tuple[Atom, ...], int], ...]) -> Index:
    totals: dict[tuple[Atom, ...], int] = {}
    for atoms_, factor in parts:
        totals[atoms_] = totals.get(atoms_, 0) + factor
    return Index(tuple((atoms_, factor) for atoms_, factor in totals.items() if factor))


def _places(at: Whole | tuple[Whole, ...]) -> tuple[Index, ...]:
    return tuple(map(as_index, at if isinstance(at, tuple) else (at,)))


def _inside(atom: Atom) -> tuple[Index, ...]:
    if isinstance(atom, (Quotient, Remainder)):
        return (atom.of, atom.by)
    return atom.at if isinstance(atom, Read) else ()


def _rebuilt(atom: Atom, change: Callable[[Atom], Index | None]) -> Index:
    if isinstance(atom, Quotient):
        return rewritten(atom.of, change) // rewritten(atom.by, change)
    if isinstance(atom, Remainder):
        return rewritten(atom.of, change) % rewritten(atom.by, change)
    if isinstance(atom, Read):
        return Wholes(atom.array)[tuple(rewritten(part, change) for part in atom.at)]
    return Index((((atom,), 1),))
