"""What the tests of programs share: functions worth compiling, eager results to hold replays
against, programs run by the executor, and the SIMD levels of this machine.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings

import retrograde
from retrograde import value
from retrograde.program import replay
from retrograde.program.layout import laid_out
from retrograde.program.program import CAPTURED, ROW, SEED, Program

from ..test_random_programs import absolute_adjoint

steady = partial(
    settings,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

TOLERANCE = 1e-13
"""Of the absolute adjoint: what a replay and an eager run may differ by."""


def numbers(rows: int, low: float = -3.0, high: float = 3.0, seed: int = 0) -> Any:
    """A column of numbers, the same ones every time."""
    return np.random.default_rng(seed).uniform(low, high, rows)


def bits(thing: Any) -> Any:
    """An array or number as whole numbers: equal where and only where the bits are."""
    return np.ascontiguousarray(thing, dtype=np.float64).view(np.int64)


def same(one: Any, other: Any) -> bool:
    """Whether two arrays or numbers have the same bits, any NaN the same as any other."""
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if one.shape != other.shape:
        return False
    return bool(np.all((bits(one) == bits(other)) | (np.isnan(one) & np.isnan(other))))


# ---- functions worth compiling -------------------------------------------------------------------


def black_scholes(rg: Any) -> Callable[..., Any]:
    def price(S: Any, K: Any, r: Any, sigma: Any, T: Any) -> Any:
        spread = sigma * rg.sqrt(T)
        d1 = (rg.log(S / K) + (r + 0.5 * sigma**2) * T) / spread
        return S * rg.norm_cdf(d1) - K * rg.exp(-r * T) * rg.norm_cdf(d1 - spread)

    return price


def asian(rg: Any) -> Callable[..., Any]:
    def price(S: Any, r: Any, sigma: Any, noise: Any) -> Any:
        step = 1.0 / len(noise)
        total = 0.0
        for draw in noise:
            S = S * rg.exp((r - 0.5 * sigma**2) * step + sigma * step**0.5 * draw)
            total = total + S
        return rg.exp(-r) * rg.maximum(total * step - 1.0, 0.0)

    return price


def network(rg: Any) -> Callable[..., Any]:
    def loss(x: Any, y: Any, layer: Any) -> Any:
        hidden = [rg.tanh(rg.dot(row, [x, y, 1.0])) for row in layer]
        shares = rg.softmax(hidden)
        return rg.logsumexp([h * s for h, s in zip(hidden, shares)]) + rg.mean(hidden) ** 2

    return loss


def choices(rg: Any) -> Callable[..., Any]:
    def choose(x: Any, y: Any) -> Any:
        inside = (x > -1.0) & (y <= 1.0) | (x == y)
        bent = rg.where(inside, x * y, rg.relu(x) - rg.abs(y))
        return rg.clip(bent, -2.0, 2.0) + rg.leaky_relu(y) * rg.minimum(x, y)

    return choose


def polynomial(rg: Any) -> Callable[..., Any]:
    def value_at(x: Any, a: Any) -> Any:
        return a * x**3 - x**2 / 7.0 + a**-2 + 2.0**x - x**1.5

    return value_at


@dataclass(frozen=True)
class Case:
    """A function of numbers, and columns to run it on: an array a row argument, else a number."""

    make: Callable[[Any], Callable[..., Any]]
    columns: Callable[[int], dict[str, Any]]


CASES = {
    "black_scholes": Case(
        black_scholes,
        lambda rows: {
            "S": numbers(rows, 60.0, 140.0, 1), "K": numbers(rows, 80.0, 120.0, 2), "r": 0.03,
            "sigma": numbers(rows, 0.1, 0.5, 3), "T": numbers(rows, 0.2, 2.0, 4),
        },
    ),
    "asian": Case(
        asian,
        lambda rows: {
            "S": numbers(rows, 0.8, 1.4, 5), "r": 0.02, "sigma": numbers(rows, 0.1, 0.4, 6),
            "noise": np.random.default_rng(7).normal(size=(rows, 12)),
        },
    ),
    "network": Case(
        network,
        lambda rows: {
            "x": numbers(rows, seed=8), "y": numbers(rows, seed=9),
            "layer": [[0.3, -0.7, 0.1], [1.1, 0.4, -0.2], [-0.6, 0.9, 0.5]],
        },
    ),
    "choices": Case(
        choices,
        lambda rows: {"x": numbers(rows, seed=10), "y": numbers(rows, seed=11)},
    ),
    "polynomial": Case(
        polynomial, lambda rows: {"x": numbers(rows, 0.1, 3.0, 12), "a": 0.7}
    ),
}  # fmt: skip


# ---- eager results -------------------------------------------------------------------------------


def flat(nest: Any) -> list[Any]:
    """The items of a nest in order; of an array, what lies along its axes after the first."""
    if isinstance(nest, dict):
        return [item for part in nest.values() for item in flat(part)]
    if isinstance(nest, (list, tuple)):
        return [item for part in nest for item in flat(part)]
    if isinstance(nest, np.ndarray) and nest.ndim == 2:
        return list(nest.T)
    return [nest]


def row_of(rg: Any, nest: Any, row: int, leaves: list[Any]) -> Any:
    """The argument of one row as values, each of which is added to the leaves."""
    if isinstance(nest, dict):
        return {key: row_of(rg, part, row, leaves) for key, part in nest.items()}
    if isinstance(nest, (list, tuple)):
        return type(nest)([row_of(rg, part, row, leaves) for part in nest])
    if isinstance(nest, np.ndarray) and nest.ndim == 2:
        return [row_of(rg, float(item), row, leaves) for item in nest[row]]
    leaves.append(rg.Value(float(nest[row]) if isinstance(nest, np.ndarray) else float(nest)))
    return leaves[-1]


@dataclass
class Eager:
    """What a function gives eagerly: per row its value and gradients, and the scale of each."""

    values: Any
    grads: Any
    value_scales: Any
    grad_scales: Any


def eager(rg: Any, function: Callable[..., Any], arguments: Mapping[str, Any], rows: int) -> Eager:
    """Every row by itself, forward and backward."""
    values, grads, value_scales, grad_scales = [], [], [], []
    for row in range(rows):
        leaves: list[Any] = []
        given = {name: row_of(rg, nest, row, leaves) for name, nest in arguments.items()}
        root = function(**given)
        root.backward()
        scales = absolute_adjoint(rg, root)
        values.append(root.data)
        grads.append([leaf.grad for leaf in leaves])
        value_scales.append(sum(scale * abs(v.data) for scale, v in scales.values()))
        grad_scales.append([scales[id(leaf)][0] if id(leaf) in scales else 0.0 for leaf in leaves])
    return Eager(*map(np.array, (values, grads, value_scales, grad_scales)))


def assert_within(got: Any, expected: Any, scale: Any, tolerance: float = TOLERANCE) -> None:
    """Agreement within a tolerance of a scale, everywhere."""
    got, expected = np.asarray(got, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    assert got.shape == expected.shape
    wrong = ~(np.abs(got - expected) <= tolerance * np.asarray(scale))
    assert not wrong.any(), (got[wrong][:5], expected[wrong][:5])


# ---- programs by the executor --------------------------------------------------------------------


def execute(
    program: Program,
    rows: Sequence[Mapping[int, float]],
    reduce: bool = False,
    threads: int = 1,
    failed: list[int] | None = None,
) -> Any:
    """A program without stops over rows of numbers by id: (rows, outputs), or the outputs' sums.

    What is uniform is read from the first row. Rows that fail a guard are added to ``failed``.
    """
    columns, keep = {}, []
    for index, given in program.inputs.items():
        if given.kind in (ROW, SEED):
            keep.append(np.array([row[index] for row in rows], dtype=np.float64))
            columns[index] = (keep[-1].ctypes.data, 8)
    captured = [
        retrograde.Value(rows[0][index])
        for index, given in program.inputs.items()
        if given.kind == CAPTURED
    ]
    what = "reduce" if reduce else "store"
    plan = laid_out(program, [(what, output) for output in program.outputs])
    ready = replay.Ready(program, plan, plan.columns)
    table = np.zeros((program.count, 2), dtype=np.int64)
    for index, place in columns.items():
        table[index] = place
    stored = np.empty((len(program.outputs), len(rows)))
    places = [(row.__array_interface__["data"][0], 8) for row in stored]
    part = replay.Part.of(ready, len(rows), rows[0], captured)
    replay.run([part], table, np.array(places, dtype=np.int64).reshape(-1, 2), threads)
    if failed is not None:
        failed += np.flatnonzero(part.failed >= 0).tolist()
    return np.array(replay.added(part.sums)) if reduce else stored.T


# ---- SIMD levels ---------------------------------------------------------------------------------


@contextmanager
def kernels(level: str) -> Iterator[None]:
    """Replay with the kernels of one SIMD level."""
    value.core.use_kernels(level)
    try:
        yield
    finally:
        value.core.use_kernels("")


def levels() -> list[str]:
    """The SIMD levels this processor has."""
    found = []
    for level in ("base", "v3", "v4", "v4_narrow", "neon"):
        try:
            with kernels(level):
                found.append(level)
        except (AttributeError, ValueError):  # no native core, or no such level
            continue
    return found


LEVELS = levels()


# ---- numbers -------------------------------------------------------------------------------------

AWKWARD = (
    0.0, -0.0, 1.0, -1.0, 0.5, 2.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 2.2e-308,
    1e308, -1e308, 1e16, 0.1, -3.7, math.pi,
)  # fmt: skip


MOST_CALLS = 14
"""Between the user and the executor, in a call like one made before."""


def python_calls(act: Callable[[], Any]) -> int:
    """How many Python functions an act enters."""
    counted: Counter[str] = Counter()

    def count(frame: Any, event: str, argument: Any) -> None:
        counted[event] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(before)
    return counted["call"] - 1  # the act itself
