"""What a reader must know before believing their eyes: that backward has not run yet, that
gradients on the graph are stale or partly reset, that numbers were changed or hooks were not run.
"""

from __future__ import annotations

from collections.abc import Sequence

from .._shared.numerics import np
from ..passes.flat import Pass
from .columns import Columns, Pulled

_NAMED = 3
"""Values a note names before it counts."""


def note_of(graph: Pass, columns: Columns, pulled: Pulled, stale: frozenset[int]) -> str | None:
    """The note of a story: None where the graph holds exactly what is told."""
    parts = [
        _graph(columns),
        _gradients(graph, columns, pulled),
        _changed(columns, stale),
        _hooked(graph, columns),
    ]
    return " ".join(part for part in parts if part) or None


def _some(columns: Columns, which: Sequence[int]) -> str:
    """``a, b and 4 more``."""
    names = [columns.names[i] for i in which[:_NAMED]]
    if len(which) > _NAMED:
        return f"{', '.join(names)} and {len(which) - _NAMED:,} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _graph(columns: Columns) -> str:
    """Whether there is anything to explain."""
    root = columns.names[-1]
    if columns.ops[-1] == "leaf":
        if columns.requires_grad[-1]:
            return f"{root} is a leaf: it was made from nothing, so its only step is its own seed."
        return (
            f"{root} has no history: it was made under no_grad(), detached, or computed from "
            "values that take no gradient. Compute it outside no_grad() to see its steps."
        )
    takers = zip(columns.ops, columns.requires_grad)
    if not any(op == "leaf" and takes for op, takes in takers):
        return (
            f"No leaf under {root} takes gradients: set requires_grad = True on at least one of "
            "them, and backward will have somewhere to go."
        )
    return ""


def _gradients(graph: Pass, columns: Columns, pulled: Pulled) -> str:
    """How the gradients on the graph compare with those of this pass."""
    if columns.ops[-1] == "leaf":
        return ""
    assert graph.grads is not None
    assert graph.values is not None
    held = [
        (i, grad)
        for i, (grad, value) in enumerate(zip(graph.grads.tolist(), graph.values))
        if value is not None
    ]
    taking = [(i, grad) for i, grad in held if columns.requires_grad[i]]
    if all(pulled.grads[i] == 0.0 for i, _ in taking):
        return ""
    if all(grad == 0.0 for i, grad in taking if columns.ops[i] != "leaf"):
        others = any(grad for i, grad in taking if columns.ops[i] == "leaf")
        return (
            "backward has not run from here: these gradients were worked out for this "
            f"explanation, and no .grad was changed. {_call(columns)} "
            + ("adds them to what the leaves hold from other passes." if others else "stores them.")
        )
    wrong = [i for i, grad in taking if not _same(grad, pulled.grads[i])]
    inner = [i for i in wrong if columns.ops[i] != "leaf"]
    if inner:
        return (
            f"The .grad of {_some(columns, inner)} is stale: another pass, or another seed, left "
            f"it there. Told here is the pass from {columns.names[-1]} alone; nothing was changed."
        )
    reset = [i for i in wrong if graph.grads[i] == 0.0]
    if reset:
        return (
            f"The .grad of {_some(columns, reset)} was reset after backward, the rest was not. "
            "Told here is the whole pass; nothing was changed."
        )
    if wrong:
        return (
            f"The .grad of {_some(columns, wrong)} holds more than this pass: gradients of leaves "
            "add up over passes until they are zeroed. Told here is this pass alone."
        )
    return ""


def _call(columns: Columns) -> str:
    name = columns.names[-1]
    own = columns.named[-1] and name.isidentifier()
    return f"{name}.backward()" if own else "Calling its backward()"


def _same(one: float, other: float) -> bool:
    return one == other or (one != one and other != other)


def _changed(columns: Columns, stale: frozenset[int]) -> str:
    if not stale:
        return ""
    return (
        f"The numbers under {_some(columns, sorted(stale))} were changed after the forward pass: "
        "results and slopes shown are those of the forward pass. Compute again to see the new ones."
    )


def _hooked(graph: Pass, columns: Columns) -> str:
    hooked = [] if graph.hooked is None else np.flatnonzero(graph.hooked).tolist()
    if not hooked:
        return ""
    return f"The hooks on {_some(columns, hooked)} were not run: gradients are shown without them."
