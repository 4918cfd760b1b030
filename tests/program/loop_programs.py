"""Random functions with loops: nested, with carries, arrays, tables, guards and captured leaves."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_UNARY = ("tanh", "sin", "exp_small", "square", "sqrt_abs", "neg")


def _unary(rg: Any, name: str, x: Any) -> Any:
    if name == "exp_small":
        return rg.exp(x * 0.1)
    if name == "sqrt_abs":
        return rg.sqrt(abs(x) + 1.0)
    return -x if name == "neg" else getattr(rg, name)(x)


def random_function(
    rg: Any, seed: int, trips: Sequence[int] = (3, 4, 5, 7, 12, 20), deepest: int = 3
) -> tuple[Callable[..., Any], Any]:
    """A function of (Z, a, b) with loops, and a list of the leaves it captures.

    ``trips`` are the rounds that outer loops may have, ``deepest`` the levels of loops.
    """
    chance = random.Random(seed)
    leaves = [rg.Value(chance.uniform(0.5, 1.5), label=f"w{i}") for i in range(3)]
    data = [chance.choice((chance.uniform(-1, 1), 0.0, 1.0, 0.5)) for _ in range(40)]
    code = [_statement(chance, 0, trips, deepest) for _ in range(chance.randint(1, 4))]

    def function(Z: Any, a: Any, b: Any) -> Any:
        state = {"x": a, "y": b, "z": a * 0.5 + b}
        kept: list[Any] = []
        for statement in code:
            if not _do(rg, statement, state, kept, Z, leaves, data, 0):
                break
        total = state["x"] + state["y"] * state["z"]
        if kept:
            total = total + rg.sum(kept) * 0.01 + sum(kept[::-1]) * 0.02
        return total

    return function, leaves


def _statement(chance: random.Random, depth: int, trips: Sequence[int], deepest: int) -> Any:
    kind = chance.random()
    if depth < deepest and kind < (0.6 if depth == 0 else 0.35):
        body = [_statement(chance, depth + 1, trips, deepest) for _ in range(chance.randint(1, 4))]
        return ("for", chance.choice(trips if depth == 0 else (3, 4, 6)), body)
    target = chance.choice("xyz")
    if kind < 0.6:
        return ("unary", target, chance.choice(_UNARY), chance.choice("xyz"))
    if kind < 0.8:
        return ("binary", target, chance.choice("xyz"), chance.choice("+-*"), chance.choice("xyz"))
    what = chance.choice(("Z", "leaf", "data", "keep", "guard", "backwards"))
    return (what, target, chance.randrange(3))


def _do(rg: Any, it: Any, state: Any, kept: Any, Z: Any, leaves: Any, data: Any, k: int) -> bool:
    """Do one statement; whether to go on."""
    if it[0] == "for":
        for trip in range(it[1]):
            for inner in it[2]:
                if not _do(rg, inner, state, kept, Z, leaves, data, k * it[1] + trip):
                    return False
    elif it[0] == "unary":
        state[it[1]] = _unary(rg, it[2], state[it[3]])
    elif it[0] == "binary":
        left, right = state[it[2]], state[it[4]]
        made = left + right if it[3] == "+" else left - right if it[3] == "-" else left * right
        state[it[1]] = made * 0.5
    elif it[0] == "Z":
        state[it[1]] = state[it[1]] * 0.9 + Z[k % len(Z)]
    elif it[0] == "backwards":
        state[it[1]] = state[it[1]] - Z[-1 - k % len(Z)] * 0.3
    elif it[0] == "leaf":
        state[it[1]] = rg.tanh(state[it[1]]) * leaves[it[2]]
    elif it[0] == "data":
        state[it[1]] = state[it[1]] * data[k % len(data)] + data[(k * 7 + it[2]) % len(data)]
    elif it[0] == "keep":
        kept.append(rg.tanh(state[it[1]]))
    elif state[it[1]] > 5.0 + it[2]:
        return False
    return True


def rows_for(seed: int, count: int = 5, width: int = 12) -> tuple[Any, Any, Any]:
    """Arguments for such a function."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, width)) * 0.5, rng.normal(size=count), 0.7
