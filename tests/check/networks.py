"""Healthy networks of random shape, and the faults that are put into them.

A network is built from a seed: its widths, its activation, its loss, its data. ``between`` is
called on what each layer gives, so that a fault can sit at any place.
"""

from __future__ import annotations

import random

ACTIVATIONS = ("relu", "tanh", "sigmoid", "gelu", "silu", "leaky_relu", "softplus")


class Network:
    """A multilayer perceptron with parameters named by layer, its data, and its loss."""

    def __init__(self, rg, seed, activation=None, depth=None, rows=None):
        source = self.source = random.Random(seed)
        self.rg = rg
        self.activation = activation or source.choice(ACTIVATIONS)
        self.task = source.choice(("regression", "logistic", "hinge", "classes"))
        depth = depth or source.randint(2, 4)
        self.rows = rows or source.randint(12, 20)
        outputs = 3 if self.task == "classes" else 1
        self.widths = [source.randint(2, 4), *(source.randint(4, 7) for _ in range(depth))]
        self.widths.append(outputs)
        self.scalar = source.random() < 0.5  # sums written out, or one dot a unit
        self.residual = source.random() < 0.25
        self.penalty = source.random() < 0.4
        self.layers = [self._layer(a, b) for a, b in zip(self.widths, self.widths[1:])]
        self.data = [[source.gauss(0, 1) for _ in range(self.widths[0])] for _ in range(self.rows)]
        self.labels = [self._label(x) for x in self.data]

    def _layer(self, inputs, outputs):
        scale = (2.0 / inputs) ** 0.5 if "relu" in self.activation else (1.0 / inputs) ** 0.5
        if self.activation == "sigmoid":
            scale *= 3.0
        make = self.rg.Value
        weights = [
            [make(self.source.gauss(0, scale)) for _ in range(inputs)] for _ in range(outputs)
        ]
        biases = [make(self.source.gauss(0, 0.1)) for _ in range(outputs)]
        return {"w": weights, "b": biases}

    def _label(self, x):
        score = x[0] - 0.5 * x[-1] + 0.3 * x[0] * x[-1]
        if self.task == "regression":
            return score
        if self.task == "classes":
            return 0 if score < -0.5 else 1 if score < 0.5 else 2
        return 1.0 if score > 0 else -1.0

    @property
    def parameters(self):
        return {f"layer{i}": layer for i, layer in enumerate(self.layers)}

    def values(self):
        return [v for layer in self.layers for ws in (*layer["w"], layer["b"]) for v in ws]

    def unit(self, weights, bias, xs):
        if self.scalar:
            return sum((w * x for w, x in zip(weights, xs)), bias)
        return self.rg.dot(weights, xs) + bias

    def forward(self, xs, between=None):
        act = getattr(self.rg, self.activation)
        last = len(self.layers) - 1
        for i, layer in enumerate(self.layers):
            zs = [self.unit(ws, b, xs) for ws, b in zip(layer["w"], layer["b"])]
            if i < last:
                zs = [act(z) for z in zs]
            if self.residual and len(zs) == len(xs) and 0 < i < last:
                zs = [z + x for z, x in zip(zs, xs)]
            xs = zs if between is None else between(i, zs)
        return xs

    def row_loss(self, out, label):
        rg = self.rg
        if self.task == "regression":
            return (out[0] - label) ** 2
        if self.task == "logistic":
            return rg.softplus(-label * out[0])
        if self.task == "hinge":
            return rg.relu(1.0 - label * out[0])
        return rg.logsumexp(out) - out[label]

    def loss(self, between=None):
        rows = [self.row_loss(self.forward(x, between), y) for x, y in zip(self.data, self.labels)]
        loss = sum(rows) * (1.0 / len(rows))
        if self.penalty:
            loss = loss + 1e-3 * sum(p * p for p in self.values())
        return loss


def train(network, steps, rate=0.05, between=None, zero=True):
    """Plain gradient descent; with ``zero=False`` nobody resets the gradients."""
    parameters = network.values()
    for _ in range(steps):
        loss = network.loss(between)
        if zero:
            for p in parameters:
                p.grad = 0.0
        loss.backward()
        for p in parameters:
            p.data -= rate * p.grad
    return loss
