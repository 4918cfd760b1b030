"""A graph as flat lists: what the checkers read, in the order it was computed.

Steps refer to each other by index; a number operand has the index -1. Nothing here judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..ops import OPS
from ..value import Value, core

LEAF, ROW, SUM, DOT, CUSTOM, OPAQUE = "leaf", "row", "sum", "dot", "custom", "opaque"


@dataclass(frozen=True)
class Step:
    """One value of the graph.

    ``kind`` says what is known about it: a row of the law, ``sum`` or ``dot``, a custom op whose
    function can be asked again, or a value whose rule alone is known (opaque).
    """

    node: Value
    kind: str
    op: str
    inputs: tuple[int, ...]
    numbers: tuple[float, ...]
    partials: tuple[float, ...]
    data: float


@dataclass(frozen=True)
class Tape:
    """Every value under a root, each after its inputs; the last one is the root."""

    steps: list[Step]
    index: dict[int, int]

    def of(self, values: Sequence[Value]) -> list[int]:
        """Where values stand; -1 for one that the root does not depend on."""
        return [self.index.get(id(value), -1) for value in values]

    def used_by(self, places: Sequence[int]) -> list[bool]:
        """Which steps depend on the ones at these places."""
        found = [False] * len(self.steps)
        for place in places:
            if place >= 0:
                found[place] = True
        for place, step in enumerate(self.steps):
            if not found[place] and any(i >= 0 and found[i] for i in step.inputs):
                found[place] = True
        return found


def read(root: Value) -> Tape:
    """Read the graph under a root."""
    nodes = core.order((root,))
    index = {id(node): place for place, node in enumerate(nodes)}
    steps = []
    for node in nodes:
        op, inputs = node.op, node.inputs
        if op == "leaf" or not inputs:
            steps.append(Step(node, LEAF, op, (), (), (), node.data))
            continue
        kind = _kind(node, op)
        partials = node.partials or effective_partials(node)
        places = tuple([index.get(id(v), -1) for v in inputs])
        numbers = tuple([v.data for v in inputs])
        steps.append(Step(node, kind, op, places, numbers, partials, node.data))
    return Tape(steps, index)


def _kind(node: Value, op: str) -> str:
    if node._rule is not None:
        return CUSTOM
    if core.recompute(node) is None:  # a one-off or a closure, whatever its name
        return OPAQUE
    if op in OPS:
        return ROW
    return SUM if op == "sum" else DOT


def effective_partials(node: Value, before: float = 0.0, seed: float = 1.0) -> tuple[float, ...]:
    """The partials of a value whose rule is a function: what it adds for an upstream of 1.

    An input that stands twice has its whole contribution at its first place. ``before`` is what
    the inputs' gradients hold already: an honest rule gives the same whatever that is.
    """
    inputs: tuple[Any, ...] = node.inputs
    kept, upstream = [v.grad for v in inputs], node.grad
    try:
        for v in inputs:
            v.grad = before
        node.grad = seed
        node._backward()
        found = [v.grad - before for v in inputs]
    finally:
        node.grad = upstream
        for v, grad in zip(inputs, kept):
            v.grad = grad
    seen: set[int] = set()
    partials = []
    for v, contribution in zip(inputs, found):
        partials.append(0.0 if id(v) in seen else contribution)
        seen.add(id(v))
    return tuple(partials)
