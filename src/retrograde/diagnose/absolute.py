"""The absolute adjoint of a graph: the backward pass on the sizes of the partials.

It is the scale against which a gradient's rounding error is judged: a gradient that is a tiny part
of it is what cancellation has left, not a signal that has faded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..value import Value, core

MOST = 2_000_000
"""Values past which it is not worked out: this is Python, off the doctor's usual way."""


def absolute_adjoints(roots: Sequence[Value], parameters: Sequence[Value], nodes: int) -> Any:
    """The absolute adjoint of each parameter; zeros where the graph is too large."""
    found = np.zeros(len(parameters))
    if nodes > MOST:
        return found
    sizes: dict[int, float] = {}
    for root in roots:
        sizes[id(root)] = 1.0
    for value in reversed(core.order(tuple(roots))):
        upstream = sizes.get(id(value), 0.0)
        if value.op == "leaf" or not upstream:
            continue
        _, inputs, partials = core.parts(value)
        for v, partial in zip(inputs, partials):
            if v is not None:
                sizes[id(v)] = sizes.get(id(v), 0.0) + abs(partial) * upstream
    for index, parameter in enumerate(parameters):
        found[index] = sizes.get(id(parameter), 0.0)
    return found
