"""Functions over many rows whose loops branch or end row by row, for every engine at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from control_programs import Program, absent

import retrograde as rg

Calls = dict[str, Callable[[], Any]]


def asian(steps: int = 252, rows: int = 10_000) -> Program:
    """The mean of a path above a strike."""
    shocks = np.random.default_rng(1).normal(size=(rows, steps)) * 0.01

    def payoff(spot: Any, sigma: Any, shocks: Any) -> Any:
        total = 0.0
        for shock in shocks:
            spot = spot * rg.exp(sigma * shock - 0.00005)
            total = total + spot
        return rg.maximum(total / len(shocks) - 100.0, 0.0)

    return Program("asian", payoff, (100.0, 1.2, shocks), 7 * steps, shocks)


def heston(steps: int = 252, rows: int = 2_000) -> Program:
    """A price whose variance moves by itself, and is cut off at zero by an ``if``."""
    shocks = np.random.default_rng(2).normal(size=(rows, 2 * steps)) * 0.06

    def payoff(spot: Any, mean: Any, shocks: Any) -> Any:
        variance = mean
        for i in range(steps):
            root = rg.sqrt(variance)
            spot = spot * rg.exp(root * shocks[2 * i] - 0.002 * variance)
            variance = variance + 0.01 * (mean - variance) + 0.4 * root * shocks[2 * i + 1]
            if variance < 0.001:
                variance = 0.001 + 0.0 * variance
        return rg.maximum(spot - 100.0, 0.0)

    return Program("heston", payoff, (100.0, 0.04, shocks), 17 * steps, shocks)


def schwartz(steps: int = 50, rows: int = 100_000) -> Program:
    """An American put by given regressions, as Longstaff and Schwartz have it."""
    shocks = np.random.default_rng(3).normal(size=(rows, steps))
    return Program("schwartz", _exercised(_by_if), (100.0, 0.03, shocks), 15 * steps, shocks)


def lengths(rows: int = 300) -> Program:
    """A loop that ends in as many ways as there are rows."""
    factor = np.exp(np.log(1e-3) / np.arange(1, rows + 1)) * 0.9999

    def total(start: Any, factor: Any) -> Any:
        found = 0.0 * start
        while start > 1e-3:
            start = start * factor
            found = found + start * start
        return found

    return Program("lengths", total, (np.ones(rows), factor), 4 * rows)


def captured(count: int = 100_000, rows: int = 100) -> Program:
    """A neuron of many captured weights."""
    draw = np.random.default_rng(4)
    weights, inputs = draw.normal(size=count), draw.normal(size=count)
    leaves, numbers = [rg.Value(number) for number in weights], inputs.tolist()

    def neuron(scale: Any) -> Any:
        return rg.tanh(scale * rg.dot(leaves, numbers))

    scales = draw.normal(size=rows) * 0.01
    return Program("captured", neuron, (scales,), 2 * count, (leaves, weights, inputs))


ROWS: dict[str, Callable[[], Program]] = {
    "asian": asian,
    "heston": heston,
    "schwartz": schwartz,
    "lengths": lengths,
    "captured": captured,
}


def _by_if(gain: Any, later: Any, cash: Any) -> Any:
    if gain > 0.0 and gain > later:
        cash = gain
    return cash


def _by_where(gain: Any, later: Any, cash: Any) -> Any:
    return rg.where((gain > 0.0) & (gain > later), gain, cash)


def _exercised(pick: Any) -> Any:
    def put(spot: Any, rate: Any, shocks: Any) -> Any:
        path, worth = [], spot
        for shock in shocks:
            worth = worth * rg.exp((rate - 0.02) * 0.02 + 0.03 * shock)
            path.append(worth)
        cash, discount = rg.maximum(100.0 - path[-1], 0.0), rg.exp(-rate * 0.02)
        for worth in reversed(path[:-1]):
            cash = pick(100.0 - worth, 4.0 - 0.4 * (worth - 100.0), cash * discount)
        return cash * discount

    return put


# ---- engines -------------------------------------------------------------------------------------


def calls_of(program: Program) -> Calls:
    """A function of nothing that returns the gradients, by engine."""
    if program.name == "captured":
        return _captured(program)
    wrt = tuple(program.function.__code__.co_varnames[:2])

    def over_rows(function: Any) -> Callable[[], Any]:
        compiled = rg.compile(function)
        return lambda: compiled.value_and_grad(*program.arguments, wrt=wrt)[1]

    found: Calls = {"retrograde": over_rows(program.function)}
    if program.name == "schwartz":
        found["retrograde, where"] = over_rows(_exercised(_by_where))
    return found | _jax(program)


def _captured(program: Program) -> Calls:
    leaves, weights, inputs = program.data
    (scales,) = program.arguments
    compiled = rg.compile(program.function)

    read: list[Any] = []

    def call() -> Any:
        compiled.backward(scales)
        if not read:  # later calls add to the same gradients
            read.append(rg.grads(leaves))
        return read[0]

    def by_hand() -> Any:
        result = np.tanh(scales * (weights @ inputs))
        return ((1.0 - result * result) * scales).sum() * inputs

    return {"retrograde": call, "NumPy, by hand": by_hand}


def _jax(program: Program) -> Calls:
    if program.name == "lengths":
        return {}  # its while_loop has no reverse mode
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return absent("JAX")
    jax.config.update("jax_enable_x64", True)
    function = {"asian": _jax_asian, "heston": _jax_heston, "schwartz": _jax_schwartz}[program.name]
    one = jax.grad(lambda a, b, row: function(jax, jnp, a, b, row), argnums=(0, 1))
    gradients = jax.jit(jax.vmap(one, in_axes=(None, None, 0)))
    first, second, shocks = program.arguments

    def call() -> Any:
        found = gradients(first, second, shocks)
        return [each.block_until_ready() for each in found]

    return {"JAX, scan": call}


def _jax_asian(jax: Any, jnp: Any, spot: Any, sigma: Any, shocks: Any) -> Any:
    def step(carry: Any, shock: Any) -> Any:
        spot, total = carry
        spot = spot * jnp.exp(sigma * shock - 0.00005)
        return (spot, total + spot), None

    total = jax.lax.scan(step, (spot, 0.0), shocks)[0][1]
    return jnp.maximum(total / len(shocks) - 100.0, 0.0)


def _jax_heston(jax: Any, jnp: Any, spot: Any, mean: Any, shocks: Any) -> Any:
    def step(carry: Any, pair: Any) -> Any:
        spot, variance = carry
        root = jnp.sqrt(variance)
        spot = spot * jnp.exp(root * pair[0] - 0.002 * variance)
        variance = variance + 0.01 * (mean - variance) + 0.4 * root * pair[1]
        return (spot, jnp.where(variance < 0.001, 0.001, variance)), None

    return jnp.maximum(jax.lax.scan(step, (spot, mean), shocks.reshape(-1, 2))[0][0] - 100.0, 0.0)


def _jax_schwartz(jax: Any, jnp: Any, spot: Any, rate: Any, shocks: Any) -> Any:
    path = spot * jnp.exp(jnp.cumsum((rate - 0.02) * 0.02 + 0.03 * shocks))
    discount = jnp.exp(-rate * 0.02)

    def step(cash: Any, worth: Any) -> Any:
        gain, later = 100.0 - worth, 4.0 - 0.4 * (worth - 100.0)
        return jnp.where((gain > 0.0) & (gain > later), gain, cash * discount), None

    cash = jnp.maximum(100.0 - path[-1], 0.0)
    return jax.lax.scan(step, cash, path[:-1], reverse=True)[0] * discount
