"""One number of a gradient as the products it is the sum of, read off the adjoint of each use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from .._shared import loops
from .._shared.bound import Bound, numeric
from .._shared.numerics import np
from ..ops.arrays.unfolding import unfold
from ..passes.handing import handed
from ..value import core
from .term_ledger import Term

Place = tuple[int, ...]


class _Floats:
    """An array whose numbers are floats, read by place."""

    def __init__(self, array: Any) -> None:
        self._array = np.asarray(array)

    def __getitem__(self, at: Place) -> float:
        return float(self._array[at])


class Made(NamedTuple):
    """A value that was made: the node, the numbers of its operands, and its own."""

    node: Any
    operands: Sequence[Any]
    result: Any


def products(
    made: Made, position: int, upstream: Any, at: Place, names: Mapping[int, str]
) -> list[Term]:
    """What a use hands to one number of its operand at a position, product by product.

    ``names`` are what nodes are called, by ``core.key``.
    """
    row = core.array_row(made.node)
    if row is None:
        return _of_value(made.node, position, float(upstream))
    bound, wholes = row
    if bound.statement is None:  # a custom op: its rule is a Python function
        return _by_masking(made, position, np.asarray(upstream), at)
    return _of_row(bound, wholes, made, position, upstream, at, names)


def _of_value(node: Any, position: int, upstream: float) -> list[Term]:
    amount = handed(node, upstream)[position]
    if amount is None:
        return []
    partial = float(node.partials[position]) if node._rule is None else amount / (upstream or 1.0)
    return [Term(node.label or node.op, partial, upstream, float(amount))]


def _of_row(
    bound: Bound,
    wholes: Mapping[str, Any],
    made: Made,
    position: int,
    upstream: Any,
    at: Place,
    names: Mapping[int, str],
) -> list[Term]:
    back = bound.adjoint(bound.operands[position])
    if back is None:
        return []
    node, result = made.node, np.asarray(made.result)
    operands = {name: np.asarray(x) for name, x in zip(bound.operands, made.operands)}
    above = bound.undone(numeric, np.asarray(upstream), result, operands)
    arrays = {**operands, **wholes, back.upstream: above, back.own: result}
    for name, other in back.others:
        arrays[name] = loops.run(other.statement, arrays)
    called = {name: names.get(core.key(v), name) for name, v in zip(bound.operands, node.inputs)}
    called |= {back.upstream: "upstream", back.own: names.get(core.key(node), "result")}
    floats = {name: _Whole(it) if name in wholes else _Floats(it) for name, it in arrays.items()}
    found = unfold(back.statement, floats, at, called)
    return [_product(each.factors, each.number) for each in found]


class _Whole(_Floats):
    """An array of whole numbers, read by place."""

    def __getitem__(self, at: Place) -> int:
        return int(self._array[at])


def _product(factors: tuple[tuple[str, float], ...], amount: float) -> Term:
    """The upstream gradient comes first, its partial behind it."""
    (said, upstream), *rest = [(text.removesuffix("[]"), number) for text, number in factors]
    if not rest:
        return Term(said, 1.0, upstream, amount)
    ((label, partial),) = rest
    return Term(label, partial, upstream, amount)


def _by_masking(made: Made, position: int, upstream: Any, at: Place) -> list[Term]:
    """Any rule at all: it is linear in the upstream gradient, so handing that on row by row takes
    a contribution apart by row."""
    rows = upstream.shape[0] if upstream.ndim else 1
    found = []
    for row in range(rows):
        masked = np.zeros_like(upstream)
        here = (row,) if upstream.ndim else ()
        masked[here] = upstream[here]
        amount = handed(made.node, masked, made.operands)[position]
        if amount is not None:
            number, op = float(np.asarray(amount)[at]), made.node.op
            label = f"{op}, row {row}" if prod(upstream.shape) > 1 else op
            found.append(Term(label, 1.0, number, number))
    return found
