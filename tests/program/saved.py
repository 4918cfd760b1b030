"""Functions worth saving, small: what the tests and the fuzzer of program files begin with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

X = np.array([-1.5, 0.25, 3.0, 0.0])


class Point(NamedTuple):
    x: Any
    y: Any


def straight(rg: Any) -> Any:
    compiled = rg.compile(lambda x, y=2.0: x * y - x / 3.0 + abs(y))
    compiled(X)
    return compiled


def branches(rg: Any) -> Any:
    slope, bias = rg.Value(0.5, label="slope"), rg.Value(-1.0)

    def bent(x: Any) -> Any:
        if x > 1.0:
            return slope * x
        if x < 0.0:
            return bias - x * slope
        return x * x

    compiled = rg.compile(bent)
    compiled(X)
    return compiled


def loop(rg: Any) -> Any:
    def doubled(x: Any, top: Any) -> Any:
        steps = 0.0
        while x < top:
            x = x * 2.0 + 1.0
            steps = steps + x
        return steps

    compiled = rg.compile(doubled)
    compiled(np.array([0.0, 1.0, 4.0, 20.0]), 10.0)
    return compiled


def nests(rg: Any) -> Any:
    def mixed(pair: Any, table: Any, *, more: Any) -> Any:
        top = sum(pair[0]) * table[1][0]
        return {"sum": [top, more["k"] - top], 7: (pair[1],), "grid": np.array([[top, top + 1.0]])}

    compiled = rg.compile(mixed)
    table = rg.uniform(np.array([[1.0, 2.0], [3.0, 4.0]]))
    compiled((np.ones((4, 3)), X), table, more={"k": 1.5, None: [X, 2.0]})
    return compiled


def chosen(rg: Any) -> Any:
    weights = [rg.Value(1.0), rg.Value(-2.0), rg.Value(4.0)]
    compiled = rg.compile(lambda x, i: rg.take(weights, i) * x)
    compiled(X, np.array([0, 1, 2, 1]))
    return compiled


def smooth(rg: Any) -> Any:
    compiled = rg.compile(lambda v: rg.exp(-rg.dot(v, v)) * rg.sum([rg.tanh(u) for u in v]))
    compiled(np.ones((2, 3)))
    compiled([0.5, X])
    return compiled


def stopped(rg: Any) -> Any:
    def part(x: Any) -> Any:
        held = (x * x).detach()
        return rg.where(held > 1.0, x * held, held - x)

    compiled = rg.compile(part)
    compiled(X)
    return compiled


SAVED: dict[str, Callable[[Any], Any]] = {
    "straight": straight,
    "branches": branches,
    "loop": loop,
    "nests": nests,
    "chosen": chosen,
    "smooth": smooth,
    "stopped": stopped,
}
