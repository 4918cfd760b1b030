from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(eq=False)
class Node:
    data: float
    grad: float = 0.0
    parents: tuple = ()
    op: str = ""
    name: str = ""
    _back: Callable = field(default=lambda: None, repr=False)

    def __add__(self, other):
        other = other if isinstance(other, Node) else Node(float(other))
        out = Node(self.data + other.data, parents=(self, other), op="+")

        def back():
            self.grad += out.grad
            other.grad += out.grad

        out._back = back
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Node) else Node(float(other))
        out = Node(self.data * other.data, parents=(self, other), op="*")

        def back():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._back = back
        return out

    __radd__ = __add__
    __rmul__ = __mul__

    def backward(self):
        order, seen = [], set()

        def visit(n):
            if id(n) not in seen:
                seen.add(id(n))
                for p in n.parents:
                    visit(p)
                order.append(n)

        visit(self)
        self.grad = 1.0
        for n in reversed(order):
            n._back()


x, y = Node(2.0, name="x"), Node(5.0, name="y")
z = x * y + 3 * x
z.backward()
print(x.name, x.data, x.grad)
print(y.name, y.data, y.grad)
print(z.op, [p.op for p in z.parents], z.data)
