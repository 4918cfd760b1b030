"""A training step on tensors: documents of one length are rows of one array, without padding.

A document alone is replayed: its loss is recorded once for each length. Several at once are
computed as they come, since there are many numbers of documents of one length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..program import compile as compiled
from ..value import core
from .microgpt import GPT


class TensorStep:
    """The gradients of many documents at once, those of equal length side by side."""

    def __init__(self, model: GPT) -> None:
        self._model, self._parameters = model, model.parameters()
        self._most = model.shape.context + 1
        self._replayed = compiled(self._weighted)

    def _weighted(self, documents: np.ndarray[Any, Any], share: Any) -> Any:
        """The loss of documents, as far as it counts."""
        return self._model.loss_of(documents) * share

    def __call__(self, documents: Sequence[Sequence[int]]) -> float:
        """The mean loss; gradients are set, not added to."""
        core.zero(self._parameters)
        by_length: dict[int, list[Sequence[int]]] = {}
        for tokens in documents:
            seen = tokens[: self._most]
            by_length.setdefault(len(seen), []).append(seen)
        total = 0.0
        for group in by_length.values():
            share = len(group) / len(documents)
            if len(group) == 1:
                total += self._replayed.backward(np.array(group), share)
                continue
            loss = self._model.loss_of(group)
            loss.backward(share)
            total += loss.data * share
        return total
