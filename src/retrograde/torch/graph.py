"""The reader for PyTorch: the autograd graph under some roots as a pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import torch

from .._shared.sites import Site
from ..passes.arrays import Arrays
from ..passes.flat import CUSTOM, NUMBER_OPERAND, Pass
from ..passes.flat import LEAF as LEAF_CODE
from ..passes.summary import Summary
from . import board
from ._private import number_of, outputs_of, saved_by
from .kinds import ADDED, LEAF, VIEWS, kind_of, op_of
from .lines import Lines
from .samples import Pictures
from .summaries import Look, look, settled

_dtypes: dict[Any, str] = {}


def dtype_name(dtype: Any) -> str:
    """``float32`` for ``torch.float32``."""
    found = _dtypes.get(dtype)
    if found is None:
        found = _dtypes[dtype] = str(dtype)[6:]
    return found


def nodes_under(tops: Sequence[Any]) -> dict[Any, Any]:
    """Every autograd node under some others, in the order they were made, leaves first, with the
    nodes and outputs right below it.

    A node's inputs were made before it, so the numbers autograd gives are an order."""
    pending = list(dict.fromkeys(tops))
    found = dict.fromkeys(pending)
    while pending:
        top = pending.pop()
        below = found[top] = top.next_functions
        for node, _ in below:
            if node is not None and node not in found:
                found[node] = None
                pending.append(node)
    numbers = {node: number_of(node) for node in found}
    order = sorted(found, key=lambda node: -1 if numbers[node] > 1 << 62 else numbers[node])
    return {node: found[node] for node in order}


