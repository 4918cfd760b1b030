"""Pure Python at its smallest: the class that `retrograde demo` is timed against.

It has what a small network needs and nothing else, in the style people write it in by hand: every
operation keeps its inputs and its local gradients, and backward orders the graph by recursion.
"""

from __future__ import annotations


class PlainValue:
    """A number that remembers what it was made from."""

    __slots__ = ("data", "grad", "inputs", "partials")

    def __init__(
        self,
        data: float,
        inputs: tuple[PlainValue, ...] = (),
        partials: tuple[float, ...] = (),
    ) -> None:
        self.data, self.grad, self.inputs, self.partials = data, 0.0, inputs, partials

    def __add__(self, other: PlainValue | float) -> PlainValue:
        if not isinstance(other, PlainValue):
            other = PlainValue(other)
        return PlainValue(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other: PlainValue | float) -> PlainValue:
        if not isinstance(other, PlainValue):
            other = PlainValue(other)
        return PlainValue(self.data * other.data, (self, other), (other.data, self.data))

    __radd__, __rmul__ = __add__, __mul__

    def relu(self) -> PlainValue:
        """The number, or zero where it is negative."""
        return PlainValue(max(0.0, self.data), (self,), (float(self.data > 0.0),))

    def backward(self) -> None:
        """Add this value's gradient into everything under it."""
        order: list[PlainValue] = []
        seen = set()

        def visit(value: PlainValue) -> None:
            if value not in seen:
                seen.add(value)
                for operand in value.inputs:
                    visit(operand)
                order.append(value)

        visit(self)
        self.grad = 1.0
        for value in reversed(order):
            for operand, partial in zip(value.inputs, value.partials):
                operand.grad += partial * value.grad


def count_operations(root: PlainValue) -> int:
    """How many values under a root were made from others."""
    seen, waiting, operations = {root}, [root], 0
    while waiting:
        value = waiting.pop()
        operations += bool(value.inputs)
        fresh = set(value.inputs) - seen
        seen |= fresh
        waiting.extend(fresh)
    return operations
