"""Workloads of ``shapes.py`` on many rows or large matrices: filters, options, processes, batches.

Each gives the forms of one computation, gradients included: ours compiled, and JAX's jit where it
is installed. Whatever is timed has agreed first.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from gpt_forms import C

import retrograde as rg
from retrograde.models import GPT, Shape

Step = Callable[[], Any]
Forms = tuple[dict[str, Step], float]


def _jax() -> Any:
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax


def _agreeing(ours: Step, peer: Callable[[Any], Step], began: float) -> Forms:
    """Both forms, once they have agreed; ours was first called since ``began``."""
    wanted = ours()
    built = time.perf_counter() - began
    forms = {"compiled": ours}
    try:
        jax = _jax()
    except ImportError:
        return forms, built
    step = peer(jax)
    for one, other in zip(step(), wanted):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-8, atol=1e-10)
    forms["JAX jit"] = step
    return forms, built


# ---- a Kalman filter --------------------------------------------------------------------------

STEPS, SERIES = 50, 1000
F = np.eye(4) + 0.1 * np.diag(np.ones(3), 1)
H = np.eye(2, 4)
NOISE, ERROR = 0.01 * np.eye(4), 0.1 * np.eye(2)


def likelihood(xp: Any, y: Any, q: Any, r: Any, log: Any) -> Any:
    """Of one series: four numbers of state, two of them seen with an error."""
    m, p, total = xp(np.zeros(4)), xp(np.eye(4)), 0.0
    noise, error = xp(NOISE) * q, xp(ERROR) * r
    for t in range(STEPS):
        m, p = F @ m, F @ p @ F.T + noise
        s = H @ p @ H.T + error
        miss = y[t] - H @ m
        det = s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]
        solved = (s[1, 1] * miss[0] - s[0, 1] * miss[1]) / det
        other = (s[0, 0] * miss[1] - s[1, 0] * miss[0]) / det
        gain = p @ H.T
        m = m + gain[:, 0] * solved + gain[:, 1] * other
        left = (s[1, 1] * gain[:, 0] - s[0, 1] * gain[:, 1]) / det
        right = (s[0, 0] * gain[:, 1] - s[1, 0] * gain[:, 0]) / det
        p = p - left[:, None] * gain[:, 0] - right[:, None] * gain[:, 1]
        total = total - 0.5 * (miss[0] * solved + miss[1] * other + log(det))
    return total


def kalman(own: bool) -> Forms:
    """1,000 series; each with noises of its ``own``, or all with the same."""
    y = np.random.default_rng(3).standard_normal((SERIES, STEPS, 2))
    given = np.linspace(0.5, 2.0, SERIES) if own else 1.0
    reduce = None if own else "sum"

    def one(y: rg.Tensor, q: Any, r: Any) -> Any:
        return likelihood(rg.Tensor, y, q, r, rg.log)

    compiled = rg.compile(one)
    rows = rg.rows(y)
    began = time.perf_counter()

    def ours() -> Any:
        return compiled.grad(rows, given, given, wrt=("q", "r"), reduce=reduce, threads=1)

    def peer(jax: Any) -> Step:
        def each(y: Any, q: Any, r: Any) -> Any:
            return likelihood(jax.numpy.asarray, y, q, r, jax.numpy.log)

        if own:
            run = jax.jit(jax.vmap(jax.grad(each, argnums=(1, 2))))
            return lambda: jax.block_until_ready(run(y, given, given))
        total = jax.vmap(each, (0, None, None))
        run = jax.jit(jax.grad(lambda q, r: total(y, q, r).sum(), argnums=(0, 1)))
        return lambda: jax.block_until_ready(run(1.0, 1.0))

    return _agreeing(ours, peer, began)


# ---- an option that may be exercised early ----------------------------------------------------


def exercise(xp: Any, z: Any, spot: Any, sigma: Any, solve: Any) -> Any:
    """Longstaff and Schwartz: a put, exercised where it is worth more than a regression says."""
    strike, rate, step = 1.0, 0.03, 0.1
    logs = xp.cumsum((rate - 0.5 * sigma * sigma) * step + sigma * step**0.5 * z, axis=0)
    paths = spot * xp.exp(logs)
    cash = xp.maximum(strike - paths[-1], 0.0)
    for t in range(len(z) - 2, -1, -1):
        s = paths[t]
        cash = cash * np.exp(-rate * step)
        now = xp.maximum(strike - s, 0.0)
        inside = xp.where(now > 0.0, 1.0, 0.0)
        basis = xp.stack([inside, inside * s, inside * s * s])
        weights = solve(basis @ basis.T, basis @ cash)
        cash = xp.where(now > xp.maximum(weights @ basis, 0.0), now, cash)
    return cash.mean()


def option() -> Forms:
    """100,000 paths of ten steps; the gradient by spot and volatility."""
    z = np.random.default_rng(4).standard_normal((10, 100_000))

    def one(z: rg.Tensor, spot: Any, sigma: Any) -> Any:
        return exercise(rg, z, spot, sigma, rg.solve)

    compiled = rg.compile(one)
    began = time.perf_counter()

    def ours() -> Any:
        return compiled.grad(z, 1.0, 0.3, wrt=("spot", "sigma"))

    def peer(jax: Any) -> Step:
        jnp = jax.numpy
        run = jax.jit(
            jax.grad(lambda spot, sigma: exercise(jnp, z, spot, sigma, jnp.linalg.solve), (0, 1))
        )
        return lambda: jax.block_until_ready(run(1.0, 0.3))

    return _agreeing(ours, peer, began)


# ---- a Gaussian process -----------------------------------------------------------------------


def process() -> Forms:
    """The likelihood of 200 points, by length, size and noise."""
    draw = np.random.default_rng(5)
    x = np.sort(draw.uniform(0.0, 10.0, 200))
    y = np.sin(x) + 0.1 * draw.standard_normal(200)
    apart = (x[:, None] - x) ** 2

    def likelihood(xp: Any, cholesky: Any, solve: Any, length: Any, size: Any, noise: Any) -> Any:
        k = size * xp.exp(-0.5 * apart / length**2) + noise * np.eye(200)
        factor = cholesky(k)
        z = solve(factor, y)
        return 0.5 * z @ z + xp.log(xp.diagonal(factor)).sum()

    def one(apart: rg.Tensor, length: Any, size: Any, noise: Any) -> Any:
        k = rg.exp(-0.5 * apart / length**2) * size + rg.Tensor(np.eye(200)) * noise
        factor = rg.cholesky(k)
        z = rg.solve(factor, y)
        return 0.5 * z @ z + rg.log(rg.diag(factor)).sum()

    compiled = rg.compile(one)
    at = (1.0, 1.0, 0.1)
    began = time.perf_counter()

    def ours() -> Any:
        return compiled.grad(apart, *at, wrt=("length", "size", "noise"))

    def peer(jax: Any) -> Step:
        def solve(factor: Any, y: Any) -> Any:
            return jax.scipy.linalg.solve_triangular(factor, y, lower=True)

        def each(length: Any, size: Any, noise: Any) -> Any:
            return likelihood(jax.numpy, jax.numpy.linalg.cholesky, solve, length, size, noise)

        run = jax.jit(jax.grad(each, (0, 1, 2)))
        return lambda: jax.block_until_ready(run(*at))

    return _agreeing(ours, peer, began)


# ---- a batch of documents ---------------------------------------------------------------------


def documents(count: int = 64, positions: int = 7) -> Forms:
    """The packaged GPT on a batch: as one array, as rows, and document by document in C."""
    shape = Shape(vocabulary=27)
    model = GPT(shape, seed=1).tensors()
    state = {name: np.asarray(array) for name, array in model.state_dict().items()}
    inner = np.random.default_rng(0).integers(0, 26, (count, positions - 1))
    batch = np.full((count, positions + 1), 26)
    batch[:, 1:-1] = inner

    def loss(seen: np.ndarray[Any, Any]) -> Any:
        return model.loss_of(seen)

    compiled = rg.compile(loss)
    rows = rg.rows(batch[:, None])
    began = time.perf_counter()
    value = compiled.backward(batch)
    built = time.perf_counter() - began
    hand = C(shape, state, time.perf_counter)
    given = [(ctypes.c_int64 * (positions + 1))(*tokens) for tokens in batch.tolist()]

    def by_hand() -> float:
        return sum(hand._differentiate(hand._model, positions, tokens) for tokens in given)

    wanted = by_hand() / count
    other = compiled.backward(rows, reduce="mean", threads=1)
    assert abs(value - wanted) < 1e-10 * abs(wanted) > abs(other - wanted), (value, wanted, other)
    return {
        "compiled": lambda: compiled.backward(batch),
        "compiled, over rows": lambda: compiled.backward(rows, reduce="mean", threads=1),
        "C by hand": by_hand,
    }, built


MODELS: dict[str, Callable[[], Forms]] = {
    "kalman, 1000 series": lambda: kalman(False),
    "kalman, 1000 series with noises of their own": lambda: kalman(True),
    "longstaff-schwartz, 100000 paths": option,
    "gaussian process, 200 points": process,
    "gpt, a batch of 64 documents": documents,
}
