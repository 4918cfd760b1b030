"""Small samples of tensors for heat maps: kept on the tensor's device, and read and rounded in one
go when the pass is over, so that a GPU is waited for once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from ..passes.pictures import MOST_PICTURED, shortened
from .summaries import is_plain

Pictures = Mapping[int, tuple[Any, Any]]
"""By node: the sample or picture of its value, and that of its gradient."""


def sample(t: torch.Tensor, most: int = MOST_PICTURED) -> torch.Tensor | None:
    """Some rows and columns of a tensor as they are now; None for a single number."""
    t = t.detach()
    if t.numel() < 2 or not is_plain(t) or t.layout is not torch.strided or t.is_complex():
        return None
    flat = t.reshape(1, -1) if t.dim() == 1 else t.reshape(t.shape[0], -1)
    rows, columns = (max(1, -(-extent // most)) for extent in flat.shape)
    return flat[::rows, ::columns].to(torch.float64, copy=True)


def pictures_of(samples: Pictures) -> dict[int, tuple[Any, Any]]:
    """What the samples show: rows of short numbers."""
    by_device: dict[torch.device, list[torch.Tensor]] = {}
    for pair in samples.values():
        for each in pair:
            if each is not None:
                by_device.setdefault(each.device, []).append(each)
    drawn: dict[int, Any] = {}
    for kept in by_device.values():
        numbers = torch.cat([each.reshape(-1) for each in kept]).cpu().numpy()
        (texts,) = shortened(numbers.reshape(1, -1))
        begin = 0
        for each in kept:
            wide, end = each.shape[1], begin + each.numel()
            drawn[id(each)] = [texts[at : at + wide] for at in range(begin, end, wide)]
            begin = end
    return {
        index: (drawn.get(id(value)), drawn.get(id(grad)))
        for index, (value, grad) in samples.items()
    }
