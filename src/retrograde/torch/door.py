"""``fn.as_torch()``: a compiled function in PyTorch programs, an autograd function.

Tensors on the CPU of 64-bit floats are read where they lie, and with ``backend="cuda"`` those on
the GPU; others are converted and results go back to where they came from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..errors import NotTwiceDifferentiable
from ..printing.doors import Door, flattened

if TYPE_CHECKING:
    from ..program.calling import Replayable


def as_torch(function: Replayable, named: Sequence[str]) -> Callable[..., Any]:
    """The function on tensors, differentiable once."""
    door = Door.of(function, named)

    def called(*args: Any, **kwargs: Any) -> Any:
        arguments = dict(door.bound(args, kwargs))
        return _Called.apply(door, arguments, *flattened(arguments))  # type: ignore[no-untyped-call]

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
        found = found.to(device="cpu", dtype=torch.float64)
    else:
        found = found.cpu()
    array = found.numpy()
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
    def forward(ctx: Any, door: Door, named: dict[str, Any], *leaves: Any) -> Any:
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        ctx.save_for_backward(*tensors)
        ctx.door, ctx.named = door, named
        ctx.leaves = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        ctx.stays = _stay(door, leaves)
        device, dtype = _like(leaves)
        value = door.value(named, [_array(leaf, ctx.stays) for leaf in leaves])
        return _tensor(value).reshape(value.shape).to(device, dtype)

    @staticmethod
    def backward(ctx: Any, upstream: Any) -> Any:
        if torch.is_grad_enabled():  # the second derivative would silently lack this part
            raise NotTwiceDifferentiable.door(ctx.door.function._name)
        tensors = iter(ctx.saved_tensors)
        leaves = [next(tensors) if leaf is None else leaf for leaf in ctx.leaves]
        arrays = [_array(leaf, ctx.stays) for leaf in leaves]
        slopes = ctx.door.gradients(ctx.named, arrays, _array(upstream.contiguous(), ctx.stays))
        found = [
            _tensor(slope).reshape(leaf.shape).to(leaf)
            if isinstance(leaf, torch.Tensor) and needed
            else None
            for leaf, slope, needed in zip(leaves, slopes, ctx.needs_input_grad[2:])
        ]
        return None, None, *found
