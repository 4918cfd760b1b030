import math

TAPE = []


class Value:
    def __init__(self, data):
        self.data = data
        self.grad = 0.0

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data)

        def step():
            self.grad += out.grad
            other.grad += out.grad

        TAPE.append(step)
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data)

        def step():
            self.grad += out.grad * other.data
            other.grad += out.grad * self.data

        TAPE.append(step)
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t)
        TAPE.append(lambda: setattr(self, "grad", self.grad + (1 - t * t) * out.grad))
        return out

    def backward(self):
        self.grad = 1.0
        for step in reversed(TAPE):
            step()


w, b = Value(0.3), Value(-0.1)
for epoch in range(5):
    TAPE.clear()
    w.grad = b.grad = 0.0
    out = (w * 1.5 + b).tanh()
    loss = (out + -0.8) * (out + -0.8)
    loss.backward()
    print(epoch, len(TAPE), loss.data, w.grad, b.grad)
    w.data -= 0.5 * w.grad
    b.data -= 0.5 * b.grad
