"""Compiled functions on tensors: a step of training, beside hand-written C, JAX and PyTorch.

Every workload computes a loss and its gradients by all parameters, float64, one thread. Agreement
is checked first. Peers that are not installed are left out. Forms take turns, so that a busy
machine is busy for all of them; what is shown is the best turn.

    python benchmarks/shapes.py                  # all, about a minute
    python benchmarks/shapes.py --only mlp
    python benchmarks/shapes.py --compile        # torch.compile too, which takes minutes
"""

from __future__ import annotations

import argparse
import ctypes
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from gpt_forms import C
from replay_limits import NATIVE, library
from shapes_models import MODELS

import retrograde as rg
from retrograde.models import GPT, Shape

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ.setdefault("XLA_FLAGS", ONE_THREAD)  # JAX reads it when it is imported, below

Step = Callable[[], Any]
"""One step: gradients as a list of arrays, or None where they are elsewhere."""


def turns(forms: dict[str, Step], rounds: int, seconds: float = 0.02) -> dict[str, float]:
    """Microseconds of a step, the best of some rounds in which all take their turn."""
    often = {}
    for name, step in forms.items():
        step()
        began = time.perf_counter()
        step()
        often[name] = max(1, int(seconds / (time.perf_counter() - began)))
    best = dict.fromkeys(forms, float("inf"))
    for _ in range(rounds):
        for name, step in forms.items():
            began = time.perf_counter()
            for _ in range(often[name]):
                step()
            best[name] = min(best[name], (time.perf_counter() - began) / often[name])
    return {name: 1e6 * took for name, took in best.items()}


def gpt(positions: int) -> tuple[dict[str, Step], float]:
    """The packaged model on one document, against limits/gpt.c."""
    shape = Shape(vocabulary=27)
    model = GPT(shape, seed=1).tensors()
    state = {name: np.asarray(array) for name, array in model.state_dict().items()}
    draw = np.random.default_rng(0)
    tokens = [26, *draw.integers(0, 26, positions - 1).tolist(), 26]

    def loss(seen: np.ndarray) -> Any:
        return model.loss_of(seen)

    compiled, document = rg.compile(loss), np.array([tokens])
    began = time.perf_counter()
    value = compiled.backward(document)
    built = time.perf_counter() - began
    hand = C(shape, state, time.perf_counter)
    given = (ctypes.c_int64 * len(tokens))(*tokens)
    wanted = hand._differentiate(hand._model, positions, given)
    assert abs(value - wanted) < 1e-12 * abs(wanted), (value, wanted)
    forms: dict[str, Step] = {
        "compiled": lambda: compiled.backward(document),
        "C by hand": lambda: hand._differentiate(hand._model, positions, given),
        "tensors": lambda: model.loss_of(document).backward(),
    }
    return forms, built


def mlp() -> tuple[dict[str, Step], float]:
    """64-128-128-10 with tanh and cross entropy, a batch of 32."""
    draw = np.random.default_rng(1)
    sizes = ((64, 128), (128,), (128, 128), (128,), (128, 10), (10,))
    start = [draw.standard_normal(size) * 0.1 for size in sizes]
    x, y = draw.standard_normal((32, 64)), draw.integers(0, 10, 32)

    def loss(w: Any, x: Any, xp: Any, pick: Any) -> Any:
        h = xp.tanh(x @ w[0] + w[1])
        h = xp.tanh(h @ w[2] + w[3])
        return pick(h @ w[4] + w[5])

    forms, built = against(start, lambda w, xp, pick: loss(w, x, xp, pick), y)
    peak = library("peak", NATIVE).limit_peak
    peak.argtypes, peak.restype = [ctypes.c_size_t], ctypes.c_double
    # forward, and back to the weights; to what came in from the second layer on
    count = 32 * (2 * 64 * 128 + 3 * 128 * 128 + 3 * 128 * 10)
    forms["its multiply-adds alone, at the peak"] = lambda: peak(count)
    return forms, built


