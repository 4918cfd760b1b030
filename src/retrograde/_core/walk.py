"""Walks over a graph in pure Python: what ``native/walk.c`` offers, on ``reference.py``.

Roots are checked here; ordering and backward themselves are in ``reference.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._shared.lending import Loan
from ..errors import NotAValueError, ShapeError
from . import recording
from .bulk import zero
from .public import Value, number
from .reference import Epoch, run_backward
from .reference import order as order_nodes

if TYPE_CHECKING:
    from .._shared.cores import Number


def _checked_roots(where: str, roots: Sequence[Any]) -> None:
    for index, root in enumerate(roots):
        if not isinstance(root, Value):
            raise NotAValueError.at(where, index, root)


def order(roots: Sequence[Value], /) -> list[Value]:
    """Everything under the roots, inputs before uses."""
    _checked_roots("order", roots)
    return order_nodes(roots)


def backward(roots: Sequence[Value], seeds: Sequence[Number], /) -> None:
    """Run the backward pass from several roots."""
    if len(roots) != len(seeds):
        raise ShapeError.seeds(len(roots), len(seeds))
    _checked_roots("backward", roots)
    run_backward(roots, [number(seed, "a seed") for seed in seeds])


def begin_epoch() -> int:
    """Start a new epoch and return its number."""
    Epoch.now += 1
    return Epoch.now


def order_since(roots: Sequence[Value], epoch: int, /) -> list[Value]:
    """The inner nodes made since an epoch, in order."""
    _checked_roots("order", roots)
    return [v for v in order_nodes(roots, epoch) if v._op_name != "leaf" and v._epoch >= epoch]


def is_closed(roots: Sequence[Value], inputs: Sequence[Value], epoch: int, /) -> bool:
    """Whether the roots depend on nothing but the inputs: no other leaf takes gradients.

    While recording, nothing that is read afresh counts as a number.
    """
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
    roots: Sequence[Value], seeds: Sequence[Number], inputs: Sequence[Value], epoch: int, /
) -> list[float | None] | None:
    """Gradients as numbers, touching no .grad; None where an input was not reached, or in place of
    all where the result depends on values made before the epoch."""
    if len(roots) != len(seeds):
        raise ShapeError.seeds(len(roots), len(seeds))
    values = order_nodes(roots, epoch)
    if not is_closed(roots, inputs, epoch):
        return None
    given = [number(seed, "a seed") for seed in seeds]
    inner = [v for v in values if v._op_name != "leaf" and v._epoch >= epoch]
    if any(value._partials is None for value in inner):
        found = _pulled_by_closures(values, inner, roots, given, inputs)
    else:
        found = _pulled(values, inner, roots, given, inputs)
    reached = {id(value) for value in values}
    return [g if id(value) in reached else None for value, g in zip(inputs, found)]


def _pulled(
    values: list[Value],
    inner: list[Value],
    roots: Sequence[Value],
    seeds: Sequence[float],
    inputs: Sequence[Value],
) -> list[float]:
    """The backward pass on numbers kept aside: other threads see nothing of it."""
    adjoints = dict.fromkeys(map(id, values), 0.0)
    for root, seed in zip(roots, seeds):
        adjoints[id(root)] += seed
    for value in reversed(inner):
        upstream = adjoints[id(value)]
        for v, partial in zip(value._inputs, value._partials or ()):
            if not v._number:
                adjoints[id(v)] += partial * upstream
    return [adjoints.get(id(value), 0.0) for value in inputs]


def _pulled_by_closures(
    values: list[Value],
    inner: list[Value],
    roots: Sequence[Value],
    seeds: Sequence[float],
    inputs: Sequence[Value],
) -> list[float]:
    """Closures add to ``.grad``: it is lent to them and put back."""
    with Loan(values, by_rule=True):
        for root, seed in zip(roots, seeds):
            root._grad += seed
        for value in reversed(inner):
            value._contribute()
        return [value._grad for value in inputs]


def leaves_under(roots: Sequence[Value], /) -> list[Value]:
    """The leaves under the roots that take gradients."""
    _checked_roots("leaves_under", roots)
    return [v for v in order_nodes(roots) if v._op_name == "leaf" and v._requires_grad]


def zero_under(roots: Sequence[Value], /) -> None:
    """Zero the gradient of everything under the roots."""
    _checked_roots("zero_grad", roots)
    recording.refuse(roots, "grad_assignment")
    zero(order_nodes(roots))
