"""The peers of branches.py: the same mathematics with masks (JAX, torch, NumPy) or by hand (numba).

A peer is a function that prepares a call for a program; the call returns the value and the
gradients per row, or the Hessian per row. One that cannot be imported raises ImportError.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, exp, sin, sqrt
from typing import Any

import numpy as np
from branches_programs import FLOOR, MOST_STEPS, Program

Call = Callable[[], tuple[Any, ...]]


# ---- retrograde ----------------------------------------------------------------------------------


def retrograde(program: Program) -> Call:
    """The plain function, compiled; one thread."""
    import retrograde as rg

    compiled = rg.compile(program.function)
    if program.second:
        inputs = {**program.inputs, "p": rg.uniform(program.inputs["p"])}
        return lambda: (compiled.hessian(**inputs, wrt=program.wrt, threads=1),)

    def call() -> tuple[Any, ...]:
        value, gradients = compiled.value_and_grad(**program.inputs, wrt=program.wrt, threads=1)
        return (value, *gradients)

    return call


# ---- JAX -----------------------------------------------------------------------------------------


def jax_masked(program: Program) -> Call:
    """A scan over all steps that carries whether the row is still running, jit and vmap."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def heston(s0, v0, kappa, theta, xi, z1, z2, k, b, r, rho, dt):  # type: ignore[no-untyped-def]
        root, other = jnp.sqrt(dt), jnp.sqrt(1.0 - rho * rho)

        def step(state, draws):  # type: ignore[no-untyped-def]
            s, v, alive = state
            variance = jnp.maximum(v, FLOOR)
            deviation = jnp.sqrt(variance) * root
            s = s * jnp.exp((r - 0.5 * variance) * dt + deviation * draws[0])
            v = v + kappa * (theta - variance) * dt
            v = v + xi * deviation * (rho * draws[0] + other * draws[1])
            return (s, v, alive & (s <= b)), None

        (s, _, alive), _ = jax.lax.scan(step, (s0, v0, True), (z1, z2))
        payoff = jnp.exp(-r * dt * z1.shape[0]) * jnp.maximum(s - k, 0.0)
        return jnp.where(alive, payoff, 0.0)

    def residual(p, t, y):  # type: ignore[no-untyped-def]
        a, b, c = p.reshape(4, 3).T
        return 0.5 * (jnp.sum(a * jnp.exp(-b * t) * jnp.sin(c * t)) - y) ** 2

    def decay(y0, rate, level, h):  # type: ignore[no-untyped-def]
        def step(state, _):  # type: ignore[no-untyped-def]
            y, t, before = state
            k1 = -rate * y * (1.0 + 0.1 * y)
            middle = y + 0.5 * h * k1
            k2 = -rate * middle * (1.0 + 0.1 * middle)
            on = y > level
            return (
                jnp.where(on, y + h * k2, y),
                jnp.where(on, t + h, t),
                jnp.where(on, y, before),
            ), None

        (y, t, before), _ = jax.lax.scan(step, (y0, 0.0, y0 + 1.0), None, length=MOST_STEPS)
        return t - h * (level - y) / (before - y)

    function = {"heston": heston, "residual": residual, "decay": decay}[program.name]
    inputs = [jnp.asarray(given, dtype=jnp.float64) for given in program.inputs.values()]
    axes = tuple(
        0 if isinstance(given, np.ndarray) and name != "p" else None
        for name, given in program.inputs.items()
    )
    if program.second:
        hessian = jax.jit(jax.vmap(jax.hessian(function), in_axes=axes))
        return lambda: (jax.block_until_ready(hessian(*inputs)),)
    which = tuple(i for i, name in enumerate(program.inputs) if name in program.wrt)
    both = jax.jit(jax.vmap(jax.value_and_grad(function, argnums=which), in_axes=axes))

    def call() -> tuple[Any, ...]:
        value, gradients = jax.block_until_ready(both(*inputs))
        return (value, *gradients)

    return call


# ---- torch ---------------------------------------------------------------------------------------


