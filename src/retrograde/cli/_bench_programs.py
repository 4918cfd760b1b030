"""The programs that `retrograde bench` times: plain scalar Python on values, and their inputs.

Inputs come from a fixed seed, so every run and every engine sees the same numbers. How the other
engines spell the same programs is in `_bench_peers.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .._values.elementwise import exp, log, maximum, norm_cdf, sqrt

SEED: Final = 1
STEPS: Final = 252

Array = NDArray[np.float64]
Inputs = dict[str, Any]  # arguments by name, in order: arrays of rows, or the same number for all


@dataclass(frozen=True)
class Program:
    """A program, its inputs, and how many rows of it are worth the time."""

    key: str
    title: str
    unit: str
    function: Callable[..., Any]
    sensitivities: tuple[str, ...]
    inputs: Callable[[int], Inputs]
    rows: int
    quick_rows: int
    eager_rows: int
    share: int  # `--rows N` means N // share rows of this program


def call_price(S: Any, K: Any, r: Any, sigma: Any, T: Any) -> Any:  # noqa: N803  the usual names
    """A call option by the formula of Black and Scholes."""
    spread = sigma * sqrt(T)
    d1 = (log(S / K) + (r + 0.5 * sigma**2) * T) / spread
    return S * norm_cdf(d1) - K * exp(-r * T) * norm_cdf(d1 - spread)


def asian_price(Z: Any, S0: Any, K: Any, r: Any, sigma: Any, T: Any) -> Any:  # noqa: N803
    """A call option on the average of one path, which the normal draws ``Z`` make."""
    step = T / len(Z)
    drift, spread = (r - 0.5 * sigma**2) * step, sigma * sqrt(step)
    spot, total = S0, 0.0
    for z in Z:
        spot = spot * exp(drift + spread * z)
        total = total + spot
    return exp(-r * T) * maximum(total / len(Z) - K, 0.0)


def _call_inputs(rows: int) -> Inputs:
    source = np.random.default_rng(SEED)
    ranges = {"S": (80, 120), "K": (80, 120), "r": (0.0, 0.06), "sigma": (0.1, 0.5), "T": (0.1, 2)}
    return {name: source.uniform(low, high, rows) for name, (low, high) in ranges.items()}


def _asian_inputs(paths: int) -> Inputs:
    draws = np.random.default_rng(SEED).standard_normal((paths, STEPS))
    return {"Z": draws, "S0": 100.0, "K": 100.0, "r": 0.03, "sigma": 0.2, "T": 1.0}


PROGRAMS: Final = (
    Program(
        key="black_scholes",
        title="Black-Scholes call",
        unit="row",
        function=call_price,
        sensitivities=("S", "K", "r", "sigma", "T"),
        inputs=_call_inputs,
        rows=100_000,
        quick_rows=20_000,
        eager_rows=500,
        share=1,
    ),
    Program(
        key="asian",
        title=f"Asian call, {STEPS} steps",
        unit="path",
        function=asian_price,
        sensitivities=("S0", "K", "r", "sigma", "T"),
        inputs=_asian_inputs,
        rows=10_000,
        quick_rows=2_000,
        eager_rows=20,
        share=10,
    ),
)
