"""A story's numbers: columns of values, and the backward pass over them.

Readers of graphs and of programs fill the columns; the pass is worked out here, once for both.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .entries import Place

Rule = Callable[[int, float], "tuple[tuple[float, ...], Sequence[float | None]]"]
"""Of an op whose rule is a Python function: (value, upstream) -> its partials and contributions."""


@dataclass
class Columns:
    """The story's values, one entry each: what a reader of graphs or programs fills in.

    ``kinds`` say how an op's rule behaves (``ops/words.py``). A custom op has the op "custom" and
    its own name as symbol.
    """

    ops: list[str]
    symbols: list[str]
    labels: list[str | None]
    names: list[str]
    named: list[bool]
    data: list[float]
    inputs: list[tuple[int, ...]]
    partials: list[tuple[float, ...]]
    requires_grad: list[bool]
    places: list[int]
    sites: list[Place]

    @classmethod
    def empty(cls) -> Columns:
        """Columns to be filled in."""
        return cls([], [], [], [], [], [], [], [], [], [], [])


class Pulled:
    """The backward pass over columns: gradients, and each contribution with the running gradient.

    The additions are the core's, in its order, so every number has the core's bits.
    ``custom`` gives the contributions of an op whose rule is a Python function.
    """

    def __init__(self, columns: Columns, seed: float, custom: Rule | None = None) -> None:
        count = len(columns.ops)
        inputs, partials, takes = columns.inputs, columns.partials, columns.requires_grad
        grads = [0.0] * count
        if count:
            grads[count - 1] += seed
        self.order = array("q")  # the value of each step
        self.starts = array("q", [0])  # where its contributions begin
        self.to, self.positions = array("q"), array("q")
        self.amounts, self.befores, self.afters = array("d"), array("d"), array("d")
        to, positions = self.to.append, self.positions.append
        amounts, befores, afters = self.amounts.append, self.befores.append, self.afters.append
        for index in range(count - 1, -1, -1):
            operands = inputs[index]
            if not operands or not takes[index]:
                continue
            upstream = grads[index]
            slopes = partials[index]
            if not slopes and custom is not None:
                partials[index], found = custom(index, upstream)
            else:
                found = [slope * upstream for slope in slopes]
            for position, (operand, amount) in enumerate(zip(operands, found)):
                if takes[operand] and amount is not None:
                    before = grads[operand]
                    grads[operand] = after = before + amount
                    to(operand)
                    positions(position)
                    amounts(amount)
                    befores(before)
                    afters(after)
            self.order.append(index)
            self.starts.append(len(self.to))
        self.grads = grads
