"""A book of barrier options with all its sensitivities, written with plain `if`s.

Each row is one contract on one simulated path. The function returns where the contract ends: a
knock-out pays its rebate at the hit, a knock-in that was never hit pays nothing, and the payoff is
a call's or a put's. Every row takes its own way through these branches, at the speed of replay.

Run it: python examples/barrier_book.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import retrograde as rg

STEPS, PATHS = 50, 20_000
CONTRACTS = [  # strike, barrier, rebate, is it a call, does the barrier switch it on
    (100.0, 120.0, 2.0, 1, 0),
    (100.0, 85.0, 0.0, 0, 0),
    (105.0, 115.0, 0.0, 1, 1),
    (95.0, 80.0, 1.0, 0, 1),
]


@rg.compile
def payoff(
    spot: Any, vol: Any, rate: Any, strike: Any, barrier: Any, rebate: Any,
    is_call: Any, knocks_in: Any, draws: Any,
) -> Any:  # fmt: skip
    """The discounted payoff of one contract on one path over a year."""
    dt = 1.0 / len(draws)
    above = spot < barrier  # hit from below
    price, is_in = spot, False
    for day, draw in enumerate(draws):
        price = price * rg.exp((rate - 0.5 * vol**2) * dt + vol * dt**0.5 * draw)
        if (price >= barrier) if above else (price <= barrier):
            if knocks_in == 0:
                return rebate * rg.exp(-rate * dt * (day + 1))
            is_in = True
            break
    if knocks_in == 1 and not is_in:
        return 0.0
    for draw in draws[day + 1 :]:
        price = price * rg.exp((rate - 0.5 * vol**2) * dt + vol * dt**0.5 * draw)
    gain = price - strike if is_call == 1 else strike - price
    return rg.exp(-rate) * rg.maximum(gain, 0.0)


def main() -> dict[str, Any]:
    """Value the book and print it."""
    draws = np.random.default_rng(7).standard_normal((PATHS, STEPS))
    names = ("value", "delta", "vega", "rho")
    print(f"{'contract':34}" + "".join(f"{name:>10}" for name in names))
    book = {}
    for strike, barrier, rebate, is_call, knocks_in in CONTRACTS:
        value, slopes = payoff.value_and_grad(
            100.0, 0.2, 0.03, strike, barrier, rebate, is_call, knocks_in, draws,
            wrt=("spot", "vol", "rate"), reduce="mean",
        )  # fmt: skip
        kind = f"{'call' if is_call else 'put'} {strike:.0f}, {'in' if knocks_in else 'out'}"
        title = f"{kind} at {barrier:.0f}, rebate {rebate:.0f}"
        print(f"{title:34}" + "".join(f"{number:10.4f}" for number in (value, *slopes)))
        book[title] = (value, *slopes)
    print(f"{len(payoff.traces)} ways through the branches; the first lines of explain():")
    print("\n".join(payoff.explain().splitlines()[:4]))
    return book


if __name__ == "__main__":
    main()
