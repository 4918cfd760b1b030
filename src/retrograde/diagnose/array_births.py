"""Births in graphs with tensors: the nodes looked at one by one, and a backward pass kept aside.

Forward, a birth is a node with a NaN where no operand has one, or with an infinity where none has
one. Backward, it is the first contribution that is not finite though its upstream is. A tensor that
``t[i] = v`` has written over is passed by: what was written there was looked at where it was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from .._shared import array_birth, birth
from .._shared.birth import Birth
from .._shared.numerics import np
from ..passes.handing import handed
from ..passes.written import Placed, Rest, added, handed_past
from ..tensor import Tensor
from ..value import core


class Found:
    """Births, those of one op on one line as one, and how many numbers are not finite."""

    def __init__(self, most: int) -> None:
        self.most, self.odd = most, 0
        self._births: dict[Any, list[Any]] = {}

    def add(self, node: Any, made: Any) -> None:
        """A birth at a node; the first of its kind is described."""
        key = (node.op, node.site)
        if key in self._births:
            self._births[key][1] += 1
        elif len(self._births) < self.most:
            self._births[key] = [made(), 1]

    def births(self) -> tuple[Birth, ...]:
        """What was found, in the order met."""
        return tuple(replace(each, count=count) for each, count in self._births.values())


def forward(roots: Sequence[Any], most: int) -> Found:
    """The births among the numbers of all nodes."""
    found = Found(most)
    for node in core.order(tuple(roots)):
        if core.is_written_over(node):
            continue
        data = np.asarray(node.data)
        odd = int(np.count_nonzero(~np.isfinite(data)))
        if not odd:
            continue
        found.odd += odd
        if any(map(core.is_written_over, node.inputs)):
            continue
        operands = [np.asarray(v.data) for v in node.inputs]
        if not _is_birth(data, operands, node.op == "leaf"):
            continue
        of_array = core.array_row(node) is not None or isinstance(node, Tensor)
        describe = array_birth.forward if of_array else birth.forward
        found.add(node, lambda node=node, describe=describe: describe(node, roots))
    return found


def _is_birth(data: Any, operands: Sequence[Any], leaf: bool) -> bool:
    if np.isnan(data).any() and not any(np.isnan(each).any() for each in operands):
        return True
    return bool(np.isinf(data).any()) and not leaf and not any(np.isinf(x).any() for x in operands)


def backward(roots: Sequence[Any], seeds: Sequence[Any], most: int) -> Found:
    """The births among the contributions of a backward pass on numbers kept aside."""
    found = Found(most)
    totals: dict[int, Any] = {}
    for root, seed in zip(roots, seeds):
        totals[core.key(root)] = totals.get(core.key(root), 0.0) + np.asarray(seed)
    for node in reversed(core.order(tuple(roots))):
        upstream = totals.pop(core.key(node), None)
        if upstream is None:
            continue
        passing = core.is_written_over(node)
        if not passing:
            found.odd += int(np.count_nonzero(~np.isfinite(upstream)))
        sound = not passing and bool(np.isfinite(upstream).all())
        for index, amount, partial in _contributions(node, upstream):
            v = node.inputs[index]
            before = totals.get(core.key(v))
            if core.is_written_over(v):
                totals[core.key(v)] = added(before, amount, v.shape, passing)
                continue
            with np.errstate(all="ignore"):
                total = totals[core.key(v)] = amount if before is None else before + amount
            was = before is None or bool(np.isfinite(before).all())
            if sound and was and not np.isfinite(total).all() and _all_finite(node):
                found.add(node, _described(node, index, before, amount, partial, upstream, roots))
    return found


def _described(
    node: Any, index: int, before: Any, amount: Any, partial: Any, upstream: Any, roots: Any
) -> Any:
    if partial is None:
        return lambda: array_birth.backward(node, index, before, amount, roots)
    held = 0.0 if before is None else float(before)
    return lambda: birth.backward(node, index, partial, float(upstream), held, roots)


def _all_finite(node: Any) -> bool:
    """Whether a node's operands are: else a slope that is not finite is a consequence."""
    return all(np.isfinite(v.data).all() for v in node.inputs)


def _contributions(node: Any, upstream: Any) -> Iterator[tuple[int, Any, float | None]]:
    """What a node hands to each input that takes gradients, and the partial of a value's."""
    if not node.inputs:
        return
    partials = node.partials if core.array_row(node) is None and node._rule is None else ()
    with np.errstate(all="ignore"):
        past = any(map(core.is_written_over, node.inputs))
        given = (handed_past if past else handed)(node, upstream)
    for index, amount in enumerate(given):
        if amount is not None:
            kept = amount if isinstance(amount, (Placed, Rest)) else np.asarray(amount)
            yield index, kept, partials[index] if partials else None
