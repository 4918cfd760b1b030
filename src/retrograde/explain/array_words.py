"""The sentence that says how a row of the array law hands its gradient back, with the names that
the operands have in the program.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .._shared.bound import Bound
from ..ops import OPS, WORDS
from ..ops.arrays.words import sentences
from ..ops.index import Shape
from ..value import core

Known = dict[tuple[int, tuple[str, ...]], tuple[object, list[str]]]
"""What was said of a bound row before, by its identity and by what takes gradients."""


def rule_of(node: Any, names: Mapping[int, str], known: Known | None = None) -> str | None:
    """How a node of an array row hands back; None for any other. ``names`` are by ``core.key``.

    >>> import retrograde as rg
    >>> X, W = rg.Tensor([[1.0, 2.0]]), rg.Tensor([[3.0], [4.0]])
    >>> rule_of(X @ W, {core.key(X): "X", core.key(W): "W"})
    'X[i, k] receives the upstream gradient at [i, j] times W[k, j], added up over j; W[k, j] \
receives the upstream gradient at [i, j] times X[i, k], added up over i'
    """
    row = core.array_row(node)
    if row is None or row[0].statement is None:
        return None
    bound = row[0]
    if bound.scalar is not None:
        spread = any(shape != bound.shape for shape in bound.shapes if shape)
        more = ", and adds it up where an operand was spread" if spread else ""
        return f"element by element, {bound.scalar} {WORDS[OPS[bound.scalar].kind]}{more}"
    if bound.implicit is not None:
        return f"{bound.name} solves the transposed system for the upstream gradient"
    called = {name: names.get(core.key(v), name) for name, v in zip(bound.operands, node.inputs)}
    takers = [
        (name, shape)
        for name, shape, v in zip(bound.operands, bound.shapes, node.inputs)
        if v.requires_grad and name in bound.statement.reads
    ]
    said = _said(bound, takers, {} if known is None else known)
    spelled = re.compile(rf"\b({'|'.join(map(re.escape, called))})(?=\[|\s|$)")
    told = [spelled.sub(lambda found: called[found[1]], line) for line in said]
    if bound.any_bits:
        told.append("NumPy's matrix product adds them up, in an order of its own (any_bits)")
    return "; ".join(told)


def _said(bound: Bound, takers: list[tuple[str, Shape]], known: Known) -> list[str]:
    key = id(bound), tuple(name for name, _ in takers)
    if key not in known:
        lines = [one for name, shape in takers for one in sentences(bound.statement, name, shape)]
        known[key] = bound, lines  # the row with it, so that no other takes its identity
    return known[key][1]
