"""The public Tensor: one shared face over the native core or the pure-Python one.

The class is the core's own; ``_tensors/`` puts NumPy's methods, operators and protocols on it.
"""

from __future__ import annotations

from typing import Any, TypeGuard

from .value import Value, core


class _Absent:
    """Stands where a core has no tensors yet."""

    def __init__(self, *given: Any, **named: Any) -> None:
        raise NotImplementedError("this core has no tensors yet")


Tensor: Any = getattr(core, "Tensor", _Absent)


def in_graph(thing: object) -> TypeGuard[Any]:
    """Whether a thing is a node of a graph: a value or a tensor."""
    return isinstance(thing, (Value, Tensor))


def number_of(thing: Any) -> Any:
    """The plain number or array of a thing, which may be one already."""
    return thing.data if in_graph(thing) else thing
