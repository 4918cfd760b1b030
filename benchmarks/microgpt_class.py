"""A scalar autodiff class in the style of microgpt: it stands for "pure Python" in every ratio.

Each operation stores its inputs and its local gradients; backward orders the graph by
recursion and then only multiplies and adds. Nothing here is tuned for or against the
comparison. The recursive function of `backward` refers to itself, so its list of the graph
lives until the cycle collector runs, as it does in the programs this class stands for.
"""

from __future__ import annotations

import math

Number = float | int


class Value:
    """A number that remembers what it was made from."""

    __slots__ = ("_children", "_local_grads", "data", "grad")

    def __init__(
        self,
        data: Number,
        children: tuple[Value, ...] = (),
        local_grads: tuple[Number, ...] = (),
    ) -> None:
        self.data = data
        self.grad: Number = 0
        self._children = children
        self._local_grads = local_grads

    def __add__(self, other: Value | Number) -> Value:
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), (1, 1))

    def __mul__(self, other: Value | Number) -> Value:
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, power: Number) -> Value:
        return Value(self.data**power, (self,), (power * self.data ** (power - 1),))

    def exp(self) -> Value:
        result = math.exp(self.data)
        return Value(result, (self,), (result,))

    def log(self) -> Value:
        return Value(math.log(self.data), (self,), (1 / self.data,))

    def relu(self) -> Value:
        return Value(max(0, self.data), (self,), (float(self.data > 0),))

    def __neg__(self) -> Value:
        return self * -1

    def __radd__(self, other: Number) -> Value:
        return self + other

    def __rmul__(self, other: Number) -> Value:
        return self * other

    def __sub__(self, other: Value | Number) -> Value:
        return self + (-other)

    def __rsub__(self, other: Number) -> Value:
        return other + (-self)

    def __truediv__(self, other: Value | Number) -> Value:
        return self * other**-1

    def __rtruediv__(self, other: Number) -> Value:
        return other * self**-1

    def backward(self) -> None:
        order: list[Value] = []
        visited: set[Value] = set()

        def visit(value: Value) -> None:
            if value not in visited:
                visited.add(value)
                for child in value._children:
                    visit(child)
                order.append(value)

        visit(self)
        self.grad = 1
        for value in reversed(order):
            for child, local_grad in zip(value._children, value._local_grads):
                child.grad += local_grad * value.grad


def count_operations(root: Value) -> int:
    """How many operations were recorded under `root`: values that were made from others."""
    seen = {root}
    waiting = [root]
    operations = 0
    while waiting:
        value = waiting.pop()
        operations += bool(value._children)
        for child in value._children:
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return operations
