import math

from helpers_colour import Lehmer, colour, draw

random = Lehmer(42)


class Value:
    """stores a single scalar value and its gradient"""

    def __init__(self, data, _prev=(), _op=""):
        self.data = data
        self.grad = 0
        self._backward = lambda: None
        self._prev = _prev
        self._op = _op

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"

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

    def __pow__(self, other):
        assert isinstance(other, (int, float)), "only supporting int/float powers for now"
        out = Value(self.data**other, (self,), f"**{other}")

        def _backward():
            self.grad += other * (self.data ** (other - 1)) * out.grad

        out._backward = _backward
        return out

    def tanh(self):
        x = self.data
        t = (math.exp(2 * x) - 1) / (math.exp(2 * x) + 1)
        out = Value(t, (self,), "tanh")

        def _backward():
            self.grad += (1 - t**2) * out.grad

        out._backward = _backward
        return out

    def exp(self):
        out = Value(math.exp(self.data), (self,), "exp")

        def _backward():
            self.grad += out.data * out.grad

        out._backward = _backward
        return out

    def relu(self):
        out = Value(0 if self.data < 0 else self.data, (self,), "ReLU")

        def _backward():
            self.grad += (out.data > 0) * out.grad

        out._backward = _backward
        return out

    def log(self):
        out = Value(math.log(self.data), (self,), "log")

        def _backward():
            self.grad += (1 / self.data) * out.grad

        out._backward = _backward
        return out

    def backward(self):
        topo = []
        visited = set()

        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build_topo(child)
                topo.append(v)

        build_topo(self)
        self.grad = 1.0
        for node in reversed(topo):
            node._backward()

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return other + (-self)

    def __truediv__(self, other):
        return self * other**-1

    def __rtruediv__(self, other):
        return other * self**-1


class Neuron:
    def __init__(self, nin, nonlin=True):
        self.w = [Value(random.uniform(-1, 1) * nin**-0.5) for _ in range(nin)]
        self.b = Value(0)
        self.nonlin = nonlin
        colour([self.b] + self.w, "lightgreen")

    def __call__(self, x):
        act = sum((wi * xi for wi, xi in zip(self.w, x)), self.b)
        return act.tanh() if self.nonlin else act

    def parameters(self):
        return self.w + [self.b]


def cross_entropy(logits, target):
    ex = [x.exp() for x in logits]
    denom = sum(ex)
    probs = [x / denom for x in ex]
    return -(probs[target]).log()


class AdamW:
    def __init__(self, parameters, lr=1e-1, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0):
        self.parameters, self.lr, self.eps, self.weight_decay = parameters, lr, eps, weight_decay
        self.beta1, self.beta2 = betas
        self.t = 0
        for p in self.parameters:
            p.m = 0
            p.v = 0

    def step(self):
        self.t += 1
        for p in self.parameters:
            if p.grad is None:
                continue
            p.m = self.beta1 * p.m + (1 - self.beta1) * p.grad
            p.v = self.beta2 * p.v + (1 - self.beta2) * (p.grad**2)
            m_hat = p.m / (1 - self.beta1**self.t)
            v_hat = p.v / (1 - self.beta2**self.t)
            p.data -= self.lr * (m_hat / (v_hat**0.5 + 1e-8) + self.weight_decay * p.data)

    def zero_grad(self):
        for p in self.parameters:
            p.grad = 0


data = [([random.uniform(-2, 2), random.uniform(-2, 2)], k % 3) for k in range(12)]
hidden = [Neuron(2) for _ in range(4)]
out = [Neuron(4, nonlin=False) for _ in range(3)]
params = [p for n in hidden + out for p in n.parameters()]
optimizer = AdamW(params, lr=1e-1, weight_decay=1e-4)
for step in range(6):
    total = Value(0.0)
    for x, y in data:
        h = [n(x) for n in hidden]
        total = total + cross_entropy([n(h) for n in out], y)
    loss = total * (1.0 / len(data))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step + 1}, train loss {loss.data}")
x, y = (Value(0.0), Value(0.0)), 0
loss = cross_entropy([n([n2(x) for n2 in hidden]) for n in out], y)
loss.backward()
try:
    colour(x, "lightblue")
    print(draw(loss))
except Exception:
    print("no drawing")
