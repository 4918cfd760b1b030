"""The engines that `retrograde bench` times, one small adapter each, imported when it is needed.

Each spells the programs in the way that runs fastest on it here. Inputs are handed over in an
engine's own arrays before the clock starts, and results are read after it stops.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import sqrt
from typing import Any, Final

import numpy as np

from ..program import compile
from ..value import Value
from ._bench_programs import STEPS, Array, Inputs, Program


@dataclass(frozen=True)
class Ready:
    """An engine with a program in hand.

    ``call`` is what is timed. ``columns`` reads what it returned: the values and, where the engine
    has gradients, one column for each sensitivity.
    """

    call: Callable[[], Any]
    columns: Callable[[Any], list[Array]]
    rows: int
    threads: int


@dataclass(frozen=True)
class Engine:
    """One line of the table. ``prepare`` raises ModuleNotFoundError where something is absent."""

    name: str
    how: str
    package: str
    prepare: Callable[[Program, Inputs, int], Ready]


# ---- retrograde -------------------------------------------------------------------------------


def _compiled(program: Program, inputs: Inputs, threads: int) -> Ready:
    function = compile(program.function)

    def call() -> Any:
        return function.value_and_grad(*inputs.values(), wrt=program.sensitivities, threads=threads)

    return Ready(call, _values_and_gradients, _rows(inputs), threads)


def compiled_by(backend: str) -> Engine:
    """rg.compile with a backend. The first call waits until everything is compiled."""

    def prepare(program: Program, inputs: Inputs, threads: int) -> Ready:
        function = compile(program.function, backend=backend)
        wrt, given = program.sensitivities, tuple(inputs.values())

        def call() -> Any:
            found = function.value_and_grad(*given, wrt=wrt, threads=threads)
            function.wait()
            return found

        return Ready(call, _values_and_gradients, _rows(inputs), threads)

    return Engine("retrograde", f"backend {backend}", "retrograde", prepare)


def _eager(program: Program, inputs: Inputs, threads: int) -> Ready:
    """Values, one graph a row, on a few rows: they are not made for many."""
    rows = min(_rows(inputs), program.eager_rows)
    arguments = [
        [x[row].tolist() if isinstance(x, np.ndarray) else x for x in inputs.values()]
        for row in range(rows)
    ]
    places = [list(inputs).index(name) for name in program.sensitivities]

    def call() -> list[list[float]]:
        results = []
        for row in arguments:
            given: list[Any] = list(row)
            for place in places:
                given[place] = Value(given[place])
            price = program.function(*given)
            price.backward()
            results.append([price.data, *(given[place].grad for place in places)])
        return results

    return Ready(call, lambda results: list(np.array(results).T), rows, 1)


# ---- peers ------------------------------------------------------------------------------------


def _jax(program: Program, inputs: Inputs, threads: int) -> Ready:
    _limit_xla(threads)
    jax, jnp = _module("jax"), _module("jax.numpy")
    jax.config.update("jax_enable_x64", True)

    def norm_cdf(x: Any) -> Any:
        return 0.5 * jax.lax.erfc(-x * sqrt(0.5))

    def growth(draws: Any, drift: Any, spread: Any) -> Any:
        return jnp.exp(jnp.cumsum(drift + spread * draws)).sum()

    def price(*arguments: Any) -> Any:
        return _price(program, jnp, norm_cdf, growth, arguments)

    names = list(inputs)
    function = jax.jit(
        jax.vmap(
            jax.value_and_grad(price, argnums=tuple(map(names.index, program.sensitivities))),
            in_axes=tuple(0 if isinstance(x, np.ndarray) else None for x in inputs.values()),
        )
    )
    arguments = jax.block_until_ready([jnp.asarray(x) for x in inputs.values()])
    return Ready(
        lambda: jax.block_until_ready(function(*arguments)),
        _values_and_gradients,
        _rows(inputs),
        threads,
    )


def _torch(program: Program, inputs: Inputs, threads: int) -> Ready:
    torch = _module("torch")
    torch.set_num_threads(threads)

    def norm_cdf(x: Any) -> Any:
        return 0.5 * torch.erfc(-x * sqrt(0.5))

    def growth(draws: Any, drift: Any, spread: Any) -> Any:
        increments = torch.addcmul(drift[:, None], spread[:, None], draws)
        return torch.exp(torch.cumsum(increments, 1)).sum(1)

    rows = _rows(inputs)
    # Gradients are wanted row by row, so a number that all rows share is a column of leaves.
    tensors = {
        name: torch.tensor(x if isinstance(x, np.ndarray) else np.full(rows, x))
        for name, x in inputs.items()
    }
    leaves = [tensors[name].requires_grad_() for name in program.sensitivities]
    arguments = list(tensors.values())

    def call() -> Any:
        values = _price(program, torch, norm_cdf, growth, arguments)
        return values.detach(), torch.autograd.grad(values.sum(), leaves)

    return Ready(call, _values_and_gradients, rows, threads)


def _numpy(program: Program, inputs: Inputs, threads: int) -> Ready:
    """Values without gradients; the normal distribution, which NumPy has not, is SciPy's."""
    norm_cdf = _module("scipy.special").ndtr if program.key == "black_scholes" else None
    rows = _rows(inputs)

    def growth(draws: Any, drift: Any, spread: Any) -> Any:
        spot, total = np.ones(rows), np.zeros(rows)
        for column in draws.T:
            spot *= np.exp(drift + spread * column)
            total += spot
        return total

    arguments = list(inputs.values())
    return Ready(
        lambda: _price(program, np, norm_cdf, growth, arguments), lambda values: [values], rows, 1
    )


def _price(program: Program, m: Any, norm_cdf: Any, growth: Any, arguments: Sequence[Any]) -> Any:
    """The programs on whole arrays of the module ``m``; ``growth`` adds the steps of paths up."""
    if program.key == "black_scholes":
        S, K, r, sigma, T = arguments  # noqa: N806  the usual names
        spread = sigma * m.sqrt(T)
        d1 = (m.log(S / K) + (r + 0.5 * sigma**2) * T) / spread
        return S * norm_cdf(d1) - K * m.exp(-r * T) * norm_cdf(d1 - spread)
    Z, S0, K, r, sigma, T = arguments  # noqa: N806
    step = T / STEPS
    average = S0 * growth(Z, (r - 0.5 * sigma**2) * step, sigma * m.sqrt(step)) / STEPS
    return m.exp(-r * T) * m.where(average > K, average - K, 0.0)


def _module(name: str) -> Any:
    """An import without its types, which differ with the version and may not be there at all."""
    return import_module(name)


def _limit_xla(threads: int) -> None:
    """Hold XLA to some threads. It reads this when JAX first runs, so an earlier import wins."""
    if "jax" in sys.modules:
        return
    os.environ["NPROC"] = str(threads)
    if threads == 1:
        given = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{given} --xla_cpu_multi_thread_eigen=false".strip()


def _rows(inputs: Inputs) -> int:
    return max(len(x) for x in inputs.values() if isinstance(x, np.ndarray))


def _values_and_gradients(result: Any) -> list[Array]:
    values, gradients = result
    return [np.asarray(column) for column in (values, *gradients)]


COMPILED: Final = Engine("retrograde", "rg.compile", "retrograde", _compiled)
PEERS: Final = (
    Engine("JAX", "jit(vmap)", "jax", _jax),
    Engine("torch", "batched autograd", "torch", _torch),
    Engine("NumPy", "value only", "numpy", _numpy),
    Engine("retrograde", "eager", "retrograde", _eager),
)
