"""The programs the pictures and pages of these tests are made from."""

from __future__ import annotations

import random
from typing import Any


def walkthroughs(rg: Any) -> dict[str, Any]:
    """The examples every course uses, as roots."""
    made = {}
    a, b, c = (rg.Value(x, label=name) for name, x in (("a", 2.0), ("b", -3.0), ("c", 10.0)))
    made["sum-times-c"] = (a + b) * c
    d = rg.Value(10.0, label="d")
    made["relu"] = (a * b + d).relu()
    made["product-plus-c"] = a * b + c
    made["a-plus-a"] = a + a
    made["meeting"] = (a * b + c) * (a + b)
    for root in made.values():
        root.label = "L"
    return made


def layers(rg: Any, depth: int = 12, width: int = 16, points: int = 8) -> Any:
    """A deep network in scalars, labelled as models are: about 54,000 values at full size."""
    numbers = random.Random(1)
    weights = [
        [
            [rg.Value(numbers.gauss(0, 0.5), label=f"layer{k}.w[{i}][{j}]") for j in range(width)]
            for i in range(width)
        ]
        for k in range(depth)
    ]
    biases = [[rg.Value(0.1, label=f"layer{k}.b[{i}]") for i in range(width)] for k in range(depth)]
    total = rg.Value(0.0, label="start")
    for point in range(points):
        xs = [rg.Value(numbers.gauss(0, 1), label=f"x[{point}][{i}]") for i in range(width)]
        for w, bias in zip(weights, biases):
            outputs = []
            for i in range(width):
                gathered = bias[i]
                for j in range(width):
                    gathered = gathered + w[i][j] * xs[j]
                outputs.append(gathered.tanh())
            xs = outputs
        for x in xs:
            total = total + x * x
    total.label = "loss"
    return total


def every_op(rg: Any, shift: float = 0.0) -> tuple[Any, list[Any]]:
    """One root over every row of the law, sum and dot, and its leaves; each row twice, so that
    gradients add up. ``shift`` moves each leaf within its domain, by a share of its width."""
    leaves, results = [], []
    for op in rg.ops.values():
        if op.absent:
            continue
        point = []
        for low, high in op.domain:
            at = low + (high - low) * (0.37 + shift)
            point.append(rg.Value(at, label=f"{op.name}.{op.inputs[len(point)]}"))
        leaves += point
        result = getattr(rg, op.name)(*point)
        results.append(result)
        results.append(result * 0.5)
    weights = [rg.Value(0.1 * i, label=f"weight[{i}]") for i in range(len(results))]
    return rg.dot(weights, results) + rg.sum(results), leaves
