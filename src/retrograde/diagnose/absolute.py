"""The absolute adjoint of a graph: the backward pass on the sizes of the partials.

It is the scale against which a gradient's rounding error is judged: a gradient that is a tiny part
of it is what cancellation has left, not a signal that has faded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .._shared.numerics import np
from ..passes.backward import pull
from ..passes.values import read
from ..value import Value

MOST = 2_000_000
"""Values past which it is not worked out: the graph is read for it, off the doctor's usual way."""


def absolute_adjoints(roots: Sequence[Value], parameters: Sequence[Value], nodes: int) -> Any:
    """The absolute adjoint of each parameter; zeros where the graph is too large."""
    found = np.zeros(len(parameters))
    if nodes > MOST:
        return found
    graph = read(roots)
    graph = replace(graph, ruled=np.zeros(len(graph), np.bool_))  # no rule is asked: partials only
    partials = np.nan_to_num(np.abs(graph.numbers))  # 0 times an infinite slope brings nothing
    sizes = pull(graph, dict.fromkeys(graph.of(roots), 1.0), partials).gradients
    for index, place in enumerate(graph.of(parameters)):
        found[index] = sizes[place] if place >= 0 else 0.0
    return found
