"""Births in arrays: the first index where a NaN or an infinity appears, and what stood there.

Where a row works number by number, the numbers of its operands at that index tell the cause as they
do for values; elsewhere the operands are named with the first index at which they were not finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isinf, isnan
from typing import Any

from ..errors import describe
from ..ops import OPS
from .birth import (
    ACCUMULATION,
    BACKWARD,
    FORWARD,
    GIVEN,
    INF_MINUS_INF,
    INFINITE_PARTIAL,
    MADE,
    MOST_OPERANDS,
    NAN_PARTIAL,
    PASSED_ON,
    ZERO_TIMES_INFINITY,
    Birth,
    Operand,
    placed,
)
from .numerics import np

Index = tuple[int, ...]


def first_bad(array: Any, worst_first: bool = True) -> Index | None:
    """The first index of a NaN, or else of an infinity; None where all is finite.

    >>> first_bad(np.array([1.0, np.inf, np.nan]))
    (2,)
    """
    array = np.asarray(array)
    for test in (np.isnan, np.isinf) if worst_first else (lambda x: ~np.isfinite(x),):
        found = np.flatnonzero(test(array))
        if found.size:
            return tuple(int(n) for n in np.unravel_index(int(found[0]), array.shape))
    return None


def at(index: Index) -> str:
    """An index as one writes it; '' for a number."""
    return f"[{', '.join(map(str, index))}]" if index else ""


def forward(node: Any, roots: Sequence[Any] = ()) -> Birth:
    """The birth at a value or tensor that an array row made, or at a leaf."""
    index = first_bad(node.data)
    assert index is not None
    operands, more, bad = _operands(node, index)
    cause, cure = GIVEN if node.op == "leaf" else MADE, ""
    if node.op in OPS:
        cure = OPS[node.op].cure
    if bad and node.op != "leaf" and np.isnan(np.asarray(node.data)[index]):
        cause = PASSED_ON
        cure = "an operand was NaN before anomaly() saw it: look at where that one was made"
    birth = Birth(
        FORWARD, cause, node.op, node.label or None, float(np.asarray(node.data)[index]),
        operands, more, cure=cure, index=index,
    )  # fmt: skip
    return placed(birth, node, roots)


def backward(node: Any, number: int, before: Any, amount: Any, roots: Sequence[Any] = ()) -> Birth:
    """The birth where a node hands its input ``number`` an array on top of what it had."""
    target = node.inputs[number]
    amount = np.asarray(amount)
    earlier = np.zeros(amount.shape) if before is None else np.asarray(before)
    with np.errstate(all="ignore"):
        total = earlier + amount
    index = first_bad(total)
    assert index is not None
    operands, more, _ = _operands(node, index if np.shape(node.data) == total.shape else None)
    old = float(earlier[index])
    partial = _partial(node, number, index)
    cause, cure = _cause(partial, float(amount[index]), old), ""
    if partial is not None and not isfinite(partial):
        cure = OPS[node.op].cure
    made: float | None = None
    if cause == INFINITE_PARTIAL and np.shape(node.data) == total.shape:
        there = float(np.asarray(node.data)[index])
        made = None if isfinite(there) else there
    birth = Birth(
        BACKWARD, cause, node.op, node.label or None, float(total[index]), operands, more,
        describe(target), partial, None, old, made, cure=cure, index=index,
        amount=float(amount[index]),
    )  # fmt: skip
    return placed(birth, node, roots)


def _cause(partial: float | None, amount: float, before: float) -> str:
    if isfinite(amount):
        return ACCUMULATION
    if isinf(before) and isnan(before + amount):
        return INF_MINUS_INF
    if partial is None or isfinite(partial):
        return ""
    if isnan(partial):
        return NAN_PARTIAL
    return ZERO_TIMES_INFINITY if isnan(amount) else INFINITE_PARTIAL


def _partial(node: Any, number: int, index: Index) -> float | None:
    """The partial at an index, where the row is a map over arrays of one shape."""
    if node.op not in OPS or np.shape(node.inputs[number].data) != np.shape(node.data):
        return None
    numbers = [
        float(np.broadcast_to(v.data, np.shape(node.data))[index])
        for v in node.inputs
    ]  # fmt: skip
    row = OPS[node.op]
    if len(numbers) != row.arity:
        return None
    return row.evaluate_partials(*numbers, float(np.asarray(node.data)[index]))[number]


def _operands(node: Any, index: Index | None) -> tuple[tuple[Operand, ...], int, bool]:
    """The operands in words, how many more there are, and whether one holds a NaN."""
    found, bad = [], False
    inputs = node.inputs
    for v in inputs[:MOST_OPERANDS]:
        data = np.asarray(v.data)
        where = first_bad(data)
        if data.ndim == 0:
            found.append(Operand(describe(v), float(data)))
        elif node.op in OPS and index is not None:
            here = tuple(
                0 if n == 1 else i
                for n, i in zip(data.shape, index[len(index) - data.ndim :])
            )  # fmt: skip
            number = float(data[here])
            found.append(Operand(f"{describe(v)}, at {at(here)} = {number!r}", number))
        elif where is not None:
            number = float(data[where])
            found.append(Operand(f"{describe(v)}, at {at(where)} = {number!r}", number))
        else:
            found.append(Operand(f"{describe(v)}, all finite", 0.0))
        bad = bad or bool(np.isnan(data).any())
    return tuple(found), max(len(inputs) - MOST_OPERANDS, 0), bad
