"""What one node of a graph with arrays hands to each of its inputs, each by itself.

A node of an array row is computed again over leaves of its own and pulled back alone, so the answer
comes from the engine's own kernels and has its bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._shared.numerics import np
from ..errors import StaleGraph
from ..tensor import Tensor
from ..value import Value, core
from .flat import Pass
from .lending import after_rule


def handed(node: Any, upstream: Any, operands: Sequence[Any] | None = None) -> list[Any]:
    """By input, what it receives of an upstream gradient: a number, an array, or None.

    ``operands`` are the numbers of the inputs, where those may have changed since.

    >>> import retrograde as rg
    >>> x = rg.Tensor([[1.0, 2.0]])
    >>> handed(x @ x.T, np.array([[3.0]]))
    [array([[3., 6.]]), array([[3.],
           [6.]])]
    """
    row = core.array_row(node)
    if row is None:
        return _of_value(node, float(upstream))
    if operands is None:
        changed = core.stale_input(node)
        if changed is not None:
            raise StaleGraph.input(node, changed)
        operands = [v.data for v in node.inputs]
    leaves = [_leaf(v, data) for v, data in zip(node.inputs, operands)]
    again = computed(node, leaves)
    takers = [leaf for leaf in leaves if leaf.requires_grad]
    seed: Any = float(upstream) if isinstance(again, Value) else np.asarray(upstream)
    found = iter(core.gradients((again,), (seed,), tuple(takers), 0) or [None] * len(takers))
    return [next(found) if leaf.requires_grad else None for leaf in leaves]


def computed(node: Any, operands: Sequence[Any]) -> Any:
    """What made a node of an array row, on other operands."""
    bound, wholes = core.array_row(node) or (None, {})
    assert bound is not None
    depth = core.swap_no_grad(0)
    try:
        given = {name: wholes[name] for name in bound.wholes}
        return core.array(bound, tuple(operands), given)
    finally:
        core.swap_no_grad(depth)


def contributions(graph: Pass, index: int, upstream: float) -> list[Any]:
    """The rule of a pass of values: what value ``index`` contributes to each input."""
    assert graph.values is not None
    value = graph.values[index]
    return handed(value, upstream) if core.array_row(value) else after_rule(value, upstream)


def _leaf(v: Any, data: Any) -> Any:
    kind = Tensor if isinstance(v, Tensor) else Value
    return kind(data, requires_grad=v.requires_grad)


def _of_value(node: Any, upstream: float) -> list[Any]:
    if node._rule is not None or core.recompute(node) is None:
        given: Sequence[float | None] = after_rule(node, upstream)
    else:
        given = [partial * upstream for partial in node.partials]
    return [g if v.requires_grad else None for g, v in zip(given, node.inputs)]
