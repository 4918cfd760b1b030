"""Rows of the array law in derivatives: contributions and tangents of a node, as nodes.

Both are statements of the one adjoint rule. The contribution of a node is linear in its upstream,
so its tangent is that rule once more: the contribution's own adjoint along the upstream.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._shared.bound import Back, Bound, numeric
from .._shared.numerics import np
from .._shared.views import one_place
from .._tensors.doing import do
from .._tensors.indices import is_tracked
from .._values.modes import recording_tensors
from ..errors import AliasError, NotDifferentiable
from ..tensor import Tensor, in_graph
from ..value import Value, belongs_to_caller, core

Amount = Any  # a float, an array, a value or a tensor


def contributions(
    node: Any, row: tuple[Bound, dict[str, Any]], operands: Sequence[Any], wanted: Sequence[int],
    upstream: Amount, owned: bool = False,
) -> list[Amount | None]:  # fmt: skip
    """What a node hands to the inputs wanted; None where one receives nothing.

    An upstream that is ``owned`` may be changed: nobody else asks for it.
    """
    bound, wholes = row
    at = one_place(bound, wholes)
    if at is not None and bound.name == "index":
        return [Placed(at, upstream)]
    if at is not None and bound.shape[len(at) :] == bound.shapes[1]:
        written = _read(upstream, at)  # before the place is cleared
        return [written if index else _cleared(upstream, at, owned) for index in wanted]
    if bound.statement is None:
        return bound.rule_on_tensors(node, operands, wanted, upstream)
    known = dict(zip(bound.operands, operands))
    upstream = _undone(bound, upstream, node, known)
    found: list[Amount | None] = []
    for index in wanted:
        back = _adjoint(bound, bound.operands[index], node)
        if back is None:
            found.append(None)
            continue
        have = _prepared(back, known, node, wholes)
        have[back.upstream] = upstream
        found.append(carried_out(back.bound, have, wholes))
    return found


class Placed:
    """A contribution to one place of a tensor: x[i] hands one back.

    It is added there and nowhere else, so that a loop ``x[i + 1] = f(x[i])`` stays linear.
    """

    __slots__ = ("amount", "at")

    def __init__(self, at: tuple[int, ...], amount: Amount) -> None:
        self.at, self.amount = at, amount


def total(parts: Sequence[Any], like: Any, owned: bool) -> Amount:
    """All that arrived at a tensor; ``owned`` says that the first may be changed."""
    whole = [part for part in parts if not isinstance(part, Placed)]
    places = [part for part in parts if isinstance(part, Placed)]
    result = whole[0] if whole else np.zeros(like.shape)
    for part in whole[1:]:
        result = added(result, part)
    if not places:
        return result
    if whole and len(whole) == 1 and not owned:
        result = result.copy()
    for part in places:
        result = _placed(result, part)
    return result


def _placed(whole: Any, part: Placed) -> Any:
    if not in_graph(whole):
        if not in_graph(part.amount):
            whole = whole if whole.flags.writeable else whole.copy()
            whole[part.at] += part.amount
            return whole
        whole = Tensor(whole, requires_grad=False)
    return _assigned(whole, part.at, added(whole[part.at], part.amount))


def _read(whole: Any, at: tuple[int, ...]) -> Any:
    """What stands at a place, whatever is written there later."""
    return whole[at] if in_graph(whole) else np.array(whole[at])[()]


def _cleared(whole: Any, at: tuple[int, ...], owned: bool) -> Any:
    """An upstream without what stood at a place."""
    if not owned:
        whole = whole.copy()
    if in_graph(whole):
        return _assigned(whole, at, 0.0)
    whole = whole if whole.flags.writeable else whole.copy()
    whole[at] = 0.0
    return whole


def _assigned(tensor: Any, at: tuple[int, ...], number: Any) -> Any:
    """In place where nothing else holds the numbers."""
    try:
        tensor[at] = number
    except AliasError:
        return tensor.put(at, number)
    return tensor


def tangent(
    node: Any, row: tuple[Bound, dict[str, Any]], operands: Sequence[Any], wanted: Sequence[int],
    moving: Sequence[Amount], pulled: Callable[[Any, Any, Any], Any],
) -> Amount:  # fmt: skip
    """How a node moves where inputs move; ``pulled(root, seed, input)`` is a gradient."""
    bound, wholes = row
    total: Amount = None
    for index, moves in zip(wanted, moving):
        if bound.statement is None or bound.implicit is not None:
            amount = _through_a_pull(node, row, operands, index, moves, pulled)
        else:
            amount = _forward(bound, wholes, node, operands, index, moves)
        if amount is not None:
            total = amount if total is None else added(total, amount)
    return zeros(node) if total is None else total


def _forward(
    bound: Bound, wholes: Mapping[str, Any], node: Any, operands: Sequence[Any], index: int,
    moves: Amount,
) -> Amount:  # fmt: skip
    back = _adjoint(bound, bound.operands[index], node)
    if back is None:
        return None
    again = back.bound.adjoint(back.upstream)
    if again is None:
        return None
    have = _prepared(back, dict(zip(bound.operands, operands)), node, wholes)
    have[again.upstream] = moves
    return carried_out(again.bound, have, wholes)


def _through_a_pull(
    node: Any, row: tuple[Bound, dict[str, Any]], operands: Sequence[Any], index: int,
    moves: Amount, pulled: Callable[[Any, Any, Any], Any],
) -> Amount:  # fmt: skip
    """The contribution for a fresh upstream, pulled back to that upstream by the tangent."""
    free = Tensor(np.zeros(node.shape)) if node.ndim else Value(0.0)
    (amount,) = contributions(node, row, operands, [index], free)
    return None if amount is None else pulled(amount, moves, free)


def _adjoint(bound: Bound, operand: str, node: Any) -> Back | None:
    try:
        return bound.adjoint(operand)
    except ValueError:
        raise NotDifferentiable.of(node) from None


def _undone(bound: Bound, upstream: Amount, node: Any, known: Mapping[str, Any]) -> Amount:
    if bound.implicit is None:
        return upstream
    engine = do if any(map(in_graph, (upstream, node, *known.values()))) else numeric
    return bound.undone(engine, upstream, node, known)


def _prepared(
    back: Back, known: Mapping[str, Any], node: Any, wholes: Mapping[str, Any]
) -> dict[str, Any]:
    """What a contribution reads besides the upstream."""
    have = {**known, back.own: node}
    for name, other in back.others:
        have[name] = carried_out(other, have, wholes)
    return have


def carried_out(bound: Bound, have: Mapping[str, Any], wholes: Mapping[str, Any]) -> Amount:
    """A bound row on what is there: a node, or plain numbers where nothing takes gradients."""
    operands = [have[name] for name in bound.operands]
    numbers = {name: wholes[name] for name in bound.wholes}
    recording = recording_tensors()
    if any(in_graph(it) and (recording or it.requires_grad) for it in operands):
        return core.array(bound, tuple(operands), numbers)
    if is_tracked(numbers):
        first, *others = operands
        return core.array(bound, (_leaf(first), *others), numbers)
    arrays = {
        name: np.asarray(it.data if in_graph(it) else it)
        for name, it in zip(bound.operands, operands)
    }  # fmt: skip
    result = bound.run({**arrays, **numbers})[0]
    return result if bound.shape else float(result)


def _leaf(amount: Any) -> Any:
    """A plain amount in the graph."""
    return (Tensor if np.ndim(amount) else Value)(amount, requires_grad=False)


def numbers_of(thing: Any) -> Any:
    """The numbers of a value or a tensor; itself where t[i] = v has let them go."""
    try:
        return thing.data
    except AliasError:
        return thing


def added(left: Amount, right: Amount) -> Amount:
    """Two amounts of one shape together."""
    return do("add", left, right) if in_graph(left) or in_graph(right) else left + right


def zeros(like: Any) -> Amount:
    """No amount, in the shape of a value or a tensor."""
    return np.zeros(like.shape) if like.ndim else 0.0


belongs_to_caller(sys.modules[__name__])
