"""NaN that are born in a backward pass nobody looks at closely.

Only rules that can make one from finite numbers are listened to: those of roots, quotients, powers
and whatever is not known; and those of softmax, which makes one of finite numbers where a row was
masked altogether. That costs a walk over the nodes of the graph. On a GPU nothing is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite, isnan
from typing import Any

import torch

from ._private import dimension_of, number_of, saved_by
from .kinds import KINDS, LEAF, NORMS, op_of
from .pulling import Oddity, oddity_of
from .summaries import settled, summary

SAFE = frozenset(
    "copy swap weigh gate window soft-gate saturate itself flip flat choose sign turn".split()
)
"""Kinds of rules that give finite numbers for finite numbers, short of overflow."""
_ALSO_SAFE = frozenset(
    "logsumexp nllloss nllloss2dnd mseloss binarycrossentropywithlogits smoothl1loss "
    "l1loss huberloss nativedropout scaleddotproductattentionflashforcpu klddiv".split()
) | (NORMS & {"nativelayernorm", "nativebatchnorm", "nativegroupnorm"})
ROWS = frozenset(("softmax", "logsoftmax"))
"""Rules that spoil whole rows, so that one number of each row tells."""
OWN = frozenset(("result", "output"))
"""What autograd calls the result of a node that keeps it."""
_listened: dict[type, bool] = {}


class Trap:
    """Hooks on the rules under some roots that may make a NaN."""

    def __init__(self, roots: Sequence[torch.Tensor]) -> None:
        self.caught: list[tuple[Any, Oddity, Any, Any]] = []
        """Nodes, what was odd at them, and the summaries above and below."""
        self.behind: tuple[Any, Any] | None = None
        """The first node whose own result was a NaN before, where that is what went bad."""
        self._nodes: list[Any] = []
        self._handles = []
        pending = [root.grad_fn for root in roots if root.grad_fn is not None]
        seen = set(pending)
        while pending:
            node: Any = pending.pop()
            if _is_listened_to(node):
                self._nodes.append(node)
                self._handles.append(node.register_hook(self._hook(len(self._nodes) - 1)))
            for below, _ in node.next_functions:
                if below is not None and below not in seen:
                    seen.add(below)
                    pending.append(below)

    def _hook(self, place: int) -> Any:
        rows = op_of(self._nodes[place]) in ROWS

        def hook(given: Any, received: Any) -> None:
            if self.caught:
                return
            for position, amount in enumerate(given):
                if amount is None or amount.device.type != "cpu":
                    continue
                if rows and not _has_odd_row(amount, dimension_of(self._nodes[place])):
                    continue
                made = settled(summary(amount))
                if made is None or not made.odd:
                    continue
                above = [settled(summary(each)) for each in received if each is not None]
                if not any(each is None or each.odd for each in above):
                    node = self._nodes[place]
                    odd = oddity_of(node, place, position, amount, received[0])
                    self.caught.append((node, odd, above[0] if above else None, made))
                    if any(isnan(number) for name, number in odd.numbers.items() if name in OWN):
                        self.behind = self._first_odd()
                return

        return hook

    def _first_odd(self) -> tuple[Any, Any] | None:
        """Of what the nodes listened to keep, the first result that is not finite."""
        for node in sorted(self._nodes, key=number_of):
            for name, tensor in saved_by(node):
                if name in OWN and tensor.is_floating_point():
                    seen = settled(summary(tensor))
                    if seen is not None and seen.odd:
                        return node, seen
        return None

    def remove(self) -> None:
        """Take every hook off."""
        for handle in self._handles:
            handle.remove()
        self._nodes.clear()


def may_catch(nodes: Iterable[Any]) -> bool:
    """Whether there is a rule to listen to among some nodes: most programs that have none in one
    pass have none in the next, and need no walk."""
    return any(map(_is_listened_to, nodes))


def _is_listened_to(node: Any) -> bool:
    kind = type(node)
    found = _listened.get(kind)
    if found is None:
        op = op_of(node)
        safe = KINDS.get(op) in SAFE or op in _ALSO_SAFE
        found = op != LEAF and (op in ROWS or not safe)
        _listened[kind] = found
    return found


def _has_odd_row(amount: torch.Tensor, dim: int) -> bool:
    """Whether the first number of any row along a dimension may not be finite."""
    if not amount.dim() or not amount.numel():
        return False
    return not isfinite(float(amount.detach().select(dim, 0).sum()))
