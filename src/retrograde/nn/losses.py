"""Losses: how wrong predictions are, as one value; each is the mean over what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._shared.numerics import np
from .._tensors.doing import operand
from .._tensors.functions import cross_entropy as cross_entropy_of_tensors
from .._values.functions import dot, logsumexp, mean
from .._values.functions import sum as sum_
from .._values.lists import each
from .._values.take import take
from ..errors import SettingError, ShapeError
from ..tensor import Tensor
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


def _same_shape(loss: str, predictions: Any, targets: Any) -> tuple[Any, Any]:
    """Tensors and arrays of one shape: nothing is stretched, as a column minus a row would be."""
    ours, theirs = operand(predictions, loss), operand(targets, loss)
    shapes = [getattr(thing, "shape", ()) for thing in (ours, theirs)]
    if shapes[0] != shapes[1]:
        raise ShapeError.target_shapes(loss, *shapes)
    return ours, theirs


def mse(predictions: Any, targets: Any) -> Any:
    """The mean of the squared differences, of lists or of nests of one shape.

    >>> mse([1.0, 2.0], [1.0, 4.0])
    2.0
    >>> mse([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 8.0]])
    4.0
    """
    if isinstance(predictions, Tensor) or isinstance(targets, Tensor):
        ours, theirs = _same_shape("mse", predictions, targets)
        return (ours - theirs).square().mean()
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
    if isinstance(logits, Tensor):
        return cross_entropy_of_tensors(logits, target)
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
    if isinstance(scores, Tensor):
        scores, targets = _same_shape("hinge", scores, targets)
        wrong = np.abs(targets) != 1.0
        if wrong.any():
            raise SettingError.of("a target of hinge", float(targets[wrong][0]), "-1 or 1")
        return (1.0 - scores * targets).relu().mean()
    scores, targets = _flat("hinge", scores, targets)
    for target in targets:
        if not isinstance(target, Value) and target not in (-1, 1):
            raise SettingError.of("a target of hinge", target, "-1 or 1")
    margins = each("sub", 1.0, each("mul", scores, targets))
    return sum_(each("relu", margins)) / len(margins)


belongs_to_caller(mse, cross_entropy, hinge)
