"""Calibrate SABR to a smile of option quotes with L-BFGS.

    python examples/option_smile.py

SABR (Hagan, Kumar, Lesniewski and Woodward, 2002) gives the implied volatility of an option in
closed form. Its parameters are fitted to quotes; alpha and nu stay positive and rho between -1 and
1 because they are computed from numbers that may be anything. The quotes are made up, rounded to a
hundredth of a per cent as a screen would show them.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import retrograde as rg

FORWARD, YEARS, BETA = 0.032, 2.0, 0.5
QUOTES = [  # strike, implied volatility
    (0.017, 0.3421), (0.022, 0.2885), (0.027, 0.2491), (0.030, 0.2315), (0.032, 0.2223),
    (0.034, 0.2152), (0.037, 0.2080), (0.042, 0.2041), (0.047, 0.2064), (0.052, 0.2116),
]  # fmt: skip


@dataclass
class Fit:
    """What the calibration found; the error is the root mean square, in volatility."""

    alpha: float
    rho: float
    nu: float
    error: float
    evaluations: int


def implied_volatility(strike: float, alpha, rho, nu):
    """Hagan's formula, with the limit at the money."""
    mean = (FORWARD * strike) ** ((1 - BETA) / 2)
    log = rg.log(FORWARD / strike)
    skew = (1 - BETA) ** 2
    level = alpha / (mean * (1 + skew / 24 * log**2 + skew**2 / 1920 * log**4))
    z = nu / alpha * mean * log
    stretched = rg.log((rg.sqrt(1 - 2 * rho * z + z * z) + z - rho) / (1 - rho))
    ratio = z / stretched if log != 0.0 else 1.0
    drift = skew / 24 * alpha**2 / mean**2 + rho * BETA * nu * alpha / (4 * mean)
    return level * ratio * (1 + (drift + (2 - 3 * rho**2) / 24 * nu**2) * YEARS)


def calibrate(quotes: list[tuple[float, float]]) -> Fit:
    begin = {"log alpha": -3.0, "atanh rho": 0.0, "log nu": -1.0}
    free = [rg.Value(number, label=name) for name, number in begin.items()]
    optimizer = rg.optim.LBFGS(
        free, max_iter=200, max_eval=400, tolerance_grad=1e-12, tolerance_change=1e-16,
        line_search_fn="strong_wolfe",
    )  # fmt: skip
    evaluations = 0

    def closure():
        nonlocal evaluations
        evaluations += 1
        optimizer.zero_grad()
        model = free[0].exp(), free[1].tanh(), free[2].exp()
        errors = [100 * (implied_volatility(k, *model) - quote) for k, quote in quotes]
        loss = rg.dot(errors, errors)
        loss.backward()
        return loss

    optimizer.step(closure)
    error = (closure().data / len(quotes)) ** 0.5 / 100
    alpha, rho, nu = free[0].exp().data, free[1].tanh().data, free[2].exp().data
    return Fit(alpha, rho, nu, error, evaluations)


def main(arguments: list[str] | None = None) -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    fit = calibrate(QUOTES)
    print(f"alpha {fit.alpha:.4f}   rho {fit.rho:.4f}   nu {fit.nu:.4f}")
    print(
        f"{fit.evaluations} evaluations, root mean square error {1e4 * fit.error:.2f} basis points"
    )
    print("\nstrike   quote   model")
    for strike, quote in QUOTES:
        model = implied_volatility(strike, fit.alpha, fit.rho, fit.nu)
        print(f"{strike:6.3f}  {quote:6.2%}  {model:6.2%}")


if __name__ == "__main__":
    main()
