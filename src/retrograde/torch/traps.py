"""NaN that are born in a backward pass nobody looks at closely.

Only rules that can make one from finite numbers are listened to: those of roots, quotients, powers
and whatever is not known. That costs a walk over the nodes of the graph. On a GPU nothing is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from .kinds import KINDS, LEAF, NORMS, op_of
from .pulling import Oddity, oddity_of
from .summaries import settled, summary

SAFE = frozenset(
    "copy swap weigh gate window soft-gate saturate itself flip flat choose sign turn".split()
)
"""Kinds of rules that give finite numbers for finite numbers, short of overflow."""
_ALSO_SAFE = frozenset(
    "logsoftmax logsumexp nllloss nllloss2dnd mseloss binarycrossentropywithlogits smoothl1loss "
    "l1loss huberloss nativedropout scaleddotproductattentionflashforcpu klddiv".split()
) | (NORMS & {"nativelayernorm", "nativebatchnorm", "nativegroupnorm"})
_listened: dict[type, bool] = {}


class Trap:
    """Hooks on the rules under some roots that may make a NaN."""

    def __init__(self, roots: Sequence[torch.Tensor]) -> None:
        self.caught: list[tuple[Any, Oddity, Any, Any]] = []
        """Nodes, what was odd at them, and the summaries above and below."""
        self._nodes: list[Any] = []
        self._handles = []
        pending = [root.grad_fn for root in roots if root.grad_fn is not None]
        seen = set(pending)
        while pending:
            node: Any = pending.pop()
            if _is_listened_to(node):
                self._handles.append(node.register_hook(self._hook(len(self._nodes))))
                self._nodes.append(node)
            for below, _ in node.next_functions:
                if below is not None and below not in seen:
                    seen.add(below)
                    pending.append(below)

    def _hook(self, place: int) -> Any:
        def hook(given: Any, received: Any) -> None:
            if self.caught:
                return
            for position, amount in enumerate(given):
                if amount is None or amount.device.type != "cpu":
                    continue
                made = settled(summary(amount))
                if made is None or not made.odd:
                    continue
                above = [settled(summary(each)) for each in received if each is not None]
                if not any(each is None or each.odd for each in above):
                    node = self._nodes[place]
                    odd = oddity_of(node, place, position, amount, received[0])
                    self.caught.append((node, odd, above[0] if above else None, made))
                return

        return hook

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
        found = op != LEAF and KINDS.get(op) not in SAFE and op not in _ALSO_SAFE
        _listened[kind] = found
    return found
