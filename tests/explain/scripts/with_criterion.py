"""A training loop with helpers: the loss is made in one function and returned through another."""

import random

import retrograde as rg

random.seed(7)


class Line:
    def __init__(self):
        self.slope = rg.Value(random.uniform(-1, 1))
        self.offset = rg.Value(0.0)

    def __call__(self, x):
        return self.slope * x + self.offset


def criterion(predicted, wanted):
    errors = [(p - w) ** 2 for p, w in zip(predicted, wanted)]
    total = errors[0]
    for error in errors[1:]:
        total += error
    return total / len(errors)


def penalty(model):
    return 0.01 * (model.slope**2 + model.offset**2)


def train(model, data, steps):
    for _ in range(steps):
        xs, ys = zip(*data)
        predicted = [model(x) for x in xs]
        loss = criterion(predicted, ys)
        loss += penalty(model)
        loss.backward()
        for parameter in (model.slope, model.offset):
            parameter.data -= 0.05 * parameter.grad
            parameter.grad = 0.0


train(Line(), [(0.0, 1.0), (1.0, 3.0), (2.0, 5.0), (3.0, 7.0)], 5)