class Reading:
    """A pass that is being read: the live nodes, and columns that fill while backward runs.

    ``names`` are those of parameters by id. Summaries may be on their way until :meth:`whole`."""

    def __init__(
        self, roots: Sequence[torch.Tensor], names: Mapping[int, str], lines: Lines | None
    ) -> None:
        tops = [root.grad_fn for root in roots if root.grad_fn is not None]
        below = nodes_under(tops)
        self.live = list(below)
        self.place = {node: index for index, node in enumerate(self.live)}
        self.roots = [self.place[top] for top in tops]
        self.variables: dict[int, torch.Tensor] = {}
        count = len(self.live)
        self.ops = [op_of(node) for node in self.live]
        self.shapes: list[tuple[int, ...]] = [()] * count
        self.dtypes = ["?"] * count
        self.values: list[Look | None] = [None] * count
        self.grads: list[Look | None] = [None] * count
        self.amounts: dict[int, Look] = {}
        self.groups, self.calls = [""] * count, [""] * count
        self.sites: list[Site | None] = [None] * count
        self.saved = np.zeros(count, np.int64)
        self.order: list[int] = []
        self.names: dict[int, str] = {}
        self.samples: dict[int, tuple[Any, Any]] = {}
        self.starts = [0]
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self.widths = [1] * count
        """How many outputs each has."""
        self._read(below, names, lines)

    def _read(
        self, below: Mapping[Any, Any], names: Mapping[int, str], lines: Lines | None
    ) -> None:
        place = self.place
        for index, live in enumerate(self.live):
            if self.ops[index] == LEAF:
                variable = live.variable
                self.variables[index] = variable
                self.shapes[index] = tuple(variable.shape)
                self.dtypes[index] = dtype_name(variable.dtype)
                if id(variable) in names:
                    self.names[index] = names[id(variable)]
                    self.groups[index] = self.names[index].rpartition(".")[0]
            else:
                about = outputs_of(live)
                self.widths[index] = len(about)
                if about:
                    self.shapes[index] = tuple(about[0].shape)
                    self.dtypes[index] = dtype_name(about[0].dtype)
                for node, output in below[live]:
                    self.inputs.append(NUMBER_OPERAND if node is None else place[node])
                    self.outputs.append(output)
                if lines is not None:
                    self._place(index, number_of(live), lines)
            self.starts.append(len(self.inputs))

    def _place(self, index: int, number: int, lines: Lines) -> None:
        call = lines.of(number)
        if call is None:
            return
        self.sites[index], self.calls[index] = call.site, call.name
        self.groups[index] = call.module
        if call.last - 1 == number and call.values:
            self.values[index] = call.values[0]
            if call.sample is not None:
                self.samples[index] = (call.sample, None)

    def borrow(self, other: Reading) -> bool:
        """Take lines and modules from a reading of the same program, where the graph is the same;
        a pass that nobody looked at has none of its own."""
        if self.ops != other.ops or self.inputs != other.inputs:
            return False
        self.sites, self.calls, self.groups = other.sites, other.calls, other.groups
        return True

    def borrow_what_fits(self, other: Reading) -> None:
        """The same; where the graph is another, as with rows of another length, the line of the
        ops of a kind, where all of them were made on one."""
        if self.borrow(other):
            return
        lines: dict[str, set[Any]] = {}
        for op, site, group in zip(other.ops, other.sites, other.groups):
            lines.setdefault(op, set()).add((site, group))
        for index, op in enumerate(self.ops):
            if len(found := lines.get(op, set())) == 1:
                (self.sites[index], self.groups[index]), *_ = found

    def weigh(self) -> None:
        """What autograd keeps: every storage once, with the node that keeps it first."""
        seen = {
            variable.untyped_storage().data_ptr()
            for variable in self.variables.values()
            if variable.layout is torch.strided and variable.device.type != "meta"
        }
        for index, live in enumerate(self.live):
            for _, tensor in saved_by(live):
                if tensor.layout is not torch.strided or type(tensor) not in _WEIGHED:
                    continue
                storage = tensor.untyped_storage()
                if storage.data_ptr() not in seen:
                    seen.add(storage.data_ptr())
                    self.saved[index] += storage.nbytes()

    def look_at_leaves(self) -> None:
        """The summaries of the parameters themselves."""
        for index, variable in self.variables.items():
            if variable.device.type != "meta":
                self.values[index] = look(variable)
        board.go()

    def look_at_saved(self) -> None:
        """Values by what autograd keeps, for a pass in which nobody saw them being made."""
        for index, live in enumerate(self.live):
            below = self.inputs[self.starts[index] : self.starts[index + 1]]
            for name, tensor in saved_by(live):
                if not tensor.is_floating_point():
                    continue
                if name in ("result", "output"):
                    target = index
                else:
                    position = {"other": 1, "mat2": 1, "tensor2": 1}.get(name, 0)
                    if name not in _OPERANDS or position >= len(below):
                        continue
                    target = below[position]
                    if self.ops[index] == "addmm":
                        target = below[1 if name == "mat1" else 2]
                fits = target >= 0 and self.shapes[target] == tuple(tensor.shape)
                if fits and self.values[target] is None:
                    self.values[target] = look(tensor)
        board.go()

    def whole(self) -> Pass:
        """The pass as data, when backward is over: summaries on their way are read in one go."""
        board.read()
        values = self._through_views([settled(each) for each in self.values])
        grads = [settled(each) for each in self.grads]
        amounts = {edge: found for edge, each in self.amounts.items() if (found := settled(each))}
        places: dict[Site, int] = {}
        where = [-1 if s is None else places.setdefault(s, len(places)) for s in self.sites]
        leaves = [op == LEAF for op in self.ops]
        arrays = Arrays(
            self.shapes, self.dtypes, [kind_of(op) for op in self.ops], values, grads, amounts,
            self.groups, self.calls, self.saved, self.order, parameters=self.names,
            pictures=Pictures(self.samples), added=self._added(),
        )  # fmt: skip
        starts, inputs = np.array(self.starts, np.int64), np.array(self.inputs, np.int64)
        return Pass(
            codes=np.where(leaves, LEAF_CODE, CUSTOM).astype(np.uint8),
            data=np.array([_norm(each) for each in values]),
            takes=np.ones(len(self.live), np.bool_),
            starts=starts,
            inputs=inputs,
            numbers=np.array(self._gains(arrays)),
            places=np.array(where, np.int32),
            labels=dict(self.names),
            own={i: op for i, op in enumerate(self.ops) if not leaves[i]},
            ruled=np.zeros(len(self.live), np.bool_),
            sites=list(places),
            arrays=arrays,
        )

    def _through_views(self, values: list[Summary | None]) -> list[Summary | None]:
        """A view has the numbers of what it is a view of, whichever of them was seen."""
        pairs = [
            (index, self.inputs[self.starts[index]])
            for index, op in enumerate(self.ops)
            if op in VIEWS and op != "expand" and self.inputs[self.starts[index]] >= 0
        ]
        for into, source in [*[(b, a) for a, b in reversed(pairs)], *pairs]:
            known = values[source]
            if values[into] is None and known is not None:
                if known.count == prod(self.shapes[into]):
                    values[into] = known
        return values

    def _added(self) -> set[int]:
        """The edges of operands that are only added."""
        edges = ((i, self.starts[i] + ADDED[op]) for i, op in enumerate(self.ops) if op in ADDED)
        return {edge for index, edge in edges if edge < self.starts[index + 1]}

    def _gains(self, arrays: Arrays) -> list[float]:
        """By edge: how much longer a gradient is below than above."""
        found = []
        for index in range(len(self.live)):
            above = arrays.grads[index]
            for edge in range(self.starts[index], self.starts[index + 1]):
                target = self.inputs[edge]
                amount = arrays.amount(edge, target) if target >= 0 else None
                known = amount is not None and above is not None and above.norm > 0.0
                found.append(amount.norm / above.norm if known else 0.0)  # type: ignore[union-attr]
        return found


_OPERANDS = frozenset("self input mat1 mat2 other tensor1 tensor2 weight".split())
_WEIGHED = (torch.Tensor, torch.nn.Parameter)


def _norm(seen: Summary | None) -> float:
    return float("nan") if seen is None else seen.low if seen.count == 1 else seen.norm
