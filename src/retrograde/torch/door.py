"""``fn.as_torch()``: a compiled function in PyTorch programs, an autograd function.

Tensors on the CPU of 64-bit floats are read where they lie, and with ``backend="cuda"`` those on
the GPU; others are converted and results go back to where they came from. The gradients are a
function of their own, so that PyTorch's transforms (``torch.func``) can take both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..errors import NotTwiceDifferentiable
from ..printing.doors import Door, flattened, rebuilt

if TYPE_CHECKING:
    from ..program.calling import Replayable


def as_torch(function: Replayable, named: Sequence[str]) -> Callable[..., Any]:
    """The function on tensors, differentiable once."""
    door = Door.of(function, named)

    def computed(*args: Any, **kwargs: Any) -> Any:
        arguments = door.bound(args, kwargs)
        outline = {name: rebuilt(nest, repeat(None)) for name, nest in arguments.items()}
        return _Called.apply(door, outline, *flattened(dict(arguments)))  # type: ignore[no-untyped-call]

    untraced: list[Callable[..., Any]] = []

    def called(*args: Any, **kwargs: Any) -> Any:
        if "torch._dynamo" not in sys.modules:  # it takes seconds to import
            return computed(*args, **kwargs)
        if not untraced:
            untraced.append(torch.compiler.disable(computed))  # type: ignore[no-untyped-call]
        return untraced[0](*args, **kwargs)

    return called


def _array(leaf: Any, stays: bool = False) -> Any:
    """A leaf as NumPy has it, without copying where that can be; where it ``stays`` on the GPU, as
    a tensor of 64-bit floats."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    found = leaf.detach()
    if stays and found.is_cuda and found.ndim:
        return found.double() if found.is_floating_point() else found
    if found.is_floating_point():
        found = found.to(dtype=torch.float64)
    array = found.numpy(force=True)
    return array if array.ndim else array.item()


def _like(leaves: Sequence[Any]) -> tuple[Any, Any]:
    """The device and the type that results have: those of the first tensor of floats."""
    for leaf in leaves:
        if isinstance(leaf, torch.Tensor) and leaf.is_floating_point():
            return leaf.device, leaf.dtype
    return torch.device("cpu"), torch.float64


def _stay(door: Door, leaves: Sequence[Any]) -> bool:
    """Whether rows stay on the GPU: the function runs there, and all of them are there."""
    if not door.on_device:
        return False
    rows = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.ndim]
    return all(leaf.is_cuda for leaf in rows)


def _tensor(result: Any) -> Any:
    """A result as a tensor, where it lies."""
    if isinstance(result, torch.Tensor):
        return result
    return torch.from_numpy(np.ascontiguousarray(result))


class _Called(torch.autograd.Function):
    """One call: the value forward, gradients with the upstream as weights backward."""

    @staticmethod
    def forward(door: Door, outline: dict[str, Any], *leaves: Any) -> Any:
        stays = _stay(door, leaves)
        device, dtype = _like(leaves)
        value = door.value(outline, [_array(leaf, stays) for leaf in leaves])
        return _tensor(value).reshape(value.shape).to(device, dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        door, outline, *leaves = inputs
        ctx.door, ctx.outline = door, outline
        ctx.save_for_backward(*[leaf for leaf in leaves if isinstance(leaf, torch.Tensor)])
        ctx.leaves = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]

    @staticmethod
    def backward(ctx: Any, upstream: Any) -> Any:
        tensors, needed = iter(ctx.saved_tensors), tuple(ctx.needs_input_grad[2:])
        leaves = [next(tensors) if leaf is None else leaf for leaf in ctx.leaves]
        slopes = _Slopes.apply(ctx.door, ctx.outline, needed, False, upstream, *leaves)  # type: ignore[no-untyped-call]
        found = iter(slopes)
        return None, None, *[next(found) if asked else None for asked in needed]

    @staticmethod
    def vmap(info: Any, dims: tuple[Any, ...], door: Door, outline: Any, *leaves: Any) -> Any:
        batch = _Batch(info, dims[2:], leaves)
        if door.takes_rows(batch.ranks):
            return _Called.apply(door, outline, *batch.rows()), 0  # type: ignore[no-untyped-call]
        each = [_Called.apply(door, outline, *batch.one(i)) for i in range(batch.size)]  # type: ignore[no-untyped-call]
        return torch.stack(each), 0


class _Slopes(torch.autograd.Function):
    """The gradients of the leaves that are ``needed``: added up over rows where a leaf is the same
    for all of them, or ``apart``, those of numbers of which every row has its own."""

    @staticmethod
    def forward(
        door: Door, outline: Any, needed: tuple[bool, ...], apart: bool, upstream: Any, *leaves: Any
    ) -> tuple[Any, ...]:
        stays = _stay(door, leaves)
        arrays = [_array(leaf, stays) for leaf in leaves]
        weights = _array(upstream.contiguous(), stays)
        slopes = door.gradients(outline, arrays, weights, needed, apart)
        return tuple(
            _tensor(slope).reshape(leaf.shape).to(leaf)
            for leaf, slope, asked in zip(leaves, slopes, needed)
            if asked
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.door = inputs[0]

    @staticmethod
    def backward(ctx: Any, *upstream: Any) -> Any:
        raise NotTwiceDifferentiable.door(ctx.door.function._name, "PyTorch")

    @staticmethod
    def vmap(
        info: Any, dims: tuple[Any, ...], door: Door, outline: Any, needed: Any, apart: bool,
        *given: Any,
    ) -> Any:  # fmt: skip
        batch = _Batch(info, dims[4:], given)
        if door.takes_rows(batch.ranks):
            found = _Slopes.apply(door, outline, needed, True, *batch.rows(everywhere=True))  # type: ignore[no-untyped-call]
        else:
            each = [
                _Slopes.apply(door, outline, needed, apart, *batch.one(i))  # type: ignore[no-untyped-call]
                for i in range(batch.size)
            ]
            found = tuple(torch.stack(parts) for parts in zip(*each))
        return found, (0,) * len(found)


class _Batch:
    """Leaves of which some have one more axis, that of ``torch.vmap``."""

    def __init__(self, info: Any, dims: Sequence[Any], leaves: Sequence[Any]) -> None:
        self.size, self.dims = info.batch_size, dims
        self.leaves = [
            leaf if dim is None else leaf.movedim(dim, 0) for leaf, dim in zip(leaves, dims)
        ]

    @property
    def ranks(self) -> list[int]:
        """How many axes the leaves have without that one."""
        pairs = zip(self.leaves, self.dims)
        return [np.ndim(leaf) - (dim is not None) for leaf, dim in pairs]

    def one(self, at: int) -> list[Any]:
        """The leaves of one of the batch."""
        pairs = zip(self.leaves, self.dims)
        return [leaf if dim is None else leaf[at] for leaf, dim in pairs]

    def rows(self, everywhere: bool = False) -> list[Any]:
        """Numbers as rows, a row for each of the batch: those that differ, or ``everywhere``."""
        found = []
        for leaf, dim in zip(self.leaves, self.dims):
            is_row = dim is not None or not everywhere or not isinstance(leaf, torch.Tensor)
            found.append(leaf if is_row else leaf.expand(self.size))
        return found
