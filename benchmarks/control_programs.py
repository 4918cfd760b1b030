"""Functions with long loops, and each of them for every engine at hand."""

from __future__ import annotations

import sys
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
    arguments: tuple[Any, ...]
    operations: int
    data: Any = None
    second: bool = False
    """Whether the Hessian is asked for, not the gradient."""


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


def pole_slopes(state: Any, push: Any, sine: Any, cosine: Any) -> list[Any]:
    """How a cart with a pole on it moves, the pole hanging down at the angle 0."""
    _, speed, angle, turning = state
    s, c = sine(angle), cosine(angle)
    mass = 1.0 + 0.3 * s * s
    faster = (push + 0.3 * s * (0.5 * turning * turning + 9.81 * c)) / mass
    swing = -push * c - 0.15 * turning * turning * c * s - 1.3 * 9.81 * s
    return [speed, faster, turning, swing / (0.5 * mass)]


def pole_step(s: Any, push: Any, sine: Any, cosine: Any, h: float = 0.02) -> list[Any]:
    """A step of the classical Runge-Kutta method."""
    k1 = pole_slopes(s, push, sine, cosine)
    k2 = pole_slopes([u + h / 2 * v for u, v in zip(s, k1)], push, sine, cosine)
    k3 = pole_slopes([u + h / 2 * v for u, v in zip(s, k2)], push, sine, cosine)
    k4 = pole_slopes([u + h * v for u, v in zip(s, k3)], push, sine, cosine)
    return [u + h / 6 * (p + 2 * q + 2 * r + t) for u, p, q, r, t in zip(s, k1, k2, k3, k4)]


def cartpole(steps: int = 100) -> Program:
    """The cost of swinging a pole up by one push a step: the Hessian in all pushes."""

    def cost(pushes: Any) -> Any:
        s, total = [0.0, 0.0, 0.0, 0.0], 0.0
        for push in pushes:
            s = pole_step(s, push, rg.sin, rg.cos)
            total = total + 0.01 * push * push + s[0] * s[0]
        return total + 100.0 * ((s[2] - np.pi) ** 2 + s[3] ** 2 + s[1] ** 2)

    pushes = np.random.default_rng(0).normal(size=steps)
    return Program("cartpole", cost, (pushes,), 147 * steps, pushes, second=True)


PROGRAMS: dict[str, Callable[[], Program]] = {
    "garch": garch,
    "lorenz": lorenz,
    "cartpole": cartpole,
}


def peers_of(program: Program) -> dict[str, Callable[[], Any]]:
    """A function of nothing that returns the gradients, by engine."""
    if program.second:
        return (
            {"retrograde": _hessian(program)} | _jax_cartpole(program) | _casadi_cartpole(program)
        )
    found = {"retrograde": _compiled(program), "retrograde, eager": _eager(program)}
    if program.name == "garch":
        found |= _jax_garch(program) | _numba_garch(program)
    return found


_ABSENT: set[str] = set()


def absent(engine: str) -> dict[str, Callable[[], Any]]:
    """No calls of an engine that is not installed, which is said once."""
    if engine not in _ABSENT:
        print(f"{engine} is not installed: left out", file=sys.stderr)
        _ABSENT.add(engine)
    return {}


def _compiled(program: Program) -> Callable[[], Any]:
    compiled = rg.compile(program.function)
    return lambda: compiled.value_and_grad(*program.arguments)[1]


def _hessian(program: Program) -> Callable[[], Any]:
    compiled = rg.compile(program.function)
    arguments = [rg.uniform(each) for each in program.arguments]
    return lambda: compiled.hessian(*arguments)


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
        return absent("JAX")
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
        return absent("numba")

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


def _jax_cartpole(program: Program) -> dict[str, Callable[[], Any]]:
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return absent("JAX")
    jax.config.update("jax_enable_x64", True)

    def cost(pushes: Any) -> Any:
        def step(carry: Any, push: Any) -> Any:
            state, total = carry
            state = pole_step(state, push, jnp.sin, jnp.cos)
            return (state, total + 0.01 * push * push + state[0] * state[0]), None

        (s, total), _ = jax.lax.scan(step, ([0.0, 0.0, 0.0, 0.0], 0.0), pushes)
        return total + 100.0 * ((s[2] - np.pi) ** 2 + s[3] ** 2 + s[1] ** 2)

    hessian = jax.jit(jax.hessian(cost))
    return {"JAX, scan": lambda: hessian(jnp.array(program.data)).block_until_ready()}


def _casadi_cartpole(program: Program) -> dict[str, Callable[[], Any]]:
    try:
        import casadi
    except ImportError:
        return absent("CasADi")

    def call() -> Any:
        if not made:
            pushes = casadi.SX.sym("u", len(program.data))
            s, total = [0.0, 0.0, 0.0, 0.0], 0.0
            for push in casadi.vertsplit(pushes):
                s = pole_step(s, push, casadi.sin, casadi.cos)
                total = total + 0.01 * push * push + s[0] * s[0]
            cost = total + 100.0 * ((s[2] - np.pi) ** 2 + s[3] ** 2 + s[1] ** 2)
            made.append(casadi.Function("h", [pushes], [casadi.hessian(cost, pushes)[0]]))
        return made[0](program.data).full()

    made: list[Any] = []
    return {"CasADi": call}
