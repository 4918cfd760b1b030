"""What one node of a graph with arrays hands to each of its inputs, each by itself.

A node of an array row is computed again over leaves of its own and pulled back alone, so the answer
comes from the engine's own kernels and has its bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import StaleGraph
from ..tensor import Tensor
from ..value import Value, core
from .flat import Pass
from .lending import after_rule


def handed(node: Any, upstream: Any) -> list[Any]:
    """By input, what it receives of an upstream gradient: a number, an array, or None.

    >>> import retrograde as rg
    >>> x = rg.Tensor([[1.0, 2.0]])
    >>> handed(x @ x.T, np.array([[3.0]]))
    [array([[3., 6.]]), array([[3.],
           [6.]])]
    """
    row = core.array_row(node)
    if row is None:
        return _of_value(node, float(upstream))
    changed = core.stale_input(node)
    if changed is not None:
        raise StaleGraph.input(node, changed)
    bound, wholes = row
    depth = core.swap_no_grad(0)
    try:
        operands = [_leaf(v) for v in node.inputs]
        again = core.array(bound, tuple(operands), {name: wholes[name] for name in bound.wholes})
    finally:
        core.swap_no_grad(depth)
    takers = [leaf for leaf in operands if leaf.requires_grad]
    seed: Any = float(upstream) if isinstance(again, Value) else np.asarray(upstream)
    found = iter(core.gradients((again,), (seed,), tuple(takers), 0) or [None] * len(takers))
    return [next(found) if leaf.requires_grad else None for leaf in operands]


def contributions(graph: Pass, index: int, upstream: float) -> list[Any]:
    """The rule of a pass of values: what value ``index`` contributes to each input."""
    assert graph.values is not None
    value = graph.values[index]
    return handed(value, upstream) if core.array_row(value) else after_rule(value, upstream)


def _leaf(v: Any) -> Any:
    if isinstance(v, Tensor):
        return Tensor(v.data, requires_grad=v.requires_grad)
    return Value(v.data, requires_grad=v.requires_grad)


def _of_value(node: Any, upstream: float) -> list[Any]:
    if node._rule is not None or core.recompute(node) is None:
        given: Sequence[float | None] = after_rule(node, upstream)
    else:
        given = [partial * upstream for partial in node.partials]
    return [g if v.requires_grad else None for g, v in zip(given, node.inputs)]
