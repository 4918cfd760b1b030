"""A training step by replay: documents of one length are rows of one compiled function.

Tokens are data of a row, so one recording serves every document of its length, without padding; the
parameters are captured once. The first document of each length is slow: it is recorded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..program import compile as compiled
from ..value import core
from .microgpt import GPT


class CompiledStep:
    """The gradients of many documents at once, those of equal length side by side."""

    def __init__(self, model: GPT) -> None:
        self._parameters = model.parameters()
        self._most = model.shape.context + 1
        self._loss = compiled(model.loss)

    def __call__(self, documents: Sequence[Sequence[int]]) -> float:
        """The mean loss; gradients are set, not added to."""
        core.zero(self._parameters)
        by_length: dict[int, list[Sequence[int]]] = {}
        for tokens in documents:
            seen = tokens[: self._most]
            by_length.setdefault(len(seen), []).append(seen)
        total, share = 0.0, 1.0 / len(documents)
        for group in by_length.values():
            rows = np.array(group, dtype=np.int64)
            total += self._loss.backward(rows, weights=np.full(len(rows), share))
        return total / len(documents)
