import math
import random


class Value:
    __slots__ = ("_children", "_local_grads", "data", "grad")

    def __init__(self, data, children=(), local_grads=()):
        self.data = data
        self.grad = 0
        self._children = children
        self._local_grads = local_grads

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), (1, 1))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, other):
        return Value(self.data**other, (self,), (other * self.data ** (other - 1),))

    def log(self):
        return Value(math.log(self.data), (self,), (1 / self.data,))

    def exp(self):
        return Value(math.exp(self.data), (self,), (math.exp(self.data),))

    def relu(self):
        return Value(max(0, self.data), (self,), (float(self.data > 0),))

    def backward(self):
        topo = []
        visited = set()

        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._children:
                    build_topo(child)
                topo.append(v)

        build_topo(self)
        self.grad = 1
        for v in reversed(topo):
            for child, local_grad in zip(v._children, v._local_grads):
                child.grad += local_grad * v.grad

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


random.seed(7)
matrix = lambda nout, nin, std=0.2: [
    [Value(random.gauss(0, std)) for _ in range(nin)] for _ in range(nout)
]
vocab, width = 5, 4
state = {
    "wte": matrix(vocab, width),
    "wq": matrix(width, width),
    "wk": matrix(width, width),
    "wv": matrix(width, width),
    "head": matrix(vocab, width),
}
params = [p for mat in state.values() for row in mat for p in row]
print(f"num params: {len(params)}")


def linear(x, w):
    return [sum(wi * xi for wi, xi in zip(wo, x)) for wo in w]


def softmax(logits):
    max_val = max(val.data for val in logits)
    exps = [(val - max_val).exp() for val in logits]
    total = sum(exps)
    return [e / total for e in exps]


def rmsnorm(x):
    ms = sum(xi * xi for xi in x) / len(x)
    scale = (ms + 1e-5) ** -0.5
    return [xi * scale for xi in x]


doc = [0, 3, 1, 4, 2, 0]
m = [0.0] * len(params)
v = [0.0] * len(params)
for step in range(5):
    keys, values, losses = [], [], []
    for pos in range(len(doc) - 1):
        x = rmsnorm(state["wte"][doc[pos]])
        q, k, val = linear(x, state["wq"]), linear(x, state["wk"]), linear(x, state["wv"])
        keys.append(k)
        values.append(val)
        att = softmax([sum(a * b for a, b in zip(q, kk)) / width**0.5 for kk in keys])
        h = [sum(att[t] * values[t][j] for t in range(len(values))) for j in range(width)]
        probs = softmax(linear([a + b for a, b in zip(x, h)], state["head"]))
        losses.append(-probs[doc[pos + 1]].log())
    loss = (1 / len(losses)) * sum(losses)
    loss.backward()
    for i, p in enumerate(params):
        m[i] = 0.9 * m[i] + 0.1 * p.grad
        v[i] = 0.99 * v[i] + 0.01 * p.grad**2
        p.data -= (
            0.05
            * (m[i] / (1 - 0.9 ** (step + 1)))
            / ((v[i] / (1 - 0.99 ** (step + 1))) ** 0.5 + 1e-8)
        )
        p.grad = 0
    print(f"step {step + 1:2d} | loss {loss.data:.6f}")
