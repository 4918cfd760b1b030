"""``fn.as_jax()``: a compiled function in JAX programs, a custom vjp over a pure callback.

Under ``jax.vmap`` a batch of numbers is one call over rows; where arguments have rows already, the
parts of the batch are called one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    crossing = _Crossing(jax, jnp, door)

    def forward(named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return crossing.value(named), named

    computed = jax.custom_vjp(crossing.value)
    computed.defvjp(forward, crossing.gradients)

    def called(*args: Any, **kwargs: Any) -> Any:
        named = dict(door.bound(args, kwargs))
        for name, nest in named.items():
            for leaf in flattened(nest):
                if jnp.issubdtype(jnp.result_type(leaf), jnp.complexfloating):
                    raise RowsError.kind(name, leaf)
        return computed(named)

    return called


@dataclass(frozen=True)
class _Crossing:
    """The way from a program of JAX to a call of ours and back: each a callback on the host."""

    jax: Any
    jnp: Any
    door: Door

    def value(self, named: dict[str, Any]) -> Any:
        """What the function returns."""
        leaves = self._leaves(named)
        rows = self.door.rows(named, leaves)
        shape = () if rows is None else (rows,)
        made = self.jax.ShapeDtypeStruct(shape, self.jnp.result_type(float))
        ranks = [leaf.ndim for leaf in leaves]

        def call(*given: Any) -> Any:
            batch = _Batch(given, ranks)
            if self.door.takes_rows(ranks):
                found = self.door.value(named, batch.rows())
                return np.asarray(found, dtype=made.dtype).reshape(batch.shape)
            return batch.stacked([made], lambda arrays: [self.door.value(named, arrays)])[0]

        return self._outside(call, made, *leaves)

    def gradients(self, named: dict[str, Any], upstream: Any) -> tuple[Any]:
        """The gradients of that by all leaves, in the nests of the arguments."""
        leaves = self._leaves(named)
        found = iter(self._slopes(named, upstream, leaves))
        slopes = [
            next(found) if self._is_floating(leaf) else self._nothing(leaf) for leaf in leaves
        ]
        return (rebuilt(named, iter(slopes)),)

    def _slopes(self, named: dict[str, Any], upstream: Any, leaves: list[Any]) -> Any:
        """Those by the leaves that take gradients."""
        needed = [self._is_floating(leaf) for leaf in leaves]
        made = [
            self.jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)
            for leaf, asked in zip(leaves, needed)
            if asked
        ]
        ranks = [upstream.ndim, *[leaf.ndim for leaf in leaves]]

        def slopes(arrays: list[Any], apart: bool) -> list[Any]:
            found = self.door.gradients(named, arrays[1:], arrays[0], needed, apart)
            return [slope for slope, asked in zip(found, needed) if asked]

        def call(*given: Any) -> Any:
            batch = _Batch(given, ranks)
            if batch.shape and self.door.takes_rows(ranks):
                found = slopes(batch.rows(everywhere=True), True)
                return [np.asarray(s, m.dtype).reshape(batch.shape) for s, m in zip(found, made)]
            return batch.stacked(made, lambda arrays: slopes(arrays, False))

        return self._outside(call, made, upstream, *leaves)

    def _outside(self, call: Callable[..., Any], made: Any, *leaves: Any) -> Any:
        """What a call of ours makes, for JAX to differentiate no further."""

        def computed(*given: Any) -> Any:
            return self.jax.pure_callback(call, made, *given, vmap_method="expand_dims")

        def differentiated(primals: Any, tangents: Any) -> Any:
            raise NotTwiceDifferentiable.door(self.door.function._name, "JAX")

        once = self.jax.custom_jvp(computed)
        once.defjvp(differentiated)
        return once(*leaves)

    def _leaves(self, named: dict[str, Any]) -> list[Any]:
        return [self.jnp.asarray(leaf) for leaf in flattened(named)]

    def _is_floating(self, leaf: Any) -> bool:
        return bool(self.jnp.issubdtype(leaf.dtype, self.jnp.floating))

    def _nothing(self, leaf: Any) -> Any:
        return np.zeros(leaf.shape, dtype=self.jax.dtypes.float0)


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
