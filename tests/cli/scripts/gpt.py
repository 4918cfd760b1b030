"""A character model with one layer of attention, flat as such scripts are: its own class, its own
Adam, one word a step. It knows nothing of retrograde.
"""

import math
import random
import sys

random.seed(42)
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 3
words = ["anna", "hannah", "nina", "ian", "hal", "lina"]
letters = sorted(set("".join(words)))
end = len(letters)
vocabulary = end + 1


class Value:
    """A number that remembers its children and the local gradients towards them."""

    __slots__ = ("data", "grad", "_children", "_local_grads")

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

    def __pow__(self, power):
        return Value(self.data**power, (self,), (power * self.data ** (power - 1),))

    def log(self):
        return Value(math.log(self.data), (self,), (1 / self.data,))

    def exp(self):
        return Value(math.exp(self.data), (self,), (math.exp(self.data),))

    def relu(self):
        return Value(max(0, self.data), (self,), (float(self.data > 0),))

    def __neg__(self): return self * -1
    def __radd__(self, other): return self + other
    def __sub__(self, other): return self + (-other)
    def __rsub__(self, other): return other + (-self)
    def __rmul__(self, other): return self * other
    def __truediv__(self, other): return self * other**-1
    def __rtruediv__(self, other): return other * self**-1

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for child in value._children:
                    visit(child)
                order.append(value)

        visit(self)
        self.grad = 1
        for value in reversed(order):
            for child, local in zip(value._children, value._local_grads):
                child.grad += local * value.grad


width, heads, context = 16, 4, 8
inner = width // heads
matrix = lambda rows, columns: [[Value(random.gauss(0, 0.1)) for _ in range(columns)] for _ in range(rows)]
tables = {"wte": matrix(vocabulary, width), "wpe": matrix(context, width), "head": matrix(vocabulary, width)}
for kind in ("wq", "wk", "wv", "wo"):
    tables[f"layer0.{kind}"] = matrix(width, width)
tables["layer0.up"] = matrix(4 * width, width)
tables["layer0.down"] = matrix(width, 4 * width)
params = [p for table in tables.values() for row in table for p in row]


def linear(x, table):
    return [sum(w * xi for w, xi in zip(row, x)) for row in table]


def softmax(scores):
    top = max(score.data for score in scores)
    powers = [(score - top).exp() for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def normed(x):
    scale = (sum(xi * xi for xi in x) / len(x) + 1e-5) ** -0.5
    return [xi * scale for xi in x]


def logits_of(token, place, keys, values):
    x = normed([t + p for t, p in zip(tables["wte"][token], tables["wpe"][place])])
    before, x = x, normed(x)
    query = linear(x, tables["layer0.wq"])
    keys.append(linear(x, tables["layer0.wk"]))
    values.append(linear(x, tables["layer0.wv"]))
    mixed = []
    for head in range(heads):
        part = slice(head * inner, (head + 1) * inner)
        scores = [sum(q * k for q, k in zip(query[part], key[part])) / inner**0.5 for key in keys]
        shares = softmax(scores)
        mixed += [sum(share * value[part][j] for share, value in zip(shares, values)) for j in range(inner)]
    x = [a + b for a, b in zip(linear(mixed, tables["layer0.wo"]), before)]
    hidden = [h.relu() ** 2 for h in linear(normed(x), tables["layer0.up"])]
    x = [a + b for a, b in zip(linear(hidden, tables["layer0.down"]), x)]
    return linear(x, tables["head"])


first, second = [0.0] * len(params), [0.0] * len(params)
print(f"{len(params)} parameters, {len(words)} words")
for step in range(steps):
    word = words[step % len(words)]
    tokens = [end, *map(letters.index, word), end]
    count = min(context, len(tokens) - 1)
    keys, values, losses = [], [], []
    for place in range(count):
        shares = softmax(logits_of(tokens[place], place, keys, values))
        losses.append(-shares[tokens[place + 1]].log())
    loss = (1 / count) * sum(losses)
    loss.backward()
    rate = 0.01 * (1 - step / steps)
    for i, p in enumerate(params):
        first[i] = 0.85 * first[i] + 0.15 * p.grad
        second[i] = 0.99 * second[i] + 0.01 * p.grad**2
        up = first[i] / (1 - 0.85 ** (step + 1))
        p.data -= rate * up / ((second[i] / (1 - 0.99 ** (step + 1))) ** 0.5 + 1e-8)
        p.grad = 0
    print(f"step {step + 1} / {steps} | loss {loss.data:.8f}")

for sample in range(3):
    keys, values, token, text = [], [], end, ""
    for place in range(context):
        shares = softmax([logit / 0.5 for logit in logits_of(token, place, keys, values)])
        token = random.choices(range(vocabulary), weights=[share.data for share in shares])[0]
        if token == end:
            break
        text += letters[token]
    print(f"sample {sample + 1}: {text}")
