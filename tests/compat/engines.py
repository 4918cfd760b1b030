"""Two small engines in the styles everyone learns from, in our own words.

``ClosureEngine`` builds a graph of closures, as micrograd does; ``LocalGradEngine`` keeps a tuple
of local gradients beside a tuple of children, as microgpt does. Both are what programs were written
for; the tests run the same programs on them and on ``Value``.
"""

from __future__ import annotations

import math
from typing import Any


def ordered(root: Any, children: Any) -> list[Any]:
    """Everything under a root, children first. A stack in place of recursion: programs are deep."""
    done: list[Any] = []
    seen = {id(root)}
    stack = [(root, iter(children(root)))]
    while stack:
        node, rest = stack[-1]
        for child in rest:
            if id(child) not in seen:
                seen.add(id(child))
                stack.append((child, iter(children(child))))
                break
        else:
            stack.pop()
            done.append(node)
    return done


class ClosureEngine:
    """Each operation leaves behind a closure that knows how to push its gradient down."""

    def __init__(self, data, _children=(), _op="", label=""):
        self.data = data
        self.grad = 0.0
        self.label = label
        self._backward = lambda: None
        self._prev = set(_children)
        self._op = _op

    def __add__(self, other):
        other = other if isinstance(other, ClosureEngine) else ClosureEngine(other)
        out = ClosureEngine(self.data + other.data, (self, other), "+")

        def push():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = push
        return out

    def __mul__(self, other):
        other = other if isinstance(other, ClosureEngine) else ClosureEngine(other)
        out = ClosureEngine(self.data * other.data, (self, other), "*")

        def push():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = push
        return out

    def __pow__(self, power):
        assert isinstance(power, (int, float)), "powers are plain numbers here"
        out = ClosureEngine(self.data**power, (self,), f"**{power}")

        def push():
            self.grad += power * self.data ** (power - 1) * out.grad

        out._backward = push
        return out

    def relu(self):
        out = ClosureEngine(self.data if self.data > 0 else 0.0, (self,), "ReLU")

        def push():
            self.grad += (out.data > 0) * out.grad

        out._backward = push
        return out

    def tanh(self):
        result = math.tanh(self.data)
        out = ClosureEngine(result, (self,), "tanh")

        def push():
            self.grad += (1 - result**2) * out.grad

        out._backward = push
        return out

    def exp(self):
        out = ClosureEngine(math.exp(self.data), (self,), "exp")

        def push():
            self.grad += out.data * out.grad

        out._backward = push
        return out

    def log(self):
        out = ClosureEngine(math.log(self.data), (self,), "log")

        def push():
            self.grad += out.grad / self.data

        out._backward = push
        return out

    def backward(self):
        self.grad = 1.0
        for node in reversed(ordered(self, lambda node: node._prev)):
            node._backward()

    def __neg__(self):
        return self * -1

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return other + (-self)

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        return self * other**-1

    def __rtruediv__(self, other):
        return other * self**-1

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"


class LocalGradEngine:
    """Each operation leaves behind its children and one local gradient for each."""

    __slots__ = ("_children", "_local_grads", "data", "grad")

    def __init__(self, data, children=(), local_grads=()):
        self.data = data
        self.grad = 0
        self._children = children
        self._local_grads = local_grads

    def __add__(self, other):
        other = other if isinstance(other, LocalGradEngine) else LocalGradEngine(other)
        return LocalGradEngine(self.data + other.data, (self, other), (1, 1))

    def __mul__(self, other):
        other = other if isinstance(other, LocalGradEngine) else LocalGradEngine(other)
        return LocalGradEngine(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, power):
        return LocalGradEngine(self.data**power, (self,), (power * self.data ** (power - 1),))

    def log(self):
        return LocalGradEngine(math.log(self.data), (self,), (1 / self.data,))

    def exp(self):
        result = math.exp(self.data)
        return LocalGradEngine(result, (self,), (result,))

    def relu(self):
        return LocalGradEngine(max(0, self.data), (self,), (float(self.data > 0),))

    def __neg__(self):
        return self * -1

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return other + (-self)

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        return self * other**-1

    def __rtruediv__(self, other):
        return other * self**-1

    def backward(self):
        self.grad = 1
        for node in reversed(ordered(self, lambda node: node._children)):
            for child, local_grad in zip(node._children, node._local_grads):
                child.grad += local_grad * node.grad
