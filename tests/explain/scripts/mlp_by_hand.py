"""A multilayer perceptron written by hand, with lists and comprehensions, trained in a loop."""

import random

import retrograde as rg

random.seed(7)
xs = [[2.0, 3.0], [3.0, -1.0], [0.5, 1.0], [1.0, 1.0]]
ys = [1.0, -1.0, -1.0, 1.0]

sizes = [2, 3, 1]
weights = [
    [[rg.Value(random.uniform(-1, 1)) for _ in range(inputs)] for _ in range(outputs)]
    for inputs, outputs in zip(sizes, sizes[1:])
]
biases = [[rg.Value(0.0) for _ in range(outputs)] for outputs in sizes[1:]]


def forward(x):
    for w, b in zip(weights, biases):
        x = [(sum(wi * xi for wi, xi in zip(row, x)) + bi).tanh() for row, bi in zip(w, b)]
    return x[0]


for step in range(5):
    predictions = [forward(x) for x in xs]
    loss = sum((p - y) ** 2 for p, y in zip(predictions, ys))
    for layer in weights:
        for row in layer:
            for p in row:
                p.grad = 0.0
    loss.backward()
    for layer in weights:
        for row in layer:
            for p in row:
                p.data -= 0.05 * p.grad
