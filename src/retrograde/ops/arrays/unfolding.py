"""Unfolding: one number that a statement makes, as the list of amounts it is the sum of.

They come in the order in which the oracle adds them, so their sum has its bits. Of a gradient each
amount is a product: an upstream gradient times a partial.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..expr import Call, Expr
from ..index import Array, Ref, Statement, Term, map_refs, refs
from .bodies import FLOATS
from .notation import body_text
from .oracle import Arrays, Turn, amount_of, places, turns


@dataclass(frozen=True)
class Amount:
    """One addition: how much, in which turn of the loops, and the product it is.

    Each factor is its text, with the numbers of the turn for letters, and its number.
    """

    number: float
    turn: Mapping[str, int]
    factors: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        product = " * ".join(f"{text} ({number:g})" for text, number in self.factors)
        return f"{self.number:g} = {product}"


def unfold(
    statement: Statement,
    arrays: Arrays,
    at: tuple[int, ...],
    names: Mapping[str, str] | None = None,
) -> list[Amount]:
    """All that is added into one place; ``names`` are what texts call the arrays.

    >>> from ..array import ARRAYS
    >>> from .adjoint import adjoint
    >>> from .oracle import Plain
    >>> x, w = Plain((2, 2), [1.0, 2.0, 3.0, 4.0]), Plain((2, 1), [10.0, 1.0])
    >>> forward = ARRAYS["matmul"].state({"x": x.shape, "y": w.shape})
    >>> arrays = {"x": x, "y": w, "g": Plain((2, 1), [1.0, -1.0])}
    >>> for amount in unfold(adjoint(forward, "y", w.shape).statement, arrays, (1, 0)):
    ...     print(amount)
    2 = g[0, 0] (1) * x[0, 1] (2)
    -4 = g[1, 0] (-1) * x[1, 1] (4)
    """
    found = []
    for term in statement.terms:
        amount = amount_of(term, arrays)
        fixed = _fixed(term, at)
        parts = _factors(term.body)
        for turn in turns(term, arrays, fixed) if fixed is not None else ():
            if places(term.to.at, turn, arrays) == at:
                factors = tuple(_factor(part, turn, arrays, names or {}) for part in parts)
                found.append(Amount(amount(turn), turn, factors))
    return found if statement.how != "=" else found[-1:]


def total(amounts: list[Amount]) -> float:
    """Their sum, from 0 on in their order."""
    result = 0.0
    for amount in amounts:
        result += amount.number
    return result


def _fixed(term: Term, at: tuple[int, ...]) -> dict[str, int] | None:
    """The letters that a place on the left tells at once; None if no turn reaches it."""
    fixed: dict[str, int] = {}
    lengths = dict(term.loops)
    for index, place in zip(term.to.at, at, strict=True):
        only = index.letter
        if only is not None:
            if fixed.setdefault(only.name, place) != place or place >= lengths[only.name]:
                return None
    return fixed


def _factors(body: Expr) -> tuple[Expr, ...]:
    """The product a body is: its two factors, or itself."""
    return body.args if isinstance(body, Call) and body.name == "mul" else (body,)


def _factor(part: Expr, turn: Turn, arrays: Arrays, names: Mapping[str, str]) -> tuple[str, float]:
    found = refs(part)
    numbers = [arrays[ref.array][places(ref.at, turn, arrays)] for ref in found]

    def here(ref: Ref) -> Ref:
        return Array(names.get(ref.array, ref.array))[places(ref.at, turn, arrays)]

    return body_text(map_refs(part, here)), float(FLOATS.body(part, found)(*numbers))
