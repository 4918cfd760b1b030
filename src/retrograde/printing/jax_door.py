"""``fn.as_jax()``: a compiled function in JAX programs, a custom vjp over a pure callback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MissingPackageError
from .doors import Door, flattened, rebuilt

if TYPE_CHECKING:
    from ..program.calling import Replayable


def as_jax(function: Replayable, named: Sequence[str]) -> Callable[..., Any]:
    """The function on JAX arrays, differentiable once, in and out of ``jax.jit``."""
    try:
        jax: Any = import_module("jax")
        jnp: Any = import_module("jax.numpy")
    except ImportError:
        raise MissingPackageError.extra("jax", "as_jax") from None
    door = Door.of(function, named)

    def host(leaves: Sequence[Any]) -> list[Any]:
        return [np.asarray(leaf, dtype=_host_type(np.asarray(leaf))) for leaf in leaves]

    def value_of(named: dict[str, Any]) -> Any:
        rows = door.rows(named)
        shape = () if rows is None else (rows,)
        dtype = jnp.result_type(float)
        made = jax.ShapeDtypeStruct(shape, dtype)

        def call(*leaves: Any) -> Any:
            return np.asarray(door.value(named, host(leaves)), dtype=dtype)

        return jax.pure_callback(call, made, *flattened(named), vmap_method="sequential")

    def forward(named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return value_of(named), named

    def backward(named: dict[str, Any], upstream: Any) -> tuple[Any]:
        leaves = [jnp.asarray(leaf) for leaf in flattened(named)]
        made = [jax.ShapeDtypeStruct(leaf.shape, _slope_type(leaf)) for leaf in leaves]

        def call(up: Any, *given: Any) -> Any:
            slopes = door.gradients(named, host(given), np.asarray(up, dtype=np.float64))
            return [np.asarray(s, dtype=m.dtype).reshape(m.shape) for s, m in zip(slopes, made)]

        found = jax.pure_callback(call, made, upstream, *leaves, vmap_method="sequential")
        slopes = [
            slope if jnp.issubdtype(leaf.dtype, jnp.floating) else _nothing(leaf)
            for leaf, slope in zip(leaves, found)
        ]
        return (rebuilt(named, iter(slopes)),)

    def _slope_type(leaf: Any) -> Any:
        floating = jnp.issubdtype(leaf.dtype, jnp.floating)
        return leaf.dtype if floating else jnp.result_type(float)

    def _nothing(leaf: Any) -> Any:
        return np.zeros(leaf.shape, dtype=jax.dtypes.float0)

    computed = jax.custom_vjp(value_of)
    computed.defvjp(forward, backward)

    def called(*args: Any, **kwargs: Any) -> Any:
        return computed(dict(door.bound(args, kwargs)))

    return called


def _host_type(leaf: Any) -> Any:
    """Whole numbers stay such: they pick elements."""
    return leaf.dtype if leaf.dtype.kind in "biu" else np.float64
