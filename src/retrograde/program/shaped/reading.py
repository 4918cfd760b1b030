"""Reading a program off the graph that a recorded function has made.

Every node is a bound row of the array law, or an op on values, which is the same row on shapes
without axes. What cannot be replayed is refused here, with its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..._shared.bound import Bound, bound
from ..._shared.sites import Site
from ..._tensors.indices import Found, source_of
from ...errors import RecordingError
from ...ops import OPS, STRUCTURAL
from ...ops.structural import DOT
from ...tensor import Tensor, in_graph
from ...value import core
from .program import (
    ARGUMENT,
    CAPTURED,
    Builder,
    Fixed,
    Given,
    Guard,
    Input,
    Looked,
    Program,
    check,
)


class Reader:
    """Turns a graph into a program; ``captured`` are the leaves from outside, in their order."""

    def __init__(self, since: int) -> None:
        self.program = Program()
        self.captured: list[Any] = []
        self._since = since
        self._build = Builder(self.program)
        self._ids: dict[int, int] = {}
        self._sites: dict[Site | None, int] = {}
        self._looked: dict[int, dict[str, Any]] = {}
        self._keep: list[Any] = []

    def argument(self, node: Any, name: str, number: int) -> None:
        """An argument of the function."""
        self._ids[core.key(node)] = self._build.input(Input(ARGUMENT, name, number), node.shape)
        self._keep.append(node)

    def read(self, roots: Sequence[Any]) -> list[int]:
        """The ids of some results, with all that makes them."""
        for node in core.order_since(tuple(root for root in roots if in_graph(root)), self._since):
            if core.key(node) not in self._ids and node.inputs:
                self._ids[core.key(node)] = self._node(node)
                self._keep.append(node)  # its key is an address
        return [self._operand(root) for root in roots]

    def _operand(self, thing: Any) -> int:
        """The id of something that stands among operands or results."""
        if not in_graph(thing):
            return self._build.constant(thing)
        known = self._ids.get(core.key(thing))
        if known is not None:
            return known
        if thing.inputs:
            raise RecordingError.captured_interior(thing)
        origin = core.leaf_origin(thing, self._since)
        if origin == "argument":
            raise RecordingError.leaked_argument(thing)
        if origin == "constant":
            return self._build.constant(_numbers(thing), thing.label)
        name = thing.label or f"captured {len(self.captured) + 1}"
        number = len(self.captured)
        self.captured.append(thing)
        made = self._build.input(Input(CAPTURED, name, number), thing.shape)
        self._ids[core.key(thing)] = made
        return made

    def _node(self, node: Any) -> int:
        self._build.site = self._site(node.site)
        row = core.array_row(node)
        if row is None:
            return self._of_values(node)
        return self._of_arrays(node, *row)

    def _of_arrays(self, node: Any, row: Bound, wholes: dict[str, Any]) -> int:
        if row.statement is None:
            raise RecordingError.custom(node)
        operands = [self._operand(it) for it in node.inputs]
        found = row.found
        self._look_first([it for name, it in wholes.items() if name not in found])
        self._build.site = self._site(node.site)
        result = len(self.program.shapes)
        numbers = []
        for name, it in wholes.items():
            own = Looked(result, name, tuple(np.shape(it))) if name in found else None
            numbers.append((name, self._build.whole(own or self._whole(row, name, it))))
        return self._build.add(row, operands, numbers, node.requires_grad)

    def _look_first(self, wholes: Iterable[Any]) -> None:
        """The nodes that find whole numbers come before those that read them."""
        sources = [found[0] for it in wholes if (found := source_of(it)) is not None]
        self.read([source.node for source in sources if isinstance(source, Found)])

    def _whole(self, row: Bound, name: str, array: Any) -> Fixed | Given | Looked:
        """Whole numbers of a node: places of an argument or of another node, where they came from
        one."""
        found = source_of(array)
        if found is None:
            fixed = np.array(array, dtype=np.int64)
            fixed.flags.writeable = False
            return Fixed(fixed)
        source, at = found
        length = next((length for it, length, _ in row.picks if it == name), None)
        if length is None:
            raise RecordingError.indices(row.name)
        if not isinstance(source, Found):
            return Given(source, at, length)
        if source.reach > length:
            raise RecordingError.beyond(row.name, source.reach, length)
        return Looked(self._ids[core.key(source.node)], source.name, tuple(at.shape))

    def _of_values(self, node: Any) -> int:
        """An op on values: the same row, on shapes without axes."""
        name = core.recorded_op(node) or node.op
        if name == "stop":
            (operand,) = [self._operand(it) for it in node.inputs]
            return self._build.add(bound("reshape", ((),), shape=()), [operand], (), False)
        row = STRUCTURAL.get(name)
        if node._rule is not None:
            raise RecordingError.custom(node)
        operands = [self._operand(it) for it in node.inputs]
        if name in OPS:
            scalar = bound(name, ((),) * len(operands))
            return self._build.add(scalar, operands, (), node.requires_grad)
        if row is None:
            raise RecordingError.custom(node)
        return self._summed(row is DOT, operands, node.requires_grad)

    def _summed(self, products: bool, operands: list[int], takes: bool) -> int:
        """``sum`` and ``dot`` of values, written out in their order."""
        add, mul = bound("add", ((), ())), bound("mul", ((), ()))
        terms = operands
        if products:
            half = len(operands) // 2
            pairs = zip(operands[:half], operands[half:])
            terms = [self._build.add(mul, pair, (), takes) for pair in pairs]
        total = terms[0] if terms else self._build.constant(0.0)
        for term in terms[1:]:
            total = self._build.add(add, (total, term), (), takes)
        return total

    def _site(self, site: Site | None) -> int:
        number = self._sites.setdefault(site, len(self.program.sites))
        if number == len(self.program.sites):
            self.program.sites.append(site)
        return number

    def finish(self, outputs: list[int], guards: list[Guard]) -> Program:
        """The program with its outputs and guards."""
        self.program.outputs, self.program.guards = outputs, guards
        return check(self.program, "recording")


def _numbers(thing: Any) -> Any:
    return thing.data if isinstance(thing, Tensor) else core.peek(thing)
