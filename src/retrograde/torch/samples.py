"""Small samples of tensors for heat maps: kept on the tensor's device, and read in one go when
the pass is over, so that a GPU is waited for once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import torch

from ..passes.pictures import MOST_PICTURED, shortened
from . import board
from .summaries import is_plain

Sample = torch.Tensor | board.Drawn
"""Rows of numbers, or those on their way."""


def sample(t: torch.Tensor, most: int = MOST_PICTURED) -> Sample | None:
    """Some rows and columns of a tensor as they are now; None for a single number."""
    t = t.detach()
    if t.numel() < 2 or not is_plain(t) or t.layout is not torch.strided or t.is_complex():
        return None
    extents = (1, len(t)) if t.dim() == 1 else (t.shape[0], t.numel() // t.shape[0])
    rows, columns = (max(1, -(-extent // most)) for extent in extents)
    kind = board.kind_of(t) if board.far(t) else None
    if kind is not None:
        down, across = -(-extents[0] // rows), -(-extents[1] // columns)
        if not t.is_contiguous() and t.dim() > 1:
            t, rows = t[::rows], 1  # what is copied then is little
        grid = extents[1], down, across, rows, columns
        return board.board_of(t).draw(t.contiguous(), kind, grid)
    return t.reshape(extents)[::rows, ::columns].to(torch.float64, copy=True)


class Pictures(Mapping[int, tuple[Any, Any]]):
    """By node, the pictures of its value and of its gradient: rows of short numbers, made when
    somebody looks at them."""

    def __init__(self, samples: Mapping[int, tuple[Any, Any]]) -> None:
        by_device: dict[Any, list[Any]] = {}
        for each in chain.from_iterable(samples.values()):
            if each is not None:
                where = each.device if isinstance(each, torch.Tensor) else board.Drawn
                by_device.setdefault(where, []).append(each)
        self._read = [
            (_numbers(kept), [(id(each), *each.shape) for each in kept])
            for kept in by_device.values()
        ]
        self._places = {index: (id(v), id(g)) for index, (v, g) in samples.items()}

    @cached_property
    def _drawn(self) -> dict[int, list[Any]]:
        drawn = {}
        for numbers, shapes in self._read:
            (short,) = shortened(numbers.reshape(1, -1))
            begin = 0
            for key, down, across in shapes:
                end = begin + down * across
                drawn[key] = [short[at : at + across] for at in range(begin, end, across)]
                begin = end
        return drawn

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        value, gradient = self._places[index]
        return self._drawn.get(value), self._drawn.get(gradient)

    def __iter__(self) -> Iterator[int]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _numbers(kept: list[Any]) -> Any:
    """The numbers of samples on one device, one after the other."""
    if isinstance(kept[0], board.Drawn):
        return np.concatenate([each.numbers() for each in kept])
    return torch.cat([each.reshape(-1) for each in kept]).cpu().numpy()
