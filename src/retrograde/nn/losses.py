"""Losses: how wrong predictions are, as one value; each is the mean over what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._values.functions import dot, logsumexp, mean
from .._values.functions import sum as sum_
from .._values.lists import each
from .._values.take import take
from ..errors import SettingError, ShapeError
from ..value import Value, belongs_to_caller


def _paired(loss: str, predictions: Any, targets: Any) -> tuple[list[Any], list[Any]]:
    """Predictions and targets as lists of equal length; single ones become lists of one."""
    pairs = [list(x) if _is_list(x) else [x] for x in (predictions, targets)]
    if len(pairs[0]) != len(pairs[1]):
        raise ShapeError.targets(loss, len(pairs[0]), len(pairs[1]))
    if not pairs[0]:
        raise ShapeError.empty(loss)
    return pairs[0], pairs[1]


def _flat(loss: str, predictions: Any, targets: Any) -> tuple[list[Any], list[Any]]:
    """The same for nests, level by level: both must have one shape (a list of one is its item)."""
    ours, theirs = _paired(loss, predictions, targets)
    while any(map(_is_list, ours)) or any(map(_is_list, theirs)):
        pairs = [_paired(loss, one, other) for one, other in zip(ours, theirs)]
        ours = [item for pair in pairs for item in pair[0]]
        theirs = [item for pair in pairs for item in pair[1]]
    return ours, theirs


def _is_list(thing: Any) -> bool:
    """Whether it has items; an array of no dimensions has a length by name only."""
    return (
        hasattr(thing, "__len__") and not isinstance(thing, str) and getattr(thing, "ndim", 1) > 0
    )


def mse(predictions: Any, targets: Any) -> Any:
    """The mean of the squared differences, of lists or of nests of one shape.

    >>> mse([1.0, 2.0], [1.0, 4.0])
    2.0
    >>> mse([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 8.0]])
    4.0
    """
    predictions, targets = _flat("mse", predictions, targets)
    errors = each("sub", predictions, targets)
    return dot(errors, errors) / len(errors)


def cross_entropy(logits: Sequence[Any], target: Any) -> Any:
    """``-log(softmax(logits)[target])``, without overflow; lists of both give the mean.

    >>> round(cross_entropy([0.0, 0.0], 1), 6)
    0.693147
    >>> round(cross_entropy([[0.0, 0.0], [9.0, 0.0]], [1, 0]), 6)
    0.346635
    """
    if not isinstance(target, (list, tuple)) and not getattr(target, "ndim", 0):
        return logsumexp(logits) - take(logits, target)
    rows, targets = _paired("cross_entropy", logits, target)
    return mean([logsumexp(row) - take(row, one) for row, one in zip(rows, targets)])


def hinge(scores: Any, targets: Any) -> Any:
    """The mean of ``relu(1 - target · score)``: zero where each score clears its side by one.

    Targets are -1 and 1.

    >>> hinge([2.0, 0.5], [1, -1])
    0.75
    """
    scores, targets = _flat("hinge", scores, targets)
    for target in targets:
        if not isinstance(target, Value) and target not in (-1, 1):
            raise SettingError.of("a target of hinge", target, "-1 or 1")
    margins = each("sub", 1.0, each("mul", scores, targets))
    return sum_(each("relu", margins)) / len(margins)


belongs_to_caller(mse, cross_entropy, hinge)
