"""Small questions that a watch asks of a pass: which ones to look at, what its loss is."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from .summaries import settled, summary


def doubling(number: int) -> bool:
    """Passes 1, 2, 4, 8, …

    >>> [n for n in range(1, 20) if doubling(n)]
    [1, 2, 4, 8, 16]
    """
    return number & (number - 1) == 0


@contextmanager
def no_collection() -> Iterator[None]:
    """Garbage waits: all that is made here lives on, and walking it again and again would take
    longer than the rest."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def number_of_root(root: torch.Tensor) -> float:
    """What a root adds to the loss: its number, or the sum of its numbers."""
    seen = settled(summary(root)) if root.numel() != 1 or root.is_complex() else None
    return seen.mean * seen.count if seen is not None else float(root.detach())


def without_gradients(seen: Any) -> Any:
    """A pass without its gradients that are not finite, which a scaler throws away."""
    finite = np.where(np.isfinite(seen.gradients), seen.gradients, 0.0)
    return replace(seen, gradients=finite, odd_gradients=0)
