"""Time short calls of compiled functions: `python benchmarks/calls.py`, see README.md.

What a call costs beside the computing: the price of an option by five numbers, and by columns of a
few rows, with and without gradients; by the way that steady calls take, and by the long one. JAX,
where it is installed, as the peer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import numpy as np

import retrograde as rg

ONE = (100.0, 95.0, 0.03, 0.2, 1.0)
ROUNDS, CALLS = 15, 400
LENGTHS = (1, 10, 100, 1000)


def price(spot: Any, strike: Any, r: Any, sigma: Any, t: Any) -> Any:
    """A call option by Black and Scholes."""
    spread = sigma * rg.sqrt(t)
    d1 = (rg.log(spot / strike) + (r + 0.5 * sigma**2) * t) / spread
    return spot * rg.norm_cdf(d1) - strike * rg.exp(-r * t) * rg.norm_cdf(d1 - spread)


def microseconds(call: Callable[[], Any]) -> float:
    """The best of some rounds, a call."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = perf_counter_ns()
        for _ in range(CALLS):
            call()
        best = min(best, (perf_counter_ns() - begin) / CALLS)
    return best / 1000.0


def jax_calls() -> dict[str, Callable[[], Any]]:
    """The same by JAX, compiled; nothing where it is not installed."""
    try:
        import jax
    except ImportError:
        return {}
    jax.config.update("jax_enable_x64", True)
    norm = jax.scipy.stats.norm.cdf

    def priced(spot: Any, strike: Any, r: Any, sigma: Any, t: Any) -> Any:
        spread = sigma * jax.numpy.sqrt(t)
        d1 = (jax.numpy.log(spot / strike) + (r + 0.5 * sigma**2) * t) / spread
        return spot * norm(d1) - strike * jax.numpy.exp(-r * t) * norm(d1 - spread)

    both = jax.jit(jax.value_and_grad(priced, argnums=(0, 1, 2, 3, 4)))
    return {"JAX, value and gradients, one row": lambda: jax.block_until_ready(both(*ONE))}


def measured() -> dict[str, float]:
    """Microseconds by what is called."""
    f = rg.compile(price)
    calls: dict[str, Callable[[], Any]] = {
        "value, one row": lambda: f(*ONE),
        "value and gradients, one row": lambda: f.value_and_grad(*ONE),
        "value and gradients, one row, the long way": lambda: f.value_and_grad(*ONE, weights=[1.0]),
    }
    for length in LENGTHS:
        columns = [np.full(length, number) for number in ONE]
        name = f"value and gradients, {length} rows in arrays"
        calls[name] = lambda columns=columns: f.value_and_grad(*columns)
    calls |= jax_calls()
    for call in calls.values():
        call()  # recorded and compiled once
    return {name: microseconds(call) for name, call in calls.items()}


if __name__ == "__main__":
    results = measured()
    if "--json" in sys.argv:
        print(json.dumps(results, indent=2))
    else:
        for name, taken in results.items():
            print(f"{name:48} {taken:9.2f} µs")
