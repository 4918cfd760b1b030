"""Writes in place, ``t[i] = v``, in a pass over arrays.

A write takes over the numbers of the tensor it changes, and in the pass its gradient: what it hands
on is that gradient with one place cleared. So a loop of writes costs no more than what it writes.
The gradient of a tensor that was written over is changed while the pass goes on; nothing is said of
its numbers, which are gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .._shared.bound import Bound
from .._shared.numerics import np
from .._shared.views import one_place
from ..value import core
from .flat import Pass

Place = tuple[int, ...]


class Placed(NamedTuple):
    """A contribution to one place of a tensor, 0 elsewhere."""

    at: Place
    amount: Any


class Rest(NamedTuple):
    """A contribution that is an upstream gradient but for one place."""

    upstream: Any
    at: Place


def written_over(graph: Pass) -> frozenset[int]:
    """The places of tensors whose numbers a write has taken over."""
    assert graph.values is not None
    return frozenset(
        place for place, value in enumerate(graph.values) if core.is_written_over(value)
    )


def whole(amount: Any, shape: tuple[int, ...]) -> Any:
    """A contribution as an array of its own."""
    if isinstance(amount, Placed):
        made = np.zeros(shape)
        made[amount.at] = amount.amount
        return made
    if isinstance(amount, Rest):
        made = np.array(amount.upstream)
        made[amount.at] = 0.0
        return made
    return amount


def handed_past(node: Any, upstream: Any) -> list[Any]:
    """What a node hands on one of whose inputs was written over: by the law, without its numbers,
    which no rule reads."""
    made = core.array_row(node)
    assert made is not None
    bound, wholes = made
    at = one_place(bound, wholes)
    takes = [v.requires_grad for v in node.inputs]
    if at is not None and bound.name == "index":
        return [Placed(at, upstream) if takes[0] else None]
    if at is not None and bound.shape[len(at) :] == bound.shapes[1]:
        block = np.array(upstream[at]) if bound.shapes[1] else float(upstream[at])
        return [Rest(upstream, at) if takes[0] else None, block if takes[1] else None]
    return _by_the_law(bound, wholes, node, upstream, takes)


def _by_the_law(
    bound: Bound, wholes: Mapping[str, Any], node: Any, upstream: Any, takes: Sequence[bool]
) -> list[Any]:
    arrays = {
        name: np.asarray(v.data)
        for name, v in zip(bound.operands, node.inputs)
        if not core.is_written_over(v)
    }
    takers = [name for name, one in zip(bound.operands, takes) if one]
    result = None if core.is_written_over(node) else np.asarray(node.data)
    found = iter(
        bound.contributions(takers, np.asarray(upstream), {**arrays, **wholes}, result)
    )  # fmt: skip
    return [next(found) if one else None for one in takes]


def added(total: Any, amount: Any, shape: tuple[int, ...], owned: bool) -> Any:
    """A contribution into the gradient of a tensor that was written over, in place.

    ``owned`` says of a :class:`Rest` that nobody else asks for its upstream.
    """
    if isinstance(amount, Rest) and total is None:
        made = amount.upstream if owned else np.array(amount.upstream)
        made[amount.at] = 0.0
        return made
    if total is None:
        total = np.zeros(shape)
    with np.errstate(all="ignore"):
        if isinstance(amount, Placed):
            total[amount.at] += amount.amount
        else:
            total += whole(amount, shape)
    return total