def torch_masked(program: Program) -> Call:
    """Whole tensors of rows, with masks; one backward pass for all rows."""
    import torch

    torch.set_num_threads(1)

    def heston(s0, v0, kappa, theta, xi, z1, z2, k, b, r, rho, dt):  # type: ignore[no-untyped-def]
        root, other = dt**0.5, (1.0 - rho * rho) ** 0.5
        s, v, alive = s0, v0, torch.ones_like(s0, dtype=torch.bool)
        for step in range(z1.shape[1]):
            variance = torch.clamp(v, min=FLOOR)
            deviation = torch.sqrt(variance) * root
            s = s * torch.exp((r - 0.5 * variance) * dt + deviation * z1[:, step])
            alive = alive & (s <= b)
            noise = rho * z1[:, step] + other * z2[:, step]
            v = v + kappa * (theta - variance) * dt + xi * deviation * noise
        discount = float(np.exp(-r * dt * z1.shape[1]))
        payoff = discount * torch.clamp(s - k, min=0.0)
        return torch.where(alive, payoff, torch.zeros_like(payoff))

    def decay(y0, rate, level, h):  # type: ignore[no-untyped-def]
        y, t, before = y0, torch.zeros_like(y0), y0 + 1.0
        while True:
            on = y > level
            if not bool(on.any()):
                return t - h * (level - y) / (before - y)
            middle = y - 0.5 * h * rate * y * (1.0 + 0.1 * y)
            after = y - h * rate * middle * (1.0 + 0.1 * middle)
            before, t = torch.where(on, y, before), torch.where(on, t + h, t)
            y = torch.where(on, after, y)

    def residual(p, t, y):  # type: ignore[no-untyped-def]
        a, b, c = p.reshape(4, 3).T
        return 0.5 * (torch.sum(a * torch.exp(-b * t) * torch.sin(c * t)) - y) ** 2

    tensors = {
        name: torch.from_numpy(given) if isinstance(given, np.ndarray) else given
        for name, given in program.inputs.items()
    }
    if program.second:
        from torch.func import hessian, vmap

        every = vmap(hessian(residual), in_dims=(None, 0, 0))
        return lambda: (every(*tensors.values()),)
    function = {"heston": heston, "decay": decay}[program.name]

    def call() -> tuple[Any, ...]:
        given = dict(tensors)
        for name in program.wrt:
            start = given[name]
            if not isinstance(start, torch.Tensor):
                start = torch.full((program.count,), start, dtype=torch.float64)
            given[name] = start.detach().clone().requires_grad_()
        value = function(**_lower(given))
        gradients = torch.autograd.grad(value.sum(), [given[name] for name in program.wrt])
        return (value.detach(), *gradients)

    return call


def _lower(inputs: dict[str, Any]) -> dict[str, Any]:
    return {name.lower(): given for name, given in inputs.items()}


# ---- NumPy ---------------------------------------------------------------------------------------


def numpy_masked(program: Program) -> Call:
    """Whole arrays with masks, the value only."""
    given = program.inputs
    if program.name == "heston":

        def value() -> Any:
            root, other = given["dt"] ** 0.5, (1.0 - given["rho"] ** 2) ** 0.5
            s, v = np.full(program.count, given["S0"]), np.full(program.count, given["v0"])
            alive = np.ones(program.count, dtype=bool)
            for a, b in zip(given["Z1"].T, given["Z2"].T):
                variance = np.maximum(v, FLOOR)
                deviation = np.sqrt(variance) * root
                s = s * np.exp((given["r"] - 0.5 * variance) * given["dt"] + deviation * a)
                alive &= s <= given["B"]
                pull = given["kappa"] * (given["theta"] - variance) * given["dt"]
                v = v + pull + given["xi"] * deviation * (given["rho"] * a + other * b)
            discount = np.exp(-given["r"] * given["dt"] * given["Z1"].shape[1])
            return np.where(alive, discount * np.maximum(s - given["K"], 0.0), 0.0)

    elif program.name == "decay":

        def value() -> Any:
            y, t = given["y0"].copy(), np.zeros(program.count)
            before, h, rate = y + 1.0, given["h"], given["rate"]
            while (on := y > given["level"]).any():
                middle = y - 0.5 * h * rate * y * (1.0 + 0.1 * y)
                after = y - h * rate * middle * (1.0 + 0.1 * middle)
                before, t = np.where(on, y, before), np.where(on, t + h, t)
                y = np.where(on, after, y)
            return t - h * (given["level"] - y) / (before - y)

    else:
        raise ImportError("no second derivatives in NumPy")
    return lambda: (value(),)


# ---- numba, by hand ------------------------------------------------------------------------------


def numba_by_hand(program: Program) -> Call:
    """A loop over rows with branches and the adjoint written by hand."""
    from numba import njit

    function = njit(error_model="numpy")(
        {"heston": _heston_by_hand, "residual": _residual_by_hand, "decay": _decay_by_hand}[
            program.name
        ]
    )
    inputs = tuple(program.inputs.values())

    def call() -> tuple[Any, ...]:
        found = function(*inputs)
        return found if isinstance(found, tuple) else (found,)

    return call


