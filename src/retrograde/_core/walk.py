"""Walks over a graph in pure Python: what ``native/walk.c`` offers, on ``reference.py``.

Roots are checked here; ordering and backward themselves are in ``reference.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._shared.lending import Loan
from .._shared.numerics import np
from ..errors import NotAValueError, ShapeError
from . import recording
from .bulk import zero_nodes
from .public import Value, number
from .reference import Epoch, Node, run_backward
from .reference import order as order_nodes
from .tensor import Tensor, seed_of


def _checked_roots(where: str, roots: Sequence[Any]) -> list[Any]:
    """The nodes of values and tensors."""
    for index, root in enumerate(roots):
        if not isinstance(root, (Value, Tensor)):
            raise NotAValueError.at(where, index, root)
    return [root._node if isinstance(root, Tensor) else root for root in roots]


def _seeds(roots: Sequence[Any], seeds: Sequence[Any], what: str) -> list[Any]:
    """A number for a value, an array for a tensor."""
    if len(roots) != len(seeds):
        raise ShapeError.seeds(len(roots), len(seeds))
    return [
        seed_of(root, seed) if isinstance(root, Tensor) else number(seed, what)
        for root, seed in zip(roots, seeds)
    ]


def _shown(nodes: Sequence[Any]) -> list[Any]:
    return [node._shown() for node in nodes]


def order(roots: Sequence[Any], /) -> list[Any]:
    """Everything under the roots, inputs before uses."""
    return _shown(order_nodes(_checked_roots("order", roots)))


def backward(roots: Sequence[Any], seeds: Sequence[Any], /) -> None:
    """Run the backward pass from several roots."""
    nodes = _checked_roots("backward", roots)
    run_backward(nodes, _seeds(roots, seeds, "a seed"))


def begin_epoch() -> int:
    """Start a new epoch and return its number."""
    Epoch.now += 1
    return Epoch.now


def _since(nodes: Sequence[Any], epoch: int) -> list[Any]:
    return [v for v in nodes if v._op_name != "leaf" and v._epoch >= epoch]


def order_since(roots: Sequence[Any], epoch: int, /) -> list[Any]:
    """The inner nodes made since an epoch, in order."""
    return _shown(_since(order_nodes(_checked_roots("order", roots), epoch), epoch))


def is_closed(roots: Sequence[Any], inputs: Sequence[Any], epoch: int, /) -> bool:
    """Whether the roots depend on nothing but the inputs: no other leaf takes gradients.

    While recording, nothing that is read afresh counts as a number.
    """
    nodes = _checked_roots("order", roots)
    return _is_closed(nodes, _checked_roots("order", inputs), epoch)


def _is_closed(roots: Sequence[Any], inputs: Sequence[Any], epoch: int) -> bool:
    given = {id(v) for v in inputs}
    if recording.here.depth:
        ends = [v for v in order_nodes(roots, epoch) if v._op_name == "leaf" or v._epoch < epoch]
        if any(map(recording.is_read_afresh, [*roots, *ends])):
            return False
        if any(v._op_name != "leaf" for v in ends):
            return False
    return not any(
        v._requires_grad and (v._op_name == "leaf" or v._epoch < epoch) and id(v) not in given
        for v in order_nodes(roots, epoch)
    )


def gradients(
    roots: Sequence[Any], seeds: Sequence[Any], inputs: Sequence[Any], epoch: int, /
) -> list[Any] | None:
    """Gradients as numbers and arrays, touching no .grad; None where an input was not reached, or
    in place of all where the result depends on values made before the epoch."""
    given = _seeds(roots, seeds, "a seed")
    starts = _checked_roots("gradients", roots)
    ends = _checked_roots("gradients", inputs)
    values = order_nodes(starts, epoch)
    if not _is_closed(starts, ends, epoch):
        return None
    inner = _since(values, epoch)
    for value in inner:
        if value._array is not None:
            value._array.check(value)
    if any(value._partials is None for value in inner):
        found = _pulled_by_closures(values, inner, starts, given, ends)
    else:
        found = _pulled(values, inner, starts, given, ends)
    reached = {id(value) for value in values}
    return [g if id(value) in reached else None for value, g in zip(ends, found)]


def _pulled(
    values: list[Any],
    inner: list[Any],
    roots: Sequence[Any],
    seeds: Sequence[Any],
    inputs: Sequence[Any],
) -> list[Any]:
    """The backward pass on numbers kept aside: other threads see nothing of it."""
    adjoints = {id(value): value._nothing() for value in values}
    for root, seed in zip(roots, seeds):
        adjoints[id(root)] = root._plus(adjoints[id(root)], seed)
    for value in reversed(inner):
        upstream = adjoints[id(value)]
        if value._array is not None:
            for v, amount in value._array.contributions(value, upstream):
                adjoints[id(v)] = value._array.added(value, v, adjoints[id(v)], amount)
            continue
        for v, partial in zip(value._inputs, value._partials or ()):
            if not v._number:
                adjoints[id(v)] += partial * upstream
    return [_whole(value, adjoints.get(id(value), 0.0)) for value in inputs]


def _whole(node: Node, gradient: Any) -> Any:
    """A gradient of a tensor as an array also where nothing arrived."""
    return np.zeros(node._shape) if gradient is None else gradient  # type: ignore[attr-defined]


def _pulled_by_closures(
    values: list[Any],
    inner: list[Any],
    roots: Sequence[Any],
    seeds: Sequence[Any],
    inputs: Sequence[Any],
) -> list[Any]:
    """Closures add to ``.grad``: it is lent to them and put back."""
    with Loan(values, by_rule=True):
        for root, seed in zip(roots, seeds):
            root._grad = root._plus(root._grad, seed)
        for value in reversed(inner):
            value._contribute()
        return [_whole(value, value._grad) for value in inputs]


def leaves_under(roots: Sequence[Any], /) -> list[Any]:
    """The leaves under the roots that take gradients."""
    nodes = order_nodes(_checked_roots("leaves_under", roots))
    return _shown([v for v in nodes if v._op_name == "leaf" and v._requires_grad])


def zero_under(roots: Sequence[Any], /) -> None:
    """Zero the gradient of everything under the roots."""
    nodes = _checked_roots("zero_grad", roots)
    recording.refuse(nodes, "grad_assignment")
    zero_nodes(order_nodes(nodes))
