"""What kind of loop nest a statement is: what a printer of kernels has to know about it."""

from __future__ import annotations

from dataclasses import dataclass

from ..expr import Call, Expr
from ..index import Ref, Statement, Term, letters_of
from .adjoint import written_once
from .notation import summed


@dataclass(frozen=True)
class Nest:
    """The loop nest of one term.

    ``kind`` is ``map`` (each place from the same place), ``copy`` (a map without arithmetic),
    ``gather`` (reads picked or shifted places), ``scatter`` (writes them), ``reduce`` (adds or
    multiplies over letters), or ``contract`` (adds up products). ``outer`` letters walk the result,
    ``inner`` are added up. ``steps`` are, by array, how far one turn of each letter moves along
    each axis; None where an index is no sum of letters.
    """

    kind: str
    outer: tuple[str, ...]
    inner: tuple[str, ...]
    guarded: bool
    steps: tuple[tuple[str, tuple[tuple[tuple[str, int], ...] | None, ...]], ...]


def nests(statement: Statement) -> tuple[Nest, ...]:
    """The loop nests of a statement.

    >>> from ..array import ARRAYS
    >>> [nest.kind for nest in nests(ARRAYS["matmul"].state({"x": (3, 4), "y": (4, 5)}))]
    ['contract']
    >>> [nest.kind for nest in nests(ARRAYS["take"].state({"x": (3, 4), "n": (2,)}))]
    ['gather']
    """
    return tuple(_nest(term, statement.how) for term in statement.terms)


def _nest(term: Term, how: str) -> Nest:
    inner = summed(term)
    outer = tuple(dict.fromkeys(n for index in term.to.at for n in letters_of(index)))
    arrays = (term.to, *term.refs)
    steps = tuple((ref.array, tuple(_step(ref, n) for n in range(len(ref.at)))) for ref in arrays)
    return Nest(_kind(term, how, inner), outer, inner, bool(term.where), steps)


def _kind(term: Term, how: str, inner: tuple[str, ...]) -> str:
    if not _plain(term.to) or not written_once(_without(term, inner)):
        return "scatter"
    if inner and how == "+=" and len(_product(term.body)) > 1:
        return "contract"
    if inner or how == "*=":
        return "reduce"
    if not all(map(_plain, term.refs)):
        return "gather"
    return "copy" if isinstance(term.body, Ref) else "map"


def _without(term: Term, names: tuple[str, ...]) -> Term:
    loops = tuple(loop for loop in term.loops if loop[0] not in names)
    return Term(term.to, term.body, term.where, loops)


def _plain(ref: Ref) -> bool:
    return all(index.letter is not None or index.number is not None for index in ref.at)


def _product(body: Expr) -> list[Ref]:
    """The references a body is the product of; none if it is no such product."""
    if isinstance(body, Ref):
        return [body]
    if isinstance(body, Call) and body.name == "mul":
        parts = [_product(arg) for arg in body.args]
        return [ref for part in parts for ref in part] if all(parts) else []
    return []


def _step(ref: Ref, axis: int) -> tuple[tuple[str, int], ...] | None:
    found = ref.at[axis].affine
    return tuple(found[0].items()) if found is not None else None
