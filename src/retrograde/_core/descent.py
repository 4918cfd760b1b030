"""The steps of optimizers in plain Python: what ``native/optim.c`` does, bit for bit.

Each takes leaves, arrays of state with one item a number of theirs, and settings; a leaf that takes
no gradient is passed over. ``steps`` counts how often each number was moved. All numbers are
gathered into one array, moved, and handed back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isnan, sqrt
from typing import Any

from .._shared.lending import refuse_lent
from .._shared.numerics import np
from ..errors import NotAValueError
from .arrays import TensorNode
from .recording import refuse
from .reference import Node
from .tensor import Tensor, write_tensor

Array = Any
Move = Callable[[Array, Array, Array], Array]
"""From places, numbers and gradients to new numbers."""


def _checked(leaves: Sequence[Any], refused: str = "grad") -> list[Node]:
    """The nodes; ``refused`` is what a recording would miss if it did this to one of its own."""
    for index, leaf in enumerate(leaves):
        if not isinstance(leaf, (Node, Tensor)):
            raise NotAValueError.at("an optimizer", index, leaf)
    nodes = [leaf._node if isinstance(leaf, Tensor) else leaf for leaf in leaves]
    refuse(nodes, refused)
    return nodes


def _gradients(nodes: Sequence[Node]) -> Array:
    """The gradients of nodes, one number after the other."""
    return np.concatenate([np.zeros(0), *(np.ravel(_gradient(node)) for node in nodes)])


def _gradient(node: Node) -> Any:
    if isinstance(node, TensorNode) and node._grad is None:
        return np.zeros(node._shape)
    return node._grad


def _moved(leaves: Sequence[Any], move: Move) -> None:
    """Move the leaves that take gradients."""
    nodes = _checked(leaves, "assignment")
    sizes = [np.size(node._data) for node in nodes]
    takes = np.repeat([node._requires_grad for node in nodes], sizes).astype(bool)
    numbers = np.concatenate([np.zeros(0), *(np.ravel(node._data) for node in nodes)])
    places = np.flatnonzero(takes)
    with np.errstate(all="ignore"):
        numbers[places] = move(places, numbers[places], _gradients(nodes)[places])
    ends = np.cumsum(sizes).tolist()
    for leaf, node, size, end in zip(leaves, nodes, sizes, ends):
        if not node._requires_grad:
            continue
        if isinstance(leaf, Tensor):
            write_tensor(leaf, numbers[end - size : end].reshape(leaf.shape))
        else:
            node._data = float(numbers[end - 1])


def _powers(number: float, exponents: Array) -> Array:
    """A number to several powers, each by Python's own, so that all agree on its bits."""
    known, places = np.unique(exponents, return_inverse=True)
    return np.array([number ** float(exponent) for exponent in known])[places]


def sgd(
    leaves: Sequence[Any],
    steps: Any,
    velocity: Any,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: float,
    /,
) -> None:
    """One step of stochastic gradient descent over leaves."""

    def move(at: Array, data: Array, gradient: Array) -> Array:
        if weight_decay != 0.0:
            gradient = gradient + weight_decay * data
        if momentum != 0.0:
            kept = momentum * velocity[at] + (1.0 - dampening) * gradient
            velocity[at] = now = np.where(steps[at] == 0.0, gradient, kept)
            gradient = gradient + momentum * now if nesterov else now
        steps[at] += 1.0
        return data - lr * gradient

    _moved(leaves, move)


def adam(
    leaves: Sequence[Any],
    steps: Any,
    mean: Any,
    square: Any,
    lr: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
    decoupled: float,
    /,
) -> None:
    """One step of Adam or AdamW over leaves."""

    def move(at: Array, data: Array, gradient: Array) -> Array:
        steps[at] += 1.0
        size = lr / (1.0 - _powers(beta1, steps[at]))
        root = np.sqrt(1.0 - _powers(beta2, steps[at]))
        if weight_decay != 0.0 and decoupled:
            data = data * (1.0 - lr * weight_decay)
        elif weight_decay != 0.0:
            gradient = gradient + weight_decay * data
        mean[at] = m = mean[at] + (gradient - mean[at]) * (1.0 - beta1)
        square[at] = s = beta2 * square[at] + (1.0 - beta2) * gradient * gradient
        return data - size * m / (np.sqrt(s) / root + epsilon)

    _moved(leaves, move)


def rmsprop(
    leaves: Sequence[Any],
    steps: Any,
    square: Any,
    mean: Any,
    velocity: Any,
    lr: float,
    alpha: float,
    epsilon: float,
    weight_decay: float,
    momentum: float,
    centered: float,
    /,
) -> None:
    """One step of RMSprop over leaves."""

    def move(at: Array, data: Array, gradient: Array) -> Array:
        if weight_decay != 0.0:
            gradient = gradient + weight_decay * data
        square[at] = spread = alpha * square[at] + (1.0 - alpha) * gradient * gradient
        if centered:
            mean[at] = m = mean[at] + (gradient - mean[at]) * (1.0 - alpha)
            spread = spread - m * m
        root = np.sqrt(spread) + epsilon
        step = lr * gradient / root
        if momentum != 0.0:
            velocity[at] = now = momentum * velocity[at] + gradient / root
            step = lr * now
        steps[at] += 1.0
        return data - step

    _moved(leaves, move)


def grad_norm(values: Sequence[Any], kind: float, /) -> float:
    """The length of the gradients of values, by the sum of their powers, in order."""
    sizes = [abs(gradient) for gradient in _gradients(_checked(values)).tolist()]
    if any(isnan(size) for size in sizes):
        return float("nan")
    if kind == inf:
        return max(sizes, default=0.0)
    total = 0.0
    for size in sizes:
        total += size * size if kind == 2.0 else _power(size, kind)
    return sqrt(total) if kind == 2.0 else _power(total, 1.0 / kind)


def _power(number: float, exponent: float) -> float:
    """A power as IEEE has it: too large, an infinity."""
    try:
        return float(number**exponent)
    except OverflowError:
        return inf


def scale_grad(values: Sequence[Any], factor: float, /) -> None:
    """Multiply the gradients of values."""
    _change_gradients(values, lambda gradients: gradients * factor)


def clip_grad(values: Sequence[Any], limit: float, /) -> None:
    """Clip the gradients of values into a range; NaN stays."""
    _change_gradients(values, lambda gradients: np.clip(gradients, -limit, limit))


def _change_gradients(leaves: Sequence[Any], change: Callable[[Array], Array]) -> None:
    nodes = _checked(leaves)
    refuse_lent(nodes)
    for leaf, node in zip(leaves, nodes):
        with np.errstate(all="ignore"):
            changed = change(np.asarray(_gradient(node)))
        if isinstance(leaf, Tensor):
            leaf.grad = changed
        else:
            node._grad = float(changed)
