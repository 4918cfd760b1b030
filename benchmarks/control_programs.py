"""Functions with long loops, and each of them for every engine at hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import retrograde as rg

START = (1e-5, 0.1, 0.8)


@dataclass
class Program:
    """A function of some numbers with a long loop, and how many operations it makes."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[float, ...]
    operations: int
    data: Any = None


def garch(steps: int = 100_000) -> Program:
    """The likelihood of a GARCH(1, 1) model over a series of returns."""
    returns = [float(x) for x in np.random.default_rng(0).normal(size=steps) * 0.01]

    def likelihood(w: Any, a: Any, b: Any) -> Any:
        h, total = w / (1.0 - a - b), 0.0
        for r in returns:
            h = w + a * (r * r) + b * h
            total = total + rg.log(h) + r * r / h
        return total

    return Program("garch", likelihood, START, 7 * steps, np.array(returns))


def lorenz(steps: int = 2_000) -> Program:
    """The Lorenz system by the classical Runge-Kutta method."""

    def slopes(state: Any, sigma: Any, rho: Any, beta: Any) -> Any:
        x, y, z = state
        return [sigma * (y - x), x * (rho - z) - y, x * y - beta * z]

    def last(x: Any, y: Any, z: Any, sigma: Any, rho: Any, beta: Any) -> Any:
        s, h = [x, y, z], 0.001
        for _ in range(steps):
            k1 = slopes(s, sigma, rho, beta)
            k2 = slopes([u + h / 2 * v for u, v in zip(s, k1)], sigma, rho, beta)
            k3 = slopes([u + h / 2 * v for u, v in zip(s, k2)], sigma, rho, beta)
            k4 = slopes([u + h * v for u, v in zip(s, k3)], sigma, rho, beta)
            s = [u + h / 6 * (p + 2 * q + 2 * r + t) for u, p, q, r, t in zip(s, k1, k2, k3, k4)]
        return s[0] * s[0] + s[1] + s[2]

    return Program("lorenz", last, (1.0, 0.5, 20.0, 10.0, 28.0, 8.0 / 3.0), 71 * steps)


PROGRAMS: dict[str, Callable[[], Program]] = {"garch": garch, "lorenz": lorenz}


def peers_of(program: Program) -> dict[str, Callable[[], Any]]:
    """A function of nothing that returns the gradients, by engine."""
    found = {"retrograde": _compiled(program), "retrograde, eager": _eager(program)}
    if program.name == "garch":
        found |= _jax_garch(program) | _numba_garch(program)
    return found


def _compiled(program: Program) -> Callable[[], Any]:
    compiled = rg.compile(program.function)
    return lambda: compiled.value_and_grad(*program.arguments)[1]


def _eager(program: Program) -> Callable[[], Any]:
    def call() -> Any:
        leaves = [rg.Value(number) for number in program.arguments]
        program.function(*leaves).backward()
        return [leaf.grad for leaf in leaves]

    return call


def _jax_garch(program: Program) -> dict[str, Callable[[], Any]]:
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return {}
    jax.config.update("jax_enable_x64", True)
    data = jnp.array(program.data)

    def likelihood(parameters: Any) -> Any:
        w, a, b = parameters

        def step(carry: Any, r: Any) -> Any:
            h, total = carry
            h = w + a * (r * r) + b * h
            return (h, total + jnp.log(h) + r * r / h), None

        return jax.lax.scan(step, (w / (1.0 - a - b), 0.0), data)[0][1]

    gradient = jax.jit(jax.grad(likelihood))
    return {"JAX, scan": lambda: gradient(jnp.array(program.arguments)).block_until_ready()}


def _numba_garch(program: Program) -> dict[str, Callable[[], Any]]:
    try:
        from numba import njit
    except ImportError:
        return {}

    @njit
    def gradient(w: float, a: float, b: float, data: Any) -> Any:
        """Value and slopes carried forward, by hand."""
        rest = 1.0 - a - b
        h = w / rest
        hw, ha, hb = 1.0 / rest, w / rest**2, w / rest**2
        gw = ga = gb = 0.0
        for r in data:
            square = r * r
            hw, ha, hb = 1.0 + b * hw, square + b * ha, h + b * hb
            h = w + a * square + b * h
            slope = 1.0 / h - square / (h * h)
            gw, ga, gb = gw + slope * hw, ga + slope * ha, gb + slope * hb
        return gw, ga, gb

    return {"numba, by hand": lambda: gradient(*program.arguments, program.data)}
