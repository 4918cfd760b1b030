"""The public Tensor: one shared face over the native core or the pure-Python one.

The class is the core's own; ``_tensors/`` puts NumPy's methods, operators and protocols on it as
soon as anything of that room is imported, which every room that makes tensors does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .value import Value, core

if TYPE_CHECKING:
    from ._native import Tensor as Tensor
else:
    Tensor = core.Tensor


def in_graph(thing: object) -> bool:
    """Whether a thing is a node of a graph: a value or a tensor."""
    return isinstance(thing, (Value, Tensor))


def number_of(thing: Any) -> Any:
    """The plain number or array of a thing, which may be one already."""
    return thing.data if in_graph(thing) else thing