def rnn() -> tuple[dict[str, Step], float]:
    """16 inputs, 32 units, a batch of 8, 50 steps; the mean square of the last state."""
    draw = np.random.default_rng(2)
    start = [draw.standard_normal(size) * 0.2 for size in ((16, 32), (32, 32), (32,))]
    x = draw.standard_normal((50, 8, 16))

    def loss(w: Any, xp: Any, pick: Any) -> Any:
        h = x[0] @ w[0]
        for step in range(1, 50):
            h = xp.tanh(x[step] @ w[0] + h @ w[1] + w[2])
        return (h * h).mean()

    return against(start, loss, None)


def against(start: list[Any], loss: Any, y: Any) -> tuple[dict[str, Step], float]:
    """A loss on our tensors, compiled and not, and on JAX and PyTorch where they are installed."""
    tensors = [rg.Tensor(array) for array in start]

    def ours(scale: Any) -> Any:
        return loss(tensors, rg, lambda z: rg.cross_entropy(z, y)) * scale

    compiled = rg.compile(ours)
    began = time.perf_counter()
    compiled.backward(1.0)
    built = time.perf_counter() - began
    wanted = [np.array(t.grad) for t in tensors]

    def eager() -> None:
        loss(tensors, rg, lambda z: rg.cross_entropy(z, y)).backward()

    forms: dict[str, Step] = {"compiled": lambda: compiled.backward(1.0), "tensors": eager}
    torch_name = "torch.compile" if COMPILE else "torch"
    for name, peer in (("JAX jit", jax_step), (torch_name, torch_step)):
        try:
            step = peer(start, loss, y)
        except ImportError:
            continue
        for one, other in zip(step(), wanted):
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-9, atol=1e-12)
        forms[name] = step
    return forms, built


def jax_step(start: list[Any], loss: Any, y: Any) -> Step:
    """jit(grad) of the same loss."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def pick(z: Any) -> Any:
        return -jax.nn.log_softmax(z)[jnp.arange(len(y)), y].mean()

    gradient = jax.jit(jax.grad(lambda w: loss(w, jnp, pick)))
    given = [jnp.asarray(array) for array in start]
    return lambda: jax.block_until_ready(gradient(given))


def torch_step(start: list[Any], loss: Any, y: Any) -> Step:
    """The same loss on PyTorch's tensors; with --compile through torch.compile."""
    import torch

    torch.set_num_threads(1)
    given = [torch.tensor(array, requires_grad=True) for array in start]

    class Numpy:
        tanh = staticmethod(torch.tanh)

    def pick(z: Any) -> Any:
        return torch.nn.functional.cross_entropy(z, torch.as_tensor(y))

    def whole(*w: Any) -> Any:
        return loss(_Arrays(w), Numpy, pick)

    run = torch.compile(whole) if COMPILE else whole

    def step() -> Any:
        return [g.numpy() for g in torch.autograd.grad(run(*given), given)]

    return step


class _Arrays(list):  # type: ignore[type-arg]
    """Weights that NumPy's arrays on their left leave to PyTorch."""

    def __init__(self, weights: Any) -> None:
        super().__init__(_Left(w) for w in weights)


class _Left:
    __array_ufunc__ = None

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def __rmatmul__(self, other: Any) -> Any:
        import torch

        return (torch.as_tensor(other) if isinstance(other, np.ndarray) else other) @ self.tensor

    def __radd__(self, other: Any) -> Any:
        return other + self.tensor


WORKLOADS: dict[str, Callable[[], tuple[dict[str, Step], float]]] = {
    "gpt, 7 positions": lambda: gpt(7),
    "gpt, 16 positions": lambda: gpt(16),
    "mlp": mlp,
    "rnn": rnn,
    **MODELS,
}
COMPILE = False


def main() -> None:
    global COMPILE
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="workloads whose name holds this")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--compile", action="store_true", help="torch.compile")
    options = parser.parse_args()
    COMPILE = options.compile
    for name, make in WORKLOADS.items():
        if options.only not in name:
            continue
        forms, built = make()
        found = turns(forms, options.rounds)
        own = found["compiled"]
        told = ", ".join(f"{form} {took:.1f} ({own / took:.2f})" for form, took in found.items())
        print(f"{name}: µs a step (compiled against it): {told}; built in {1e3 * built:.0f} ms")


if __name__ == "__main__":
    main()
