"""Print a fingerprint of the bits that the native core computes, a line each.

    python tools/fingerprints.py [LEVEL]      '' is the best SIMD level of the processor

Every row of the law and its partials over awkward and ordinary numbers, matrix products and sums
of many shapes, and compiled programs over rows. NaNs count as equal: their signs are the
processor's. What the C library computes (values made one by one) is not among it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import numpy as np

import retrograde as rg
from retrograde import value
from retrograde.ops import OPS

AWKWARD = (
    0.0, -0.0, 1.0, -1.0, 0.5, 2.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 2.2e-308,
    1e308, -1e308, 1e16, 0.1, -3.7, math.pi, 709.8, -745.2, 1e-300, 27.3, -27.3, 1e5, 1e22,
)  # fmt: skip
ROWS = 1037

WRAPPED: dict[int, Callable[[Any], Any]] = {
    1: lambda f: lambda x: f(x),
    2: lambda f: lambda x, y: f(x, y),
    3: lambda f: lambda x, y, z: f(x, y, z),
}
"""A function of a row, as one that has a signature."""


def fingerprint(array: Any) -> str:
    """A hash of the bits, every NaN as the same one."""
    numbers = np.array(array, dtype=np.float64)
    numbers[np.isnan(numbers)] = np.nan
    return sha256(numbers.tobytes()).hexdigest()[:16]


def operands(arity: int) -> list[Any]:
    """Columns for an op: awkward numbers against each other, then drawn ones of all magnitudes.

    Nothing here comes from functions of NumPy or the C library, whose last bits are the machine's.
    """
    grids = np.meshgrid(*[np.array(AWKWARD[: 25 if arity < 3 else 11])] * arity)
    draw = np.random.default_rng(arity)
    size = (arity, ROWS)
    drawn = np.ldexp(draw.uniform(-2.0, 2.0, size), draw.integers(-12, 13, size))
    return [np.concatenate([grid.ravel(), extra]) for grid, extra in zip(grids, drawn)]


def rows_of_the_law() -> Iterator[tuple[str, str]]:
    """Values and partials of every row, as replay computes them."""
    for op in OPS.values():
        columns = operands(op.arity)
        function = rg.compile(WRAPPED[op.arity](getattr(rg, op.name)))
        found = [function(*columns)]
        try:
            _, slopes = function.value_and_grad(*columns)
            found += list(slopes) if op.arity > 1 else [np.asarray(slopes)]
        except rg.RetrogradeError:  # a partial that nobody can state
            pass
        yield op.name, fingerprint(np.concatenate([np.ravel(part) for part in found]))


def products() -> Iterator[tuple[str, str]]:
    """Matrix products, also of turned and of spread operands, and sums."""
    draw = np.random.default_rng(5)
    for m, k, n in ((1, 7, 5), (3, 1, 4), (5, 9, 2), (13, 64, 11), (33, 257, 18), (40, 1500, 24)):
        a, b = draw.uniform(-2.0, 2.0, (m, k)), draw.uniform(-2.0, 2.0, (k, n))
        x, y = rg.Tensor(a), rg.Tensor(b)
        z = x @ y
        (z * z).sum().backward()
        yield f"product {m}x{k}x{n}", fingerprint(np.concatenate([
            np.ravel(z.data), np.ravel(x.grad), np.ravel(y.grad),
            np.ravel((rg.Tensor(b.T.copy()).T * 1.0 + y).data), np.ravel(x.sum().data),
        ]))  # fmt: skip


def programs() -> Iterator[tuple[str, str]]:
    """Compiled functions with branches and loops, over rows, one row, and summed."""

    def option(spot: Any, strike: Any, vol: Any, rate: Any) -> Any:
        scale = vol * rg.sqrt(0.75)
        d = (rg.log(spot / strike) + (rate + vol * vol / 2.0) * 0.75) / scale
        return spot * rg.norm_cdf(d) - strike * rg.exp(-rate * 0.75) * rg.norm_cdf(d - scale)

    def walk(x: Any, y: Any) -> Any:
        for i in range(40):
            x = (x * 0.5 + y).tanh() if i % 3 else rg.maximum(x - y, 0.1) * 1.01
        return x if x > y else x * y + rg.lgamma(y * y + 1.0)

    draw = np.random.default_rng(6)
    spots, vols = draw.uniform(60.0, 140.0, ROWS), draw.uniform(0.05, 0.6, ROWS)
    for name, function, columns in (
        ("option", option, (spots, 100.0, vols, 0.03)),
        ("walk", walk, (draw.uniform(-2.0, 2.0, ROWS), draw.uniform(-2.0, 2.0, ROWS))),
    ):
        compiled = rg.compile(function)
        values, slopes = compiled.value_and_grad(*columns)
        yield f"{name} over rows", fingerprint(np.concatenate([values, *map(np.ravel, slopes)]))
        total, sums = compiled.value_and_grad(*columns, reduce="sum")
        yield f"{name} summed", fingerprint(np.concatenate([[total], *map(np.ravel, sums)]))
        one = [float(np.ravel(column)[0]) for column in columns]
        at, slope = compiled.value_and_grad(*one)
        yield f"{name} of one row", fingerprint([at, *slope])


def main(level: str = "") -> None:
    """Run from the command line."""
    value.native_core.use_kernels(level)
    for part in (rows_of_the_law, products, programs):
        for name, found in part():
            print(f"{found}  {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