def _heston_by_hand(s0, v0, kappa, theta, xi, z1, z2, k, barrier, r, rho, dt):  # type: ignore[no-untyped-def]
    rows, steps = z1.shape
    out = np.zeros((6, rows))
    spot, var = np.empty(steps + 1), np.empty(steps + 1)
    root, other = sqrt(dt), sqrt(1.0 - rho * rho)
    discount = exp(-r * dt * steps)
    for i in range(rows):
        spot[0], var[0] = s0, v0
        out_at = -1
        for j in range(steps):
            variance = max(var[j], FLOOR)
            deviation = sqrt(variance) * root
            spot[j + 1] = spot[j] * exp((r - 0.5 * variance) * dt + deviation * z1[i, j])
            if spot[j + 1] > barrier:
                out_at = j
                break
            noise = rho * z1[i, j] + other * z2[i, j]
            var[j + 1] = var[j] + kappa * (theta - variance) * dt + xi * deviation * noise
        if out_at >= 0 or spot[steps] <= k:
            continue
        out[0, i] = discount * (spot[steps] - k)
        ds, dv = discount, 0.0
        d_kappa, d_theta, d_xi = 0.0, 0.0, 0.0
        for j in range(steps - 1, -1, -1):
            variance = max(var[j], FLOOR)
            deviation = sqrt(variance) * root
            noise = rho * z1[i, j] + other * z2[i, j]
            growth = spot[j + 1] / spot[j]
            d_exponent = ds * spot[j + 1]
            d_deviation = d_exponent * z1[i, j] + dv * xi * noise
            d_variance = -0.5 * dt * d_exponent - dv * kappa * dt
            d_variance += d_deviation * root * 0.5 / sqrt(variance)
            d_kappa += dv * (theta - variance) * dt
            d_theta += dv * kappa * dt
            d_xi += dv * deviation * noise
            ds = ds * growth
            if var[j] > FLOOR:
                dv = dv + d_variance
        out[1, i], out[2, i], out[3, i], out[4, i], out[5, i] = ds, dv, d_kappa, d_theta, d_xi
    return out[0], out[1], out[2], out[3], out[4], out[5]


def _residual_by_hand(p, t, y):  # type: ignore[no-untyped-def]
    rows = t.shape[0]
    out = np.zeros((rows, 12, 12))
    g = np.empty(12)
    for i in range(rows):
        error = -y[i]
        for q in range(4):
            a, b, c = p[3 * q], p[3 * q + 1], p[3 * q + 2]
            fall, wave, turn = exp(-b * t[i]), sin(c * t[i]), cos(c * t[i])
            error += a * fall * wave
            g[3 * q] = fall * wave
            g[3 * q + 1] = -t[i] * a * fall * wave
            g[3 * q + 2] = a * fall * turn * t[i]
        for m in range(12):
            for n in range(12):
                out[i, m, n] = g[m] * g[n]
        for q in range(4):
            a, b, c = p[3 * q], p[3 * q + 1], p[3 * q + 2]
            fall, wave, turn = exp(-b * t[i]), sin(c * t[i]), cos(c * t[i])
            ab, ac = -t[i] * fall * wave, fall * turn * t[i]
            bc = -t[i] * t[i] * a * fall * turn
            k = 3 * q
            out[i, k, k + 1] += error * ab
            out[i, k + 1, k] += error * ab
            out[i, k, k + 2] += error * ac
            out[i, k + 2, k] += error * ac
            out[i, k + 1, k + 2] += error * bc
            out[i, k + 2, k + 1] += error * bc
            out[i, k + 1, k + 1] += error * t[i] * t[i] * a * fall * wave
            out[i, k + 2, k + 2] -= error * t[i] * t[i] * a * fall * wave
    return out


def _decay_by_hand(y0, rate, level, h):  # type: ignore[no-untyped-def]
    rows = y0.shape[0]
    value, d_y0, d_rate = np.empty(rows), np.empty(rows), np.empty(rows)
    path = np.empty(4096)
    for i in range(rows):
        steps, r = 0, rate[i]
        path[0] = y0[i]
        while path[steps] > level:
            y = path[steps]
            middle = y - 0.5 * h * r * y * (1.0 + 0.1 * y)
            path[steps + 1] = y - h * r * middle * (1.0 + 0.1 * middle)
            steps += 1
        last, before = path[steps], path[steps - 1]
        gap = before - last
        value[i] = steps * h - h * (level - last) / gap
        dy = h / gap - h * (level - last) / (gap * gap)
        extra = h * (level - last) / (gap * gap)
        dr = 0.0
        for j in range(steps - 1, -1, -1):
            y = path[j]
            middle = y - 0.5 * h * r * y * (1.0 + 0.1 * y)
            d_middle = -dy * h * r * (1.0 + 0.2 * middle)
            dr += -dy * h * middle * (1.0 + 0.1 * middle) - d_middle * 0.5 * h * y * (1.0 + 0.1 * y)
            dy = dy + d_middle * (1.0 - 0.5 * h * r * (1.0 + 0.2 * y))
            if j == steps - 1:
                dy += extra
        d_y0[i], d_rate[i] = dy, dr
    return value, d_y0, d_rate


PEERS = {
    "retrograde": retrograde,
    "jax": jax_masked,
    "torch": torch_masked,
    "numpy": numpy_masked,
    "numba": numba_by_hand,
}
LIBRARIES = ("jax", "torch")
"""Peers that differentiate by themselves; numba's adjoint is written by hand, NumPy has none."""
