"""Plans: statements on given shapes as what the native core carries out.

A plan is made once for a row on shapes, from its statement alone, and takes arrays in order and
without gaps. It says which loops turn how, so the order of every sum follows from shapes; the
core only carries it out (``native/kernels/plans.c``).
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from ..expr import Call
from ..index import RESULT, Read, Ref, Shape, Statement, Term, atoms, indices
from .adjoint import written_once
from .contracting import Product, Way, ways
from .nests import ADD, SET, Nest, arranged, covers, nest, running
from .notation import summed

NOTHING, ZEROS, ONES = range(3)
"""What the result holds before the first step."""


@dataclass(frozen=True)
class Plan:
    """``arrays`` and ``wholes`` are the names of what it takes; ``words`` and ``numbers`` what the
    native core reads, as bytes."""

    arrays: tuple[str, ...]
    wholes: tuple[str, ...]
    shape: Shape
    words: bytes
    numbers: bytes


def plan(statement: Statement, shapes: Mapping[str, Shape]) -> Plan:
    """The plan of a statement; ``shapes`` are those of the arrays of numbers it reads.

    >>> from ..array import ARRAYS
    >>> made = plan(ARRAYS["matmul"].state({"x": (3, 4), "y": (4, 5)}), {"x": (3, 4), "y": (4, 5)})
    >>> made.arrays, made.shape
    (('x', 'y'), (3, 5))
    """
    known = {**_whole_shapes(statement), **shapes, RESULT: statement.shape}
    size = prod(statement.shape)
    start, parts = _parts(statement, known, size)
    arrays, wholes = statement.reads, statement.wholes
    scratch: dict[str, tuple[int, bool]] = {}
    for part in parts:
        for way in part:
            scratch.update(way.made)
    ids = {name: n for n, name in enumerate((RESULT, *arrays, *scratch))}
    places = {name: n for n, name in enumerate(wholes)}
    numbers: list[float] = []
    words = [size, start, len(arrays), *(prod(known[name]) for name in arrays)]
    words += [len(wholes), *(prod(known[name]) for name in wholes)]
    words += [len(scratch), *(word for n, zeros in scratch.values() for word in (n, int(zeros)))]
    words.append(len(parts))
    for part in parts:
        words.append(len(part))
        for way in part:
            words += [len(way.finite), *(ids[name] for name in way.finite)]
            words += [len(way.turns), *(length for _, length in way.turns), len(way.steps)]
            for step in way.steps:
                words += step.words(ids, places, numbers, way.turns)
    return Plan(
        arrays, wholes, statement.shape,
        array("q", words).tobytes(), array("d", numbers).tobytes(),
    )  # fmt: skip


def _whole_shapes(statement: Statement) -> dict[str, Shape]:
    """The shapes of arrays of whole numbers: rows walk them by plain letters."""
    found: dict[str, Shape] = {}
    for term in statement.terms:
        lengths = dict(term.loops)
        for atom in (atom for index in indices(term) for atom in atoms(index)):
            if isinstance(atom, Read):
                walked = [index.letter for index in atom.at]
                assert all(it or index.number == 0 for it, index in zip(walked, atom.at))
                found[atom.array] = tuple(lengths[it.name] if it else 1 for it in walked)
    return found


def _parts(
    statement: Statement, shapes: Mapping[str, Shape], size: int
) -> tuple[int, list[tuple[Way, ...]]]:
    """What the result begins with, and for each term how it is carried out."""
    start = ONES if statement.how == "*=" else ZEROS
    if size == 0:
        return NOTHING, []
    parts: list[tuple[Way, ...]] = []
    filled = 0  # places that are known to be written, each once
    for term in statement.terms:
        made = nest(term, statement.how, shapes)
        if made is None:
            continue
        part = _ways(term, made, shapes)
        if parts and statement.how == "+=":
            part = tuple(_with_mode(way, ADD) for way in part)
        elif not parts and covers(made, size) and _sets(part):
            part = tuple(_with_mode(way, SET) for way in part)
            start = NOTHING
        elif statement.how == "=" and not (made.guards or made.ordered):
            filled += prod(length for _, length in made.loops)
        parts.append(part)
    if statement.how == "=" and filled == size:
        start = NOTHING
    return start, parts


def _ways(term: Term, made: Nest, shapes: Mapping[str, Shape]) -> tuple[Way, ...]:
    if made.mode == ADD and is_product(term):
        sizes = {name: prod(shape) for name, shape in shapes.items()}
        found = ways(made, written_once(_kept(term)), sizes)
        if found:
            return found
    walk = running(made)
    return (Way((arranged(made) if walk is None else walk,)),)


def _sets(part: tuple[Way, ...]) -> bool:
    """Whether the last step of each way may write what it would else add to nothing."""
    return all(_may_set(way.steps[-1]) for way in part)


def _may_set(step: Nest | Product) -> bool:
    if isinstance(step, Product) or step.mode != ADD:
        return step.mode == SET
    return all(name in step.to.letters for name, _ in step.loops)


def _with_mode(way: Way, mode: int) -> Way:
    last = way.steps[-1]
    if last.mode not in (SET, ADD):
        return way
    return replace(way, steps=(*way.steps[:-1], replace(last, mode=mode)))


def is_product(term: Term) -> bool:
    """Whether a term adds up products of two references."""
    body = term.body
    return (
        isinstance(body, Call)
        and body.name == "mul"
        and all(isinstance(arg, Ref) for arg in body.args)
        and bool(summed(term))
    )


def _kept(term: Term) -> Term:
    """The term without the loops that are summed over."""
    over = summed(term)
    return replace(term, loops=tuple(loop for loop in term.loops if loop[0] not in over))
