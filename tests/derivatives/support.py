"""What several of these tests share: the core behind a package, nests, gradients under watch."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

steady = partial(
    settings,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def core_of(rg: Any) -> Any:
    """The core's module behind a copy of the package."""
    return sys.modules[f"{rg.__name__}.value"].core


def is_native(rg: Any) -> bool:
    return sys.modules[f"{rg.__name__}.value"].core_name == "native"


def close(got: Any, expected: Any, tolerance: float = 1e-12) -> bool:
    """Whether two numbers agree, relative to the larger of the expected one and 1."""
    return abs(float(got) - float(expected)) <= tolerance * max(1.0, abs(float(expected)))


# ---- nests -------------------------------------------------------------------------------------


class Point(NamedTuple):
    """A named tuple of two things."""

    x: Any
    y: Any


NUMBERS = st.floats(-2.0, 2.0).map(lambda x: round(x, 3) + 0.0)
ARRAYS = st.sampled_from([(2,), (3,), (1, 2), (2, 2), (0,), (2, 1, 2)]).flatmap(
    lambda shape: st.lists(NUMBERS, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))).map(
        lambda items: np.array(items, dtype=np.float64).reshape(shape)
    )
)
KEYS = st.one_of(st.sampled_from("abcdef"), st.integers(0, 5))
NESTS = st.recursive(
    st.one_of(NUMBERS, NUMBERS, ARRAYS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.builds(Point, inner, inner),
        st.dictionaries(KEYS, inner, max_size=3),
    ),
    max_leaves=6,
)


def flatten(nest: Any) -> list[Any]:
    """The items of a nest, in order."""
    if isinstance(nest, dict):
        return [item for part in nest.values() for item in flatten(part)]
    if isinstance(nest, (list, tuple)):
        return [item for part in nest for item in flatten(part)]
    if getattr(nest, "ndim", 0) > 0:  # an array, or the sequence that a function sees of one
        return [item for part in nest.reshape(-1) for item in flatten(part)]
    return [nest]


def mapped(function: Any, nest: Any) -> Any:
    """The nest with a function applied to each of its items."""
    if isinstance(nest, dict):
        return {key: mapped(function, part) for key, part in nest.items()}
    if isinstance(nest, Point):
        return Point(mapped(function, nest.x), mapped(function, nest.y))
    if isinstance(nest, (list, tuple)):
        return type(nest)(mapped(function, part) for part in nest)
    if isinstance(nest, np.ndarray):
        items = [mapped(function, part) for part in nest.reshape(-1)]
        return np.array(items, dtype=np.float64).reshape(nest.shape)
    return function(nest)


def skeleton(nest: Any) -> Any:
    """The shape of a nest alone: its containers, keys and array shapes."""
    if isinstance(nest, dict):
        return ("dict", [(key, skeleton(part)) for key, part in nest.items()])
    if isinstance(nest, (list, tuple)):
        return (type(nest).__name__, [skeleton(part) for part in nest])
    if isinstance(nest, np.ndarray):
        return ("array", nest.shape, str(nest.dtype))
    return type(nest).__name__


# ---- watching gradients ------------------------------------------------------------------------


class Watch:
    """Fills gradients with numbers of its own, and tells whether they are still there."""

    def __init__(self, *values: Any) -> None:
        self.watched: list[tuple[Any, float]] = []
        self.add(*values)

    def add(self, *values: Any) -> Any:
        """Watch more values; returns the last of them."""
        for value in values:
            value.grad = 1000.0 + len(self.watched)
            self.watched.append((value, value.grad))
        return values[-1] if values else None

    def changed(self) -> list[Any]:
        return [value for value, grad in self.watched if value.grad != grad]
