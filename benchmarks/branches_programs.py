"""Programs with branches, as plain scalar Python for `rg.compile`, and their inputs.

What the peers make of the same mathematics, with masks or by hand, lives in branches_peers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import retrograde as rg

STEPS = 100
MOST_STEPS = 96
"""Of the integrator: masked peers always take so many."""
FLOOR = 1e-8
"""The least variance, where its square root still has a derivative."""


def heston(S0, v0, kappa, theta, xi, Z1, Z2, K, B, r, rho, dt):  # type: ignore[no-untyped-def]  # noqa: N803
    """An up-and-out call on one path: worthless from the step at which it crosses the barrier."""
    root, other = dt**0.5, (1.0 - rho * rho) ** 0.5
    S, v = S0, v0  # noqa: N806
    for a, b in zip(Z1, Z2):
        variance = rg.maximum(v, FLOOR)
        deviation = rg.sqrt(variance) * root
        S = S * rg.exp((r - 0.5 * variance) * dt + deviation * a)  # noqa: N806
        if S > B:
            return 0.0
        v = v + kappa * (theta - variance) * dt + xi * deviation * (rho * a + other * b)
    return rg.exp(-r * dt * len(Z1)) * rg.maximum(S - K, 0.0)


def residual(p, t, y):  # type: ignore[no-untyped-def]
    """Half the squared error of four damped waves with twelve parameters, at one point."""
    model = 0.0
    for a, b, c in zip(p[0::3], p[1::3], p[2::3]):
        model = model + a * rg.exp(-b * t) * rg.sin(c * t)
    return 0.5 * (model - y) ** 2


def decay(y0, rate, level, h):  # type: ignore[no-untyped-def]
    """When a decaying quantity falls below a level: Runge-Kutta steps, then a secant."""
    y, t = y0, 0.0
    while y > level:
        before = y
        k1 = -rate * y * (1.0 + 0.1 * y)
        middle = y + 0.5 * h * k1
        k2 = -rate * middle * (1.0 + 0.1 * middle)
        y = y + h * k2
        t = t + h
    return t - h * (level - y) / (before - y)


@dataclass(frozen=True, slots=True)
class Program:
    """A program with the inputs of all its rows; ``second`` asks for the Hessian."""

    name: str
    title: str
    function: Callable[..., Any]
    inputs: dict[str, Any]
    wrt: Any
    count: int
    second: bool = False


def heston_rows(count: int = 20_000) -> Program:
    """Paths of a hundred steps over a year; a fifth of them are knocked out."""
    draw = np.random.default_rng(11).standard_normal
    market = {"S0": 100.0, "v0": 0.04, "kappa": 1.5, "theta": 0.04, "xi": 0.3}
    rest = {"K": 100.0, "B": 125.0, "r": 0.02, "rho": -0.6, "dt": 1.0 / STEPS}
    normals = {"Z1": draw((count, STEPS)), "Z2": draw((count, STEPS))}
    title = f"Heston up-and-out call, {STEPS} steps, 5 sensitivities"
    return Program("heston", title, heston, {**market, **normals, **rest}, tuple(market), count)


def residual_rows(count: int = 10_000) -> Program:
    """Noisy points of the model itself."""
    random = np.random.default_rng(12)
    p = np.array([1.0, 0.5, 1.0, 0.8, 0.3, 2.0, 0.5, 0.2, 3.0, 0.3, 0.1, 4.0])
    inputs = {"p": p, "t": random.uniform(0.0, 5.0, count), "y": random.standard_normal(count)}
    title = "least-squares residual of 12 parameters, Hessian"
    return Program("residual", title, residual, inputs, "p", count, second=True)


def decay_rows(count: int = 100_000) -> Program:
    """Quantities that take from 4 to about 80 steps."""
    random = np.random.default_rng(13)
    inputs = {
        "y0": random.uniform(1.2, 4.0, count),
        "rate": random.uniform(0.5, 1.5, count),
        "level": 1.0,
        "h": 0.03,
    }
    title = "time to a level, as many steps as it takes, 2 sensitivities"
    return Program("decay", title, decay, inputs, ("y0", "rate"), count)


PROGRAMS = {"heston": heston_rows, "residual": residual_rows, "decay": decay_rows}
