"""A graph as flat lists: what the checkers read, in the order it was computed.

Steps refer to each other by index; a number operand has the index -1. Nothing here judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import RecordingError
from ..ops import STRUCTURAL
from ..passes import values
from ..passes.lending import after_rule
from ..passes.numbers import whole_partials
from ..value import Value, core

LEAF, ROW, WIDE, CUSTOM, OPAQUE = "leaf", "row", "structural row", "custom", "opaque"


@dataclass(frozen=True)
class Step:
    """One value of the graph.

    ``kind`` says what is known about it: a row of the law or a structural one, a custom op
    whose function can be asked again, or a value whose rule alone is known (opaque).
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

    def of(self, wanted: Sequence[Value]) -> list[int]:
        """Where values stand; -1 for one that the root does not depend on."""
        return [self.index.get(id(value), -1) for value in wanted]

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
    if core.hides(root):
        raise RecordingError.explained("a check", root)
    graph = values.read((root,))
    assert graph.values is not None
    columns = (graph.inputs, graph.operands, whole_partials(graph))
    inputs, numbers, partials = map(graph.by_value, columns)
    steps = []
    for place, (node, op) in enumerate(zip(graph.values, graph.ops)):
        kind, name = _KINDS.get(op, ROW), op
        slopes = partials[place]
        if op == "custom":
            kind, name = CUSTOM if node._rule is not None else OPAQUE, node.op
            slopes = effective_partials(node) if graph.ruled[place] else slopes
        data = float(graph.data[place])
        steps.append(Step(node, kind, name, inputs[place], numbers[place], slopes, data))
    return Tape(steps, graph.place_of)


_KINDS = {"leaf": LEAF, **dict.fromkeys(STRUCTURAL, WIDE)}


def effective_partials(node: Value, before: float = 0.0, seed: float = 1.0) -> tuple[float, ...]:
    """The partials of a value whose rule is a function: what it adds for an upstream of 1.

    An input that stands twice has its whole contribution at its first place. ``before`` is what
    the inputs' gradients hold already: an honest rule gives the same whatever that is.
    """
    left = after_rule(node, seed, before)
    return tuple(0.0 if grad is None else grad - before for grad in left)
