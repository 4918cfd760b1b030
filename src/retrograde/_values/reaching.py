"""Pulling gradients back through ``take`` while recording: which rows reach a value.

Eagerly a take is the item it chose, and the others are not under the result. In a recording all
of them are under it, so each value is told in which rows it is reached, and hands nothing on in
the others: a gradient of 0 would not do, since 0 times an infinite slope is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ops import STRUCTURAL
from ..value import Value, core
from . import elementwise


def takes_gradient_through(node: Value) -> range | None:
    """Which inputs of a node may receive gradients, by number; None where that is all of them."""
    if core.array_row(node) is not None:
        return None if node.requires_grad else range(0)
    kind = core.recorded_op(node)
    if kind == "stop":
        return range(0)
    return range(len(node.inputs) - 1) if is_chosen(node) else None


def is_chosen(node: Value) -> bool:
    """Whether a node is one of its inputs, chosen by the last of them."""
    if core.array_row(node) is not None:
        return False
    row = STRUCTURAL.get(core.recorded_op(node))
    return row is not None and row.chooses


class Reached:
    """By value: in which rows it is reached. Everywhere, unless it was only taken."""

    def __init__(self) -> None:
        self._rows: dict[int, Any] = {}

    def note(self, value: Value, rows: Any) -> None:
        """The value is reached in ``rows`` too; None is all."""
        known = self._rows.get(id(value), ...)
        if known is ... or rows is None:
            self._rows[id(value)] = rows
        elif known is not None:
            self._rows[id(value)] = elementwise.maximum(known, rows)

    def handed_on(
        self, node: Value, inputs: Sequence[Value], through: Sequence[int], contributions: list[Any]
    ) -> list[Any]:
        """What a node hands to some of its inputs, in the rows that reach it."""
        rows = self._rows.get(id(node))
        for index in through:
            self.note(inputs[index], rows)
        return contributions if rows is None else [core.take([0.0, c], rows) for c in contributions]

    def chosen(
        self, node: Value, inputs: Sequence[Value], through: Sequence[int], upstream: Any
    ) -> list[Any]:
        """What a take hands to its items: the upstream, in the rows that chose the item."""
        rows = self._rows.get(id(node))
        given = []
        for index in through:
            here = elementwise.equal(inputs[-1], float(index))
            here = here if rows is None else rows * here
            self.note(inputs[index], here)
            given.append(core.take([0.0, upstream], here))
        return given


def pushed(inputs: Sequence[Value], moving: dict[int, Any]) -> Any:
    """The tangent of a take: that of the item it chose."""
    return core.take([moving.get(id(v), 0.0) for v in inputs[:-1]], inputs[-1])
