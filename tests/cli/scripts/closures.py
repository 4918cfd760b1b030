"""Two moons in the style of the lecture: a class of closures, a network, a training loop.

It knows nothing of retrograde. Its class has two methods that ours lacks or does otherwise.
"""

import math
import random
import sys


class Value:
    """A number with a closure that pushes its gradient down."""

    def __init__(self, data, _children=(), _op="", label=""):
        self.data = data
        self.grad = 0.0
        self._backward = lambda: None
        self._prev = set(_children)
        self._op = _op
        self.label = label

    def __repr__(self):
        return f"Value(data={self.data:.6f})"

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), "+")

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), "*")

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def __pow__(self, power):
        assert isinstance(power, (int, float))
        out = Value(self.data**power, (self,), f"**{power}")

        def _backward():
            self.grad += power * self.data ** (power - 1) * out.grad

        out._backward = _backward
        return out

    def __neg__(self):
        return self * -1

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __sub__(self, other):
        return self + (-other)

    def __truediv__(self, other):
        return self * other**-1

    def tanh(self):
        power = math.exp(2 * self.data)
        tangent = (power - 1) / (power + 1)
        out = Value(tangent, (self,), "tanh")

        def _backward():
            self.grad += (1 - tangent**2) * out.grad

        out._backward = _backward
        return out

    def gelu(self):  # the approximation by tanh: ours is exact
        return 0.5 * self * (1 + ((self + self**3 * 0.044715) * 0.7978845608).tanh())

    def swish2(self):  # ours has none
        share = 1 / (1 + math.exp(-2 * self.data))
        out = Value(self.data * share, (self,), "swish2")

        def _backward():
            self.grad += (share + 2 * self.data * share * (1 - share)) * out.grad

        out._backward = _backward
        return out

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for child in value._prev:
                    visit(child)
                order.append(value)

        visit(self)
        self.grad = 1.0
        for value in reversed(order):
            value._backward()


class Neuron:
    def __init__(self, inputs):
        self.weights = [Value(random.uniform(-1, 1)) for _ in range(inputs)]
        self.bias = Value(0.0)

    def __call__(self, x):
        return sum((w * xi for w, xi in zip(self.weights, x)), self.bias)


class Network:
    def __init__(self):
        self.hidden = [Neuron(2) for _ in range(4)]
        self.out = Neuron(4)

    def __call__(self, x):
        activations = (Value.tanh, Value.gelu, Value.swish2, Value.tanh)
        return self.out([act(unit(x)) for act, unit in zip(activations, self.hidden)])

    def parameters(self):
        return [p for unit in (*self.hidden, self.out) for p in (*unit.weights, unit.bias)]


def main(steps):
    random.seed(5)
    model = Network()
    rows = [(math.cos(k), math.sin(k) + (k % 2) * 0.4, 1 - 2 * (k % 2)) for k in range(12)]
    for step in range(steps):
        loss = sum((model((x, y)) - label) ** 2 for x, y, label in rows) / len(rows)
        for p in model.parameters():
            p.grad = 0.0
        loss.backward()
        for p in model.parameters():
            p.data -= 0.1 * p.grad
        print(f"step {step} loss {loss.data:.9f}")
    print(model.out.bias, model((0.0, 1.0)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
