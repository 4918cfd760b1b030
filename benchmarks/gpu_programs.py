"""The programs that `gpu.py` runs, and what JAX makes of the same mathematics."""

from __future__ import annotations

from typing import Any

import numpy as np
from replay_workloads import asian, black_scholes

import retrograde as rg

STEPS = 252
MARKET = (100.0, 100.0, 0.03, 0.2, 1.0)
SENSITIVITIES = ("S0", "K", "r", "sigma", "T")
HESTON = (100.0, 0.04, 1.5, 0.04, 0.3, -0.7, 0.03, 1.0)
HESTON_SENSITIVITIES = ("S0", "v0", "kappa", "theta", "xi", "rho", "r", "T")

__all__ = ["asian", "black_scholes"]


def heston(
    Z: Any,  # noqa: N803
    W: Any,  # noqa: N803
    S0: Any,  # noqa: N803
    v0: Any,
    kappa: Any,
    theta: Any,
    xi: Any,
    rho: Any,
    r: Any,
    T: Any,  # noqa: N803
) -> Any:
    """The discounted payoff of a call under Heston's model, on two paths of normals."""
    dt = T / len(Z)
    root_dt, other = rg.sqrt(dt), rg.sqrt(1 - rho * rho)
    s, v = rg.log(S0), v0
    for z, w in zip(Z, W):
        positive = rg.maximum(v, 0.0)
        root = rg.sqrt(positive + 1e-12)
        s = s + (r - 0.5 * positive) * dt + root * root_dt * z
        v = v + kappa * (theta - positive) * dt + xi * root * root_dt * (rho * z + other * w)
    return rg.exp(-r * T) * rg.maximum(rg.exp(s) - 100.0, 0.0)


def barrier(Z: Any, S0: Any, K: Any, B: Any, r: Any, sigma: Any, T: Any) -> Any:  # noqa: N803
    """An up-and-out call: every row leaves where its path crosses the barrier."""
    dt, price = T / len(Z), S0
    for z in Z:
        price = price * rg.exp((r - 0.5 * sigma**2) * dt + sigma * rg.sqrt(dt) * z)
        if price > B:
            return 0.1 * price
    return rg.maximum(price - K, 0.0) * rg.exp(-r * T)


def all_ops(x: Any, y: Any, z: Any) -> list[Any]:
    """Every op that has a value and a gradient for any arguments."""
    from retrograde.ops import OPS

    found = []
    for name, op in OPS.items():
        function = getattr(rg, name, None)
        if function is not None and op.arity <= 3 and name not in ("take", "where"):
            found.append(function(*(x, y, z)[: op.arity]))
    return found


def awkward(rows: int) -> list[Any]:
    """Numbers of every size, and those that are special."""
    draw = np.random.default_rng(7)
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 2.3e-308, 1e-310, 1.7e308,
               0.5, 2.0, 709.78, -745.1, 710.0, -746.0, 1e22, 1e300]  # fmt: skip
    quarter = rows // 4
    parts = [
        np.resize(special, rows - 3 * quarter),
        draw.normal(0, 1, quarter),
        draw.normal(0, 30, quarter),
        draw.integers(0, 1 << 64, quarter, dtype=np.uint64).view(np.float64),
    ]
    x = np.concatenate(parts)
    return [x, draw.permutation(x), draw.permutation(x)]


# ---- JAX ---------------------------------------------------------------------------------------


def jax_asian(kind: str) -> Any:
    """The Asian option, by a scan or by a cumulative sum; axis 1 of the normals is paths."""
    import jax
    import jax.numpy as jnp

    def pay(market: Any, z: Any) -> Any:
        s0, k, r, sigma, t = market
        dt = t / STEPS
        drift, vol = (r - 0.5 * sigma * sigma) * dt, sigma * jnp.sqrt(dt)
        if kind == "scan":

            def step(carried: Any, at: Any) -> Any:
                price, total = carried
                price = price * jnp.exp(drift + vol * at)
                return (price, total + price), None

            (_, total), _ = jax.lax.scan(step, (s0, 0.0), z)
        else:
            total = (s0 * jnp.exp(jnp.cumsum(drift + vol * z))).sum()
        return jnp.maximum(total / STEPS - k, 0.0) * jnp.exp(-r * t)

    return jax.jit(jax.vmap(jax.value_and_grad(pay), in_axes=(None, 1)))


def jax_heston() -> Any:
    """Heston's model by a scan."""
    import jax
    import jax.numpy as jnp

    def pay(given: Any, z: Any, w: Any) -> Any:
        s0, v0, kappa, theta, xi, rho, r, t = given
        dt = t / STEPS
        root_dt, other = jnp.sqrt(dt), jnp.sqrt(1 - rho * rho)

        def step(carried: Any, at: Any) -> Any:
            s, v = carried
            a, b = at
            positive = jnp.maximum(v, 0.0)
            root = jnp.sqrt(positive + 1e-12)
            s = s + (r - 0.5 * positive) * dt + root * root_dt * a
            v = v + kappa * (theta - positive) * dt + xi * root * root_dt * (rho * a + other * b)
            return (s, v), None

        (s, _), _ = jax.lax.scan(step, (jnp.log(s0), v0), (z, w))
        return jnp.exp(-r * t) * jnp.maximum(jnp.exp(s) - 100.0, 0.0)

    return jax.jit(jax.vmap(jax.value_and_grad(pay), in_axes=(None, 1, 1)))


def jax_black_scholes() -> Any:
    """The price of a call."""
    import jax
    import jax.numpy as jnp
    from jax.scipy.stats import norm

    def price(S: Any, K: Any, r: Any, sigma: Any, T: Any) -> Any:  # noqa: N803
        spread = sigma * jnp.sqrt(T)
        d1 = (jnp.log(S / K) + (r + 0.5 * sigma * sigma) * T) / spread
        return S * norm.cdf(d1) - K * jnp.exp(-r * T) * norm.cdf(d1 - spread)

    return jax.jit(jax.vmap(jax.value_and_grad(price, argnums=(0, 1, 2, 3, 4))))
