"""Logistic regression on a CSV: the O-rings of the space shuttle and the cold morning of its end.

    python examples/logistic_regression.py

The Challenger was launched at 31 °F, colder than any flight before. What did the 23 flights before
say about the chance of damage? The loss is minimised by L-BFGS; its Hessian gives standard errors.
"""

from __future__ import annotations

import argparse
import csv
import math
from pathlib import Path

import numpy as np

import retrograde as rg

DATA = Path(__file__).parent / "data" / "challenger.csv"
Rows = list[tuple[float, int]]


def read(path: Path) -> Rows:
    with open(path, newline="", encoding="utf-8") as file:
        return [(float(row["temperature"]), int(row["distress"])) for row in csv.DictReader(file)]


def loss_of(parameters: list, rows: Rows, centre: float):
    """Minus the log-likelihood: softplus of the score on the wrong side, added up."""
    level, slope = parameters
    scores = [level + slope * (t - centre) for t, _ in rows]
    return rg.sum([rg.softplus(-s if hit else s) for s, (_, hit) in zip(scores, rows)])


def fit(rows: Rows) -> tuple[float, float, float]:
    """The level at the mean temperature, the slope, and the mean temperature."""
    centre = sum(t for t, _ in rows) / len(rows)  # centred, the two parameters hardly interact
    level, slope = rg.Value(0.0, label="level"), rg.Value(0.0, label="slope")
    optimizer = rg.optim.LBFGS(
        [level, slope], max_iter=100, tolerance_change=1e-14, line_search_fn="strong_wolfe"
    )

    def closure():
        optimizer.zero_grad()
        loss = loss_of([level, slope], rows, centre)
        loss.backward()
        return loss

    optimizer.step(closure)
    return level.data, slope.data, centre


def standard_errors(level: float, slope: float, rows: Rows, centre: float) -> list[float]:
    """Roots of the diagonal of the inverse Hessian."""
    hessian = rg.hessian(lambda p: loss_of(p, rows, centre))([level, slope])
    return [math.sqrt(v) for v in np.diag(np.linalg.inv(np.array(hessian)))]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", default=DATA, type=Path)
    parser.add_argument("--at", type=float, default=31.0, help="temperature to ask about")
    options = parser.parse_args(arguments)
    rows = read(options.file)
    level, slope, centre = fit(rows)
    errors = standard_errors(level, slope, rows, centre)
    print(f"{len(rows)} flights, {sum(hit for _, hit in rows)} with distress")
    print(f"intercept {level - slope * centre:8.4f}")
    print(f"slope     {slope:8.4f} per °F, standard error {errors[1]:.4f}")
    chance = 1 / (1 + math.exp(-(level + slope * (options.at - centre))))
    print(f"chance of distress at {options.at:g} °F: {chance:.2%}")


if __name__ == "__main__":
    main()
