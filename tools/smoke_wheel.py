"""Try the package as it is installed, in seconds: its core, values, tensors, replay.

    python tools/smoke_wheel.py           a wheel with the native core
    python tools/smoke_wheel.py --pure    the wheel in pure Python

Needs nothing but the package, so that every wheel that is built can be tried where it was built.
"""

from __future__ import annotations

import argparse

import numpy as np

import retrograde as rg
from retrograde import value
from retrograde.cli import main as command


def try_values() -> None:
    """A pass over values, and one over tensors."""
    a, b, c = rg.Value(2.0), rg.Value(-3.0), rg.Value(10.0)
    ((a * b + c) * (a + b)).backward()
    assert (a.grad, b.grad, c.grad) == (7.0, 2.0, -1.0)
    w = rg.Tensor([[1.0, 2.0], [3.0, 4.0]])
    (w @ w).sum().backward()
    assert np.array_equal(w.grad, [[7.0, 11.0], [9.0, 13.0]])


def try_replay() -> None:
    """A compiled function with a branch, over more rows than one thread takes, at every level."""

    @rg.compile
    def price(spot: rg.Value, strike: float) -> rg.Value:
        return (spot - strike).exp() if spot < strike else rg.log(spot) * spot

    spots = np.linspace(0.5, 1.5, 20_011)
    levels = ["base"]
    if value.core_name == "native":
        levels.append("")
    found = []
    for level in levels:
        if value.core_name == "native":
            value.native_core.use_kernels(level)
        values, slopes = price.value_and_grad(spots, 1.0, wrt="spot")
        found.append(np.concatenate([values, slopes]))
    low = spots < 1.0
    assert np.allclose(found[0][: len(spots)][low], np.exp(spots[low] - 1.0), rtol=1e-14)
    assert np.allclose(found[0][len(spots) :][~low], np.log(spots[~low]) + 1.0, rtol=1e-14)
    assert found[0].tobytes() == found[-1].tobytes(), "the SIMD levels differ"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pure", action="store_true", help="expect the pure-Python core")
    wanted = "reference" if parser.parse_args().pure else "native"
    command(["info"])
    assert value.core_name == wanted, f"{value.core_name}: {value.core_reason}"
    try_values()
    try_replay()
    print(f"\nthe {value.core_name} core works")


if __name__ == "__main__":
    main()
