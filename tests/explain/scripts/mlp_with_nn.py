"""The same with modules: rg.nn.MLP, a loss of the library, an optimizer."""

import random

import retrograde as rg

random.seed(7)
xs = [[2.0, 3.0, -1.0], [3.0, -1.0, 0.5], [0.5, 1.0, 1.0], [1.0, 1.0, -1.0]]
ys = [1.0, -1.0, -1.0, 1.0]

model = rg.nn.MLP(3, [4, 4, 1])
optimizer = rg.optim.SGD(model.parameters(), lr=0.05)

for _ in range(5):
    predictions = [model(x) for x in xs]
    loss = rg.mean([(p - y) ** 2 for p, y in zip(predictions, ys)])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
