"""A network from micrograd's own modules, trained on four points."""

import random

from micrograd import nn
from micrograd.engine import Value

random.seed(1337)
model = nn.MLP(3, [4, 4, 1])
print(model)
print("parameters", len(model.parameters()))
points = [[2.0, 3.0, -1.0], [3.0, -1.0, 0.5], [0.5, 1.0, 1.0], [1.0, 1.0, -1.0]]
wanted = [1.0, -1.0, -1.0, 1.0]
for step in range(10):
    found = [model([Value(x) for x in point]) for point in points]
    loss = sum((f - w) ** 2 for f, w in zip(found, wanted))
    model.zero_grad()
    loss.backward()
    for p in model.parameters():
        p.data -= 0.01 * p.grad
    print(step, f"{loss.data:.9f}")
