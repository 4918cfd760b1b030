"""Sums of products by NumPy's matrix product, which adds in an order of its own: what rows of many
numbers are carried out by inside ``any_bits()``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from ..ops.expr import Call
from ..ops.index import Ref, Statement
from .numerics import np

if TYPE_CHECKING:
    from .loops import Arrays, Numbers

LARGE = 1 << 24
"""From so many multiplications on (256 cubed) NumPy's product is worth the way to it."""


def is_large_product(statement: Statement) -> bool:
    """Whether a statement is one sum of products of two arrays, both walked along plain loops, and
    has so many of them that it matters who multiplies.

    >>> from ..ops.array import ARRAYS
    >>> for n in (16, 256):
    ...     print(is_large_product(ARRAYS["matmul"].state({"x": (n, n), "y": (n, n)})))
    False
    True
    """
    if statement.how != "+=" or statement.chosen or len(statement.terms) != 1:
        return False
    term = statement.terms[0]
    if term.where or prod(length for _, length in term.loops) < LARGE:
        return False
    factors = _factors(statement)
    walks = [] if factors is None else [_walk(ref) for ref in (*factors, term.to)]
    if len(walks) != 3 or None in walks:
        return False
    left, right, to = (set(walk or ()) for walk in walks)
    return to <= left | right and not (left ^ right) - to


def product(statement: Statement, arrays: Arrays) -> Numbers:
    """What a large product makes of arrays.

    >>> from ..ops.array import ARRAYS
    >>> x, y = np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])
    >>> product(ARRAYS["matmul"].state({"x": x.shape, "y": y.shape}), {"x": x, "y": y})
    array([[11.]])
    """
    (term,) = statement.terms
    factors = _factors(statement)
    assert factors is not None
    lengths = dict(term.loops)
    left, right, to = (_walk(ref) or [] for ref in (*factors, term.to))
    both = [name for name in left if name in right]
    batch, over = [n for n in both if n in to], [n for n in both if n not in to]
    rows, columns = [n for n in left if n not in both], [n for n in right if n not in both]

    def matrices(ref: Ref, walk: Sequence[str], *groups: Sequence[str]) -> Any:
        turned = np.transpose(arrays[ref.array], [walk.index(n) for g in groups for n in g])
        sizes = [prod(lengths[n] for n in group) for group in groups]
        return turned.reshape(sizes if batch else sizes[1:])

    with np.errstate(all="ignore"):
        made = matrices(factors[0], left, batch, rows, over) @ matrices(
            factors[1], right, batch, over, columns
        )
    order = [*batch, *rows, *columns]
    made = made.reshape([lengths[name] for name in order])
    return np.asarray(np.transpose(made, [order.index(name) for name in to]), order="C")


def _factors(statement: Statement) -> tuple[Ref, Ref] | None:
    body = statement.terms[0].body
    if isinstance(body, Call) and body.name == "mul":
        left, right = body.args
        if isinstance(left, Ref) and isinstance(right, Ref):
            return left, right
    return None


def _walk(ref: Ref) -> list[str] | None:
    """The loops along the axes of a reference; None where a place is anything but one loop."""
    letters = [index.letter for index in ref.at]
    names = [it.name for it in letters if it is not None]
    return names if len(set(names)) == len(letters) else None
