"""Programs as people write them on those engines. Each takes the class and nothing else of it."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from typing import Any

# ---- a network trained on two moons, micrograd's way -------------------------------------------


class Neuron:
    def __init__(self, Value, inputs, rng, nonlinear=True):
        self.weights = [Value(rng.uniform(-1, 1)) for _ in range(inputs)]
        self.bias = Value(0)
        self.nonlinear = nonlinear

    def __call__(self, x):
        activation = sum((w * xi for w, xi in zip(self.weights, x)), self.bias)
        return activation.relu() if self.nonlinear else activation

    def parameters(self):
        return [*self.weights, self.bias]


class Network:
    def __init__(self, Value, sizes, rng):
        self.layers = [
            [Neuron(Value, inputs, rng, nonlinear=index < len(sizes) - 2) for _ in range(outputs)]
            for index, (inputs, outputs) in enumerate(pairwise(sizes))
        ]

    def __call__(self, x):
        for layer in self.layers:
            x = [neuron(x) for neuron in layer]
        return x[0] if len(x) == 1 else x

    def parameters(self):
        return [p for layer in self.layers for neuron in layer for p in neuron.parameters()]

    def zero_grad(self):
        for p in self.parameters():
            p.grad = 0


def moons(count, rng):
    """Two half circles, and ±1 for which one."""
    for index in range(count):
        angle = math.pi * rng.random()
        upper = index % 2 == 0
        x = math.cos(angle) if upper else 1 - math.cos(angle)
        y = math.sin(angle) if upper else 0.5 - math.sin(angle)
        yield [x + rng.gauss(0, 0.05), y + rng.gauss(0, 0.05)], 1 if upper else -1


def train_network(Value, steps=20) -> dict[str, Any]:
    """A margin classifier with weight decay, by descent; its losses and everything it ends with."""
    rng = random.Random(1337)
    model = Network(Value, [2, 6, 6, 1], rng)
    data = list(moons(10, rng))
    losses, accuracies, history = [], [], []
    for step in range(steps):
        inputs = [list(map(Value, x)) for x, _ in data]
        scores = list(map(model, inputs))
        margins = [(1 + -y * score).relu() for (_, y), score in zip(data, scores)]
        decay = 1e-4 * sum(p * p for p in model.parameters())
        loss = sum(margins) * (1.0 / len(margins)) + decay
        accuracies.append(sum((y > 0) == (s.data > 0) for (_, y), s in zip(data, scores)))
        model.zero_grad()
        loss.backward()
        losses.append(loss.data)
        history.append([p.grad for p in model.parameters()])
        rate = 1.0 - 0.9 * step / steps
        for p in model.parameters():
            p.data -= rate * p.grad
    return {
        "losses": losses,
        "gradients": [grad for grads in history for grad in grads],
        "parameters": [p.data for p in model.parameters()],
        "accuracies": accuracies,
    }


# ---- a regression with tanh, exp and a softmax head, the lecture's way -------------------------


def train_softmax(Value, steps=10) -> dict[str, Any]:
    """Three classes from two numbers, with a tanh layer and a cross entropy spelled out."""
    rng = random.Random(7)
    hidden = [[Value(rng.gauss(0, 1)) for _ in range(3)] for _ in range(4)]
    output = [[Value(rng.gauss(0, 1)) for _ in range(5)] for _ in range(3)]
    rows = [([rng.gauss(0, 1), rng.gauss(0, 1)], index % 3) for index in range(9)]
    parameters = [p for unit in (*hidden, *output) for p in unit]
    losses, gradients = [], []
    for _ in range(steps):
        loss = 0
        for x, label in rows:
            h = [(u[0] * x[0] + u[1] * x[1] + u[2]).tanh() for u in hidden]
            logits = [sum(w * hi for w, hi in zip(o, h)) + o[4] for o in output]
            counts = [logit.exp() for logit in logits]
            loss = loss - (counts[label] / sum(counts)).log()
        loss = loss / len(rows) + 0.01 * sum(p**2 for p in parameters)
        for p in parameters:
            p.grad = 0.0
        loss.backward()
        losses.append(loss.data)
        gradients.extend(p.grad for p in parameters)
        for p in parameters:
            p.data += -0.5 * p.grad
    return {
        "losses": losses,
        "gradients": gradients,
        "parameters": [p.data for p in parameters],
    }


# ---- a character model with one layer of attention, microgpt's way -----------------------------

WORDS = ["anna", "hannah"]
EMBEDDING, HEADS, BLOCK = 8, 2, 6


def linear(x, weights):
    return [sum(wi * xi for wi, xi in zip(row, x)) for row in weights]


def softmax(logits):
    largest = max(logit.data for logit in logits)
    powers = [(logit - largest).exp() for logit in logits]
    total = sum(powers)
    return [power / total for power in powers]


def rmsnorm(x):
    mean_square = sum(xi * xi for xi in x) / len(x)
    scale = (mean_square + 1e-5) ** -0.5
    return [xi * scale for xi in x]


class CharacterModel:
    def __init__(self, Value, vocabulary, rng):
        def matrix(rows, columns, std=0.2):
            return [[Value(rng.gauss(0, std)) for _ in range(columns)] for _ in range(rows)]

        self.state = {
            "token": matrix(vocabulary, EMBEDDING),
            "position": matrix(BLOCK, EMBEDDING),
            "query": matrix(EMBEDDING, EMBEDDING),
            "key": matrix(EMBEDDING, EMBEDDING),
            "value": matrix(EMBEDDING, EMBEDDING),
            "mixed": matrix(EMBEDDING, EMBEDDING),
            "up": matrix(2 * EMBEDDING, EMBEDDING),
            "down": matrix(EMBEDDING, 2 * EMBEDDING),
            "head": matrix(vocabulary, EMBEDDING),
        }

    def parameters(self):
        return [p for table in self.state.values() for row in table for p in row]

    def attend(self, x, keys, values):
        """Attention of one place to itself and those before it."""
        query = linear(x, self.state["query"])
        keys.append(linear(x, self.state["key"]))
        values.append(linear(x, self.state["value"]))
        width = EMBEDDING // HEADS
        heads = []
        for head in range(HEADS):
            part = slice(head * width, (head + 1) * width)
            scores = [
                sum(q * k for q, k in zip(query[part], key[part])) / width**0.5 for key in keys
            ]
            shares = softmax(scores)
            heads.extend(
                sum(share * value[part][j] for share, value in zip(shares, values))
                for j in range(width)
            )
        return linear(heads, self.state["mixed"])

    def logits(self, token, place, keys, values):
        x = [t + p for t, p in zip(self.state["token"][token], self.state["position"][place])]
        x = rmsnorm(x)
        x = [a + b for a, b in zip(self.attend(rmsnorm(x), keys, values), x)]
        h = [hi.relu() ** 2 for hi in linear(rmsnorm(x), self.state["up"])]
        x = [a + b for a, b in zip(linear(h, self.state["down"]), x)]
        return linear(x, self.state["head"])


def train_characters(Value, steps=5) -> dict[str, Any]:
    """Steps of Adam on one word each; losses, gradients and parameters."""
    rng = random.Random(42)
    letters = sorted(set("".join(WORDS)))
    end = len(letters)
    model = CharacterModel(Value, end + 1, rng)
    parameters = model.parameters()
    first, second = [0.0] * len(parameters), [0.0] * len(parameters)
    losses, gradients = [], []
    for step in range(steps):
        word = WORDS[step % len(WORDS)]
        tokens = [end, *(letters.index(letter) for letter in word), end]
        count = min(BLOCK, len(tokens) - 1)
        keys, values, parts = [], [], []
        for place in range(count):
            shares = softmax(model.logits(tokens[place], place, keys, values))
            parts.append(-shares[tokens[place + 1]].log())
        loss = (1 / count) * sum(parts)
        loss.backward()
        losses.append(loss.data)
        gradients.extend(p.grad for p in parameters)
        rate = 0.05 * (1 - step / (steps + 1))
        for i, p in enumerate(parameters):
            first[i] = 0.9 * first[i] + 0.1 * p.grad
            second[i] = 0.95 * second[i] + 0.05 * p.grad**2
            up = first[i] / (1 - 0.9 ** (step + 1))
            down = second[i] / (1 - 0.95 ** (step + 1))
            p.data -= rate * up / (down**0.5 + 1e-8)
            p.grad = 0
    return {
        "losses": losses,
        "gradients": gradients,
        "parameters": [p.data for p in parameters],
    }


# ---- what scripts read from a graph ------------------------------------------------------------


def trace(root):
    """The nodes and edges of a graph, as drawing scripts collect them."""
    nodes, edges = set(), set()

    def build(value):
        if value not in nodes:
            nodes.add(value)
            for child in value._prev:
                edges.add((child, value))
                build(child)

    build(root)
    return nodes, edges


def dot_source(root):
    """A drawing in the language of Graphviz, with a box a value and a circle an operation."""
    nodes, edges = trace(root)
    lines = ["digraph {", "  rankdir=LR"]
    for node in nodes:
        name = str(id(node))
        text = "{ %s | data %.4f | grad %.4f }" % (node.label, node.data, node.grad)  # noqa: UP031
        lines.append(f'  "{name}" [label="{text}" shape=record]')
        if node._op:
            lines.append(f'  "{name}{node._op}" [label="{node._op}"]')
            lines.append(f'  "{name}{node._op}" -> "{name}"')
    for child, value in edges:
        lines.append(f'  "{id(child)}" -> "{id(value)}{value._op}"')
    return "\n".join([*lines, "}"])


def backward_by_closures(root):
    """A backward pass of the script's own, by calling ``_backward`` node by node."""
    order, seen = [], set()

    def build(value):
        if value not in seen:
            seen.add(value)
            for child in value._prev:
                build(child)
            order.append(value)

    build(root)
    root.grad = 1.0
    for value in reversed(order):
        value._backward()
    return order


def backward_by_local_grads(root):
    """A backward pass of the script's own, from ``_children`` and ``_local_grads``."""
    order, seen = [], set()

    def build(value):
        if value not in seen:
            seen.add(value)
            for child in value._children:
                build(child)
            order.append(value)

    build(root)
    root.grad = 1
    for value in reversed(order):
        for child, local_grad in zip(value._children, value._local_grads):
            child.grad += local_grad * value.grad
    return order
