"""The programs that are recorded once and replayed over rows, and their inputs.

Each is plain scalar Python on values, as a user would write it for `rg.compile`: one row in, one
number out. What the peers make of the same mathematics lives in replay_peers.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import retrograde as rg

SEED = 4
STEPS = 252
OPERATIONS_A_STEP = 5
"""Of `asian`: multiply, add, exp, multiply, add."""


def black_scholes(S: Any, K: Any, r: Any, sigma: Any, T: Any) -> Any:  # noqa: N803
    """The price of a European call."""
    deviation = sigma * rg.sqrt(T)
    d1 = (rg.log(S / K) + (r + 0.5 * sigma**2) * T) / deviation
    d2 = d1 - deviation
    return S * rg.norm_cdf(d1) - K * rg.exp(-r * T) * rg.norm_cdf(d2)


def asian(Z: Sequence[Any], S0: Any, K: Any, r: Any, sigma: Any, T: Any) -> Any:  # noqa: N803
    """The discounted payoff of an arithmetic Asian call on one path of normals."""
    dt = T / len(Z)
    drift = (r - 0.5 * sigma**2) * dt
    volatility = sigma * rg.sqrt(dt)
    price, total = S0, 0.0
    for z in Z:
        price = price * rg.exp(drift + volatility * z)
        total = total + price
    return rg.exp(-r * T) * rg.maximum(total / len(Z) - K, 0.0)


@dataclass(frozen=True, slots=True)
class Rows:
    """A program with the inputs of all its rows, in the order of its parameters.

    An array has a row along axis 0; a float is the same for all rows.
    """

    name: str
    title: str
    row: str
    """What one row is called."""
    function: Callable[..., Any]
    inputs: dict[str, Any]
    wrt: tuple[str, ...]
    """The parameters to which it is differentiated."""
    count: int

    @property
    def stem(self) -> str:
        """The name as it is spelled in C."""
        return self.name.replace("-", "_")

    @property
    def arguments(self) -> tuple[Any, ...]:
        return tuple(self.inputs.values())

    def expected(self, row: int) -> tuple[float, list[float]]:
        """Value and gradients of one row, by eager values."""
        arguments = {name: _one_row(it, row) for name, it in self.inputs.items()}
        leaves = {name: rg.Value(arguments[name]) for name in self.wrt}
        root = self.function(**{**arguments, **leaves})
        root.backward()
        return float(root.data), [leaf.grad for leaf in leaves.values()]


def black_scholes_rows(count: int = 1_000_000) -> Rows:
    """Calls around the money, months to years to go."""
    draw = np.random.default_rng(SEED).uniform
    inputs = {
        "S": draw(80.0, 120.0, count),
        "K": draw(80.0, 120.0, count),
        "r": draw(0.0, 0.08, count),
        "sigma": draw(0.1, 0.5, count),
        "T": draw(0.1, 2.0, count),
    }
    title = "Black-Scholes call, 5 sensitivities"
    return Rows("black-scholes", title, "row", black_scholes, inputs, tuple(inputs), count)


def asian_rows(count: int = 20_000, steps: int = STEPS) -> Rows:
    """Paths of daily steps over a year."""
    normals = np.random.default_rng(SEED).standard_normal((count, steps))
    market = {"S0": 100.0, "K": 100.0, "r": 0.03, "sigma": 0.2, "T": 1.0}
    title = f"arithmetic Asian call, {steps} steps, 5 sensitivities"
    return Rows("asian", title, "path", asian, {"Z": normals, **market}, tuple(market), count)


def _one_row(argument: Any, row: int) -> Any:
    return argument[row].tolist() if isinstance(argument, np.ndarray) else argument
