"""Looking at a backward pass while it runs: every gradient, every contribution along an edge."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

import torch

from ..passes.summary import joined
from . import board
from ._private import saved_by
from .graph import Reading
from .kinds import LEAF, VIEWS, is_custom
from .summaries import Look, look, settled

VIEWED = (VIEWS - {"expand", "tocopy"}) | {LEAF}
"""Ops whose contribution is the gradient itself, in another shape; and leaves."""


class Oddity:
    """A contribution that is the first not to be finite: the node, the operand, and the numbers
    at the first bad place."""

    def __init__(self, node: int, position: int, at: tuple[int, ...], numbers: Any) -> None:
        self.node, self.position, self.at, self.numbers = node, position, at, numbers


class Pulling:
    """Hooks on the nodes of a pass. A value with one use takes its summary from that edge, so
    each gradient is read once; the gradient of a view is not read again. Views and leaves with one
    use need no hook: what arrives at them is known, and so is when."""

    def __init__(self, reading: Reading, sample: Any = None) -> None:
        self.reading, self.sample = reading, sample
        self.oddities: list[Oddity] = []
        self._joint: dict[int, list[Look]] = {}
        uses: dict[tuple[int, int], int] = {}
        for target, output in zip(reading.inputs, reading.outputs):
            uses[target, output] = uses.get((target, output), 0) + 1
        self._own = set(reading.roots)
        self._shared = set()
        for (target, _), count in uses.items():
            if target >= 0:
                if (
                    count > 1 or reading.widths[target] > 1
                ):  # the gradient of several outputs is all of theirs
                    self._shared.add(target)
                    self._own.add(target)
        self._told = self._known_without_hooks()
        self._handles = [
            live.register_hook(self._hook(index))
            for index, live in enumerate(reading.live)
            if not self._told[index]
        ]

    def _hook(self, index: int) -> Any:
        reading = self.reading
        grads, amounts, done = reading.grads, reading.amounts, reading.order.append
        own, told = index in self._own, self._told
        start = reading.starts[index]
        targets = [
            (edge - start, target, edge if target in self._shared else -1)
            for edge, target in enumerate(
                reading.inputs[start : reading.starts[index + 1]], start
            )
            if target >= 0
        ]  # fmt: skip

        def hook(given: Any, received: Any) -> None:
            done(index)
            if own or grads[index] is None:
                arrived = [look(each) for each in received if each is not None]
                if len(arrived) == 1:
                    grads[index] = arrived[0]
                elif arrived:
                    self._joint[index] = arrived
            if self.sample is not None and received and received[0] is not None:
                self._picture(index, received[0])
            if not given:
                return board.go()
            top, mine = received[0], grads[index]
            address = top.data_ptr() if top is not None and _is_dense(top) else -1
            for position, target, edge in targets:
                amount = given[position]
                if amount is None:
                    continue
                same = _is_dense(amount) and amount.data_ptr() == address
                if same and amount.numel() == top.numel() and amount.dtype is top.dtype:
                    seen = mine
                else:
                    seen = look(amount)
                    if seen.odd and (mine is None or not mine.odd):
                        self._note(index, position, amount, top)
                if seen is None:
                    continue
                if edge >= 0:
                    amounts[edge] = seen
                else:
                    grads[target] = seen
                    if told[target]:
                        if self.sample is not None:
                            self._picture(target, amount)
                        self._tell(target, seen)
            return board.go()

        return hook

    def _note(self, index: int, position: int, amount: Any, upstream: Any) -> None:
        if len(self.oddities) < 8:
            live = self.reading.live[index]
            self.oddities.append(oddity_of(live, index, position, amount, upstream))

    def _known_without_hooks(self) -> list[bool]:
        """By node: whether what arrives there is known from the hook above. For a picture that hook
        must be right above: below a view the same numbers lie in another shape."""
        reading, told = self.reading, [False] * len(self.reading.live)
        above = dict.fromkeys(range(len(told)), -1)
        for index in range(len(told) - 1, -1, -1):
            may = reading.ops[index] in VIEWED and index not in self._own and self._is_plain(index)
            right = self.sample is None or not told[above[index]]
            told[index] = may and right
            for target in reading.inputs[reading.starts[index] : reading.starts[index + 1]]:
                above[target] = index
        return told

    def _is_plain(self, index: int) -> bool:
        """Whether a node is a leaf, or has one operand and a rule of PyTorch's own."""
        reading = self.reading
        alone = reading.starts[index + 1] - reading.starts[index] == 1
        return reading.ops[index] == LEAF or (alone and not is_custom(reading.live[index]))

    def _picture(self, index: int, gradient: torch.Tensor) -> None:
        before, _ = self.reading.samples.get(index, (None, None))
        self.reading.samples[index] = (before, self.sample(gradient))

    def _tell(self, index: int, seen: Look) -> None:
        """The gradient of a node without a hook, for what lies below."""
        reading = self.reading
        while reading.ops[index] != LEAF:
            (edge,) = range(reading.starts[index], reading.starts[index + 1])
            index = reading.inputs[edge]
            if index < 0:
                return
            if index in self._shared:
                reading.amounts[edge] = seen
                return
            reading.grads[index] = seen
            if not self._told[index]:
                return

    def _put_in_order(self) -> None:
        """Nodes without hooks come when the engine comes to them: of those that are ready it takes
        the one that was made last, and a leaf before all others."""
        reading, told = self.reading, self._told
        hooked, order = reading.order[:], reading.order
        ops, grads, last = reading.ops, reading.grads, len(reading.live)
        order.clear()
        below = [
            [each for each in reading.inputs[begin:end] if each >= 0]
            for begin, end in pairwise(reading.starts)
        ]
        feeding = [0] * last  # by how many that have not run yet
        for index, mine in enumerate(told):
            if mine and grads[index] is not None and below[index]:
                feeding[below[index][0]] += 1
        ready: list[tuple[int, int, int]] = []

        def ran(index: int) -> None:
            order.append(index)
            for target in below[index]:
                feeding[target] -= told[index]
                if told[target] and grads[target] is not None:
                    made = last if ops[target] == LEAF else target
                    heappush(ready, (-made, len(order), target))

        for index in hooked:
            made = last if ops[index] == LEAF else index
            while ready and (-ready[0][0] > made or feeding[index]):
                ran(heappop(ready)[2])
            ran(index)
        while ready:
            ran(heappop(ready)[2])

    def remove(self) -> None:
        """Take every hook off."""
        for handle in self._handles:
            handle.remove()

    def settle(self) -> None:
        """The pass is over: gradients that came in parts are put together."""
        if any(self._told):
            self._put_in_order()
        board.read()
        for index, arrived in self._joint.items():
            parts = [found for each in arrived if (found := settled(each)) is not None]
            self.reading.grads[index] = joined(parts)


def oddity_of(live: Any, index: int, position: int, amount: Any, upstream: Any) -> Oddity:
    """What is odd in a contribution that a node hands on, while what it keeps is there."""
    amount = amount.detach().to_dense() if amount.is_sparse else amount.detach()
    at = tuple((~torch.isfinite(amount)).nonzero()[0].tolist())
    numbers = {"gradient": amount[at].item()}
    if upstream is not None and upstream.shape == amount.shape:
        numbers["upstream"] = upstream[at].item()
    for name, tensor in saved_by(live):
        if tensor.shape == amount.shape and tensor.is_floating_point():
            numbers[name] = tensor[at].item()
    return Oddity(index, position, at, numbers)


def _is_dense(t: torch.Tensor) -> bool:
    return t.layout is torch.strided and t.device.type != "meta"
