"""Hares and lynxes: the rates of the Lotka-Volterra equations, fitted through their solver.

    python examples/lotka_volterra.py

    hares'  = birth · hares - hunt · hares · lynxes
    lynxes' = feed · hares · lynxes - death · lynxes

The solver is plain Runge-Kutta on values, so the gradient of the misfit with respect to rates and
first populations comes out of one backward pass through all its steps.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import retrograde as rg

DATA = Path(__file__).parent / "data" / "hares.csv"
NAMES = ("birth", "hunt", "feed", "death", "hares", "lynxes")
GUESS = (0.5, 0.02, 0.02, 0.9, 30.0, 5.0)


def read(path: Path) -> list[tuple[float, float]]:
    with open(path, newline="", encoding="utf-8") as file:
        return [(float(row["hares"]), float(row["lynxes"])) for row in csv.DictReader(file)]


def slopes(state, rates):
    hares, lynxes = state
    birth, hunt, feed, death = rates
    met = hares * lynxes
    return birth * hares - hunt * met, feed * met - death * lynxes


def solve(rates, state, years: int, steps: int) -> list:
    """The populations at the end of each year, by Runge-Kutta of fourth order."""
    h = 1.0 / steps

    def moved(slope, by):
        return tuple(x + by * s for x, s in zip(state, slope))

    path = [state]
    for _ in range(years):
        for _ in range(steps):
            first = slopes(state, rates)
            second = slopes(moved(first, h / 2), rates)
            third = slopes(moved(second, h / 2), rates)
            fourth = slopes(moved(third, h), rates)
            state = tuple(
                x + h / 6 * (a + 2 * b + 2 * c + d)
                for x, a, b, c, d in zip(state, first, second, third, fourth)
            )
        path.append(state)
    return path


def misfit(logs, data: list, steps: int):
    """The mean square of the logarithmic errors; rates and populations are positive by exp."""
    numbers = [log.exp() for log in logs]
    path = solve(numbers[:4], tuple(numbers[4:]), len(data) - 1, steps)
    errors = [
        rg.log(there) - rg.log(here)
        for seen, made in zip(data, path)
        for here, there in zip(seen, made)
    ]
    return rg.dot(errors, errors) / len(errors)


def fit(data: list, steps: int, iterations: int) -> tuple[list[float], float]:
    logs = [rg.Value(rg.log(x), label=name) for x, name in zip(GUESS, NAMES)]
    optimizer = rg.optim.LBFGS(logs, max_iter=iterations, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = misfit(logs, data, steps)
        loss.backward()
        return loss

    optimizer.step(closure)
    return [log.exp().data for log in logs], closure().data


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", default=DATA, type=Path)
    parser.add_argument("--steps", type=int, default=20, help="steps of the solver a year")
    parser.add_argument("--iterations", type=int, default=100)
    options = parser.parse_args(arguments)
    data = read(options.file)
    found, loss = fit(data, options.steps, options.iterations)
    for name, number in zip(NAMES, found):
        print(f"{name:7} {number:8.4f}")
    print(f"typical error {loss**0.5:.0%}")
    path = solve(found[:4], tuple(found[4:]), len(data) - 1, options.steps)
    print("\n     hares  model   lynxes  model")
    for (hares, lynxes), (first, second) in zip(data, path):
        print(f"  {hares:8.1f} {first:6.1f} {lynxes:8.1f} {second:6.1f}")


if __name__ == "__main__":
    main()
