"""Collections whose rows are not there yet: Dask's arrays and frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._values.nests import flatten, is_array


def is_lazy(thing: Any) -> bool:
    """Whether a thing is one of Dask's collections."""
    return hasattr(type(thing), "__dask_graph__")


def any_lazy(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether one of the arguments is."""
    found, _ = flatten((tuple(args), dict(kwargs)), lambda it: is_array(it) or is_lazy(it))
    return any(is_lazy(leaf) or is_lazy(getattr(leaf, "lazy", None)) for leaf in found)
