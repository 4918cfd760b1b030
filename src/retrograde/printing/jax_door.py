"""``fn.as_jax()``: a compiled function in JAX programs, a custom vjp over a pure callback.

Under ``jax.vmap`` a batch of numbers is one call over rows; where arguments have rows already, the
parts of the batch are called one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MissingPackageError, NotTwiceDifferentiable, RowsError
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

    def value_of(named: dict[str, Any]) -> Any:
        leaves = [jnp.asarray(leaf) for leaf in flattened(named)]
        rows = door.rows(named, leaves)
        made = jax.ShapeDtypeStruct(() if rows is None else (rows,), jnp.result_type(float))
        ranks = [leaf.ndim for leaf in leaves]

        def call(*given: Any) -> Any:
            batch = _Batch(given, ranks)
            if door.takes_rows(ranks):
                found = door.value(named, batch.rows())
                return np.asarray(found, dtype=made.dtype).reshape(batch.shape)
            return batch.stacked([made], lambda arrays: [door.value(named, arrays)])[0]

        return outside(call, made, *leaves)

    def outside(call: Callable[..., Any], made: Any, *leaves: Any) -> Any:
        """What a call of ours makes, for JAX to differentiate no further."""

        def computed(*given: Any) -> Any:
            return jax.pure_callback(call, made, *given, vmap_method="expand_dims")

        def differentiated(primals: Any, tangents: Any) -> Any:
            raise NotTwiceDifferentiable.door(function._name, "JAX")

        once = jax.custom_jvp(computed)
        once.defjvp(differentiated)
        return once(*leaves)

    def forward(named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return value_of(named), named

    def backward(named: dict[str, Any], upstream: Any) -> tuple[Any]:
        leaves = [jnp.asarray(leaf) for leaf in flattened(named)]
        found = iter(slopes_of(named, upstream, leaves))
        slopes = [next(found) if _floating(leaf) else _nothing(leaf) for leaf in leaves]
        return (rebuilt(named, iter(slopes)),)

    def slopes_of(named: dict[str, Any], upstream: Any, leaves: list[Any]) -> Any:
        needed = [_floating(leaf) for leaf in leaves]
        made = [
            jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)
            for leaf, asked in zip(leaves, needed)
            if asked
        ]
        ranks = [upstream.ndim, *[leaf.ndim for leaf in leaves]]

        def slopes(arrays: list[Any], apart: bool) -> list[Any]:
            found = door.gradients(named, arrays[1:], arrays[0], needed, apart)
            return [slope for slope, asked in zip(found, needed) if asked]

        def call(*given: Any) -> Any:
            batch = _Batch(given, ranks)
            if batch.shape and door.takes_rows(ranks):
                found = slopes(batch.rows(everywhere=True), True)
                return [np.asarray(s, m.dtype).reshape(batch.shape) for s, m in zip(found, made)]
            return batch.stacked(made, lambda arrays: slopes(arrays, False))

        return outside(call, made, upstream, *leaves)

    def _floating(leaf: Any) -> bool:
        return bool(jnp.issubdtype(leaf.dtype, jnp.floating))

    def _nothing(leaf: Any) -> Any:
        return np.zeros(leaf.shape, dtype=jax.dtypes.float0)

    computed = jax.custom_vjp(value_of)
    computed.defvjp(forward, backward)

    def called(*args: Any, **kwargs: Any) -> Any:
        named = dict(door.bound(args, kwargs))
        for name, nest in named.items():
            for leaf in flattened(nest):
                if jnp.issubdtype(jnp.result_type(leaf), jnp.complexfloating):
                    raise RowsError.kind(name, leaf)
        return computed(named)

    return called


class _Batch:
    """Leaves on the host with the axes of ``jax.vmap`` in front, of length 1 where they are the
    same for all of the batch."""

    def __init__(self, given: Sequence[Any], ranks: Sequence[int]) -> None:
        self.leaves = [_host(np.asarray(leaf)) for leaf in given]
        self.ranks = ranks
        fronts = [leaf.shape[: leaf.ndim - rank] for leaf, rank in zip(self.leaves, ranks)]
        self.shape = np.broadcast_shapes(*fronts)

    def rows(self, everywhere: bool = False) -> list[Any]:
        """Numbers as rows, a row for each of the batch: those that differ, or ``everywhere``."""
        if not self.shape:
            return self.leaves
        return [
            np.broadcast_to(leaf, self.shape).reshape(-1)
            if everywhere or leaf.size > 1
            else leaf.reshape(())
            for leaf in self.leaves
        ]

    def stacked(self, made: Sequence[Any], call: Callable[[list[Any]], Sequence[Any]]) -> list[Any]:
        """What a call makes of each of the batch, in arrays of what is ``made``."""
        found = [np.empty(self.shape + it.shape, it.dtype) for it in made]
        pairs = list(zip(self.leaves, self.ranks))
        spread = [
            np.broadcast_to(leaf, self.shape + leaf.shape[leaf.ndim - rank :])
            for leaf, rank in pairs
        ]
        for at in np.ndindex(self.shape):
            for to, it in zip(found, call([leaf[at] for leaf in spread])):
                to[at] = np.reshape(it, to[at].shape)
        return found


def _host(leaf: Any) -> Any:
    """A leaf as 64-bit floats; whole numbers stay such: they pick elements."""
    return leaf if leaf.dtype.kind in "biu" else leaf.astype(np.float64, copy=False)
