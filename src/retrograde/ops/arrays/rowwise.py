"""Rows of data by the index law: a statement over many rows is the same with one letter in front.

What differs from row to row gets the letter, what is the same for all does not; the gradient of
the latter is then summed over the rows by the one adjoint rule, with nothing said about it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..index import (
    RESULT,
    Atom,
    Chosen,
    Index,
    Read,
    Statement,
    Term,
    Wholes,
    letter,
    letters_of,
    map_term,
    rewritten,
)

ROW = "row"


def over_rows(statement: Statement, varying: Collection[str], count: int) -> Statement:
    """A statement carried out for many rows at once; ``varying`` are the arrays that differ.

    >>> from ..array import ARRAYS
    >>> from .notation import text
    >>> matmul = ARRAYS["matmul"].state({"x": (3, 4), "y": (4, 5)})
    >>> print(text(over_rows(matmul, ["x"], 8)))
    z[row, i, j] += x[row, i, k] * y[k, j]
    """
    looked = {name for it in statement.chosen if it.array in varying for name in it.names}
    differ = {*varying, *looked, RESULT}
    name = _unused(statement)

    def places(array: str, at: tuple[Index, ...]) -> tuple[Index, ...]:
        own = tuple(map(inner, at))
        return (letter(name), *own) if array in differ else own

    def inner(index: Index) -> Index:
        def change(atom: Atom) -> Index | None:
            if isinstance(atom, Read):
                return Wholes(atom.array)[places(atom.array, atom.at)]
            return None

        return rewritten(index, change)

    terms = tuple(
        replace(map_term(term, places, inner), loops=((name, count), *term.loops))
        for term in statement.terms
    )
    chosen = tuple(
        Chosen(it.names, it.by, it.array, tuple(axis + 1 for axis in it.axes))
        if it.array in varying
        else it
        for it in statement.chosen
    )
    return Statement(terms, (count, *statement.shape), statement.how, chosen)


def _unused(statement: Statement) -> str:
    """The letter of the rows; another one where a statement is over rows already."""

    def taken(term: Term) -> set[str]:
        return {name for name, _ in term.loops} | {n for i in term.to.at for n in letters_of(i)}

    names = {name for term in statement.terms for name in taken(term)}
    number, name = 1, ROW
    while name in names:
        number += 1
        name = f"{ROW}{number}"
    return name
