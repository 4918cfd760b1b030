"""Implied volatility: a root found by Newton's method inside the function.

The function that prices an option is differentiated inside the loop, the loop ends when the price
fits, and the whole is compiled: the implied volatilities of a million quotes, and how they move
with every input, with plain `while` and `if`.

Run it: python examples/newton_root.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import retrograde as rg


def black_scholes(S: Any, K: Any, r: Any, sigma: Any, T: Any) -> Any:  # noqa: N803
    """The price of a European call."""
    spread = sigma * rg.sqrt(T)
    d1 = (rg.log(S / K) + (r + 0.5 * sigma**2) * T) / spread
    return S * rg.norm_cdf(d1) - K * rg.exp(-r * T) * rg.norm_cdf(d1 - spread)


@rg.compile
def implied_volatility(price: Any, S: Any, K: Any, r: Any, T: Any) -> Any:  # noqa: N803
    """The volatility at which the formula gives the price; 0 where no volatility does."""
    if price <= S - K * rg.exp(-r * T) or price >= S:
        return 0.0
    slope = rg.value_and_grad(lambda sigma: black_scholes(S, K, r, sigma, T))
    sigma = rg.sqrt(2.0 * abs(rg.log(S / K) + r * T) / T + 0.01)  # above the inflection
    for _ in range(20):
        value, vega = slope(sigma)
        error = value - price
        sigma = sigma - error / vega
        if abs(error) < 1e-10:
            break
    return sigma


def main() -> dict[str, Any]:
    """Quotes made from known volatilities; the roots must be those."""
    random, rows = np.random.default_rng(5), 200_000
    S, K = 100.0, random.uniform(80.0, 125.0, rows)  # noqa: N806
    sigma, T = random.uniform(0.1, 0.6, rows), random.uniform(0.2, 2.0, rows)  # noqa: N806
    quotes = rg.compile(black_scholes)(S, K, 0.02, sigma, T)
    found, (to_price, to_spot) = implied_volatility.value_and_grad(
        quotes, S, K, 0.02, T, wrt=("price", "S")
    )
    worst = float(np.max(np.abs(found - sigma)))
    print(f"{rows:,} quotes, worst error of a volatility {worst:.1e}")
    print(f"{'strike':>9}{'price':>9}{'vol':>8}{'d/d price':>11}{'d/d spot':>10}")
    for row in range(5):
        numbers = K[row], quotes[row], found[row], to_price[row], to_spot[row]
        print("{:9.2f}{:9.4f}{:8.4f}{:11.5f}{:10.5f}".format(*numbers))
    print(f"{len(implied_volatility.traces)} ways through the function")
    return {"worst": worst, "vega": 1.0 / to_price, "sigma": sigma, "K": K, "T": T, "S": S}


if __name__ == "__main__":
    main()
