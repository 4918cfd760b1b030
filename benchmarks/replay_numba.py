"""The two programs as scalar loops with the adjoint by hand, for numba to compile.

Plain functions of arrays: nothing of numba is imported here.
"""

from __future__ import annotations

from math import erfc, exp, log, pi, sqrt
from typing import Any

import numpy as np

ONE_OVER_SQRT_2PI = 1.0 / sqrt(2.0 * pi)
SQRT_HALF = sqrt(0.5)


def black_scholes(s: Any, k: Any, r: Any, sigma: Any, t: Any) -> Any:
    """The value and its derivatives to the five arguments."""
    rows = s.shape[0]
    value, to_s, to_k = np.empty(rows), np.empty(rows), np.empty(rows)
    to_r, to_sigma, to_t = np.empty(rows), np.empty(rows), np.empty(rows)
    for i in range(rows):
        root_t = sqrt(t[i])
        deviation = sigma[i] * root_t
        d1 = (log(s[i] / k[i]) + r[i] * t[i]) / deviation + 0.5 * deviation
        n1, n2 = 0.5 * erfc(-d1 * SQRT_HALF), 0.5 * erfc((deviation - d1) * SQRT_HALF)
        strike = exp(-r[i] * t[i]) * n2
        owed = k[i] * strike
        to_deviation = s[i] * ONE_OVER_SQRT_2PI * exp(-0.5 * d1 * d1)
        value[i] = s[i] * n1 - owed
        to_s[i] = n1
        to_k[i] = -strike
        to_r[i] = owed * t[i]
        to_sigma[i] = to_deviation * root_t
        to_t[i] = 0.5 * to_deviation * sigma[i] / root_t + r[i] * owed
    return value, to_s, to_k, to_r, to_sigma, to_t


def asian(z: Any, spot: float, strike: float, r: float, sigma: float, t: float) -> Any:
    """The payoff of every path and its derivatives to the market."""
    paths, steps = z.shape
    value, to_spot, to_strike = np.empty(paths), np.empty(paths), np.empty(paths)
    to_r, to_sigma, to_t = np.empty(paths), np.empty(paths), np.empty(paths)
    prices = np.empty(steps)
    dt = t / steps
    root_dt = sqrt(dt)
    drift, volatility = (r - 0.5 * sigma * sigma) * dt, sigma * root_dt
    discount = exp(-r * t)
    for i in range(paths):
        price, total = spot, 0.0
        for j in range(steps):
            price *= exp(drift + volatility * z[i, j])
            prices[j] = price
            total += price
        above = total / steps - strike
        paid = discount if above >= 0.0 else 0.0
        # arriving: the adjoint of a price times the price, with a seed of one
        arriving, to_drift, to_volatility = 0.0, 0.0, 0.0
        for j in range(steps - 1, -1, -1):
            arriving += prices[j]
            to_drift += arriving
            to_volatility += arriving * z[i, j]
        to_drift *= paid / steps
        to_volatility *= paid / steps
        value[i] = paid * above
        to_spot[i] = paid * total / (steps * spot)
        to_strike[i] = -paid
        to_r[i] = to_drift * dt - t * value[i]
        to_sigma[i] = to_volatility * root_dt - to_drift * sigma * dt
        to_t[i] = to_drift * drift / t + to_volatility * volatility / (2.0 * t) - r * value[i]
    return value, to_spot, to_strike, to_r, to_sigma, to_t
