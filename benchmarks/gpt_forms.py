"""The forms of one GPT step that benchmarks/gpt.py times: the same model, numbers and documents.

Each form has `step(tokens, rate) -> (loss, seconds of forward and backward, seconds of the whole
step)`. The scalar forms run examples/microgpt.py, with one engine or another as its Value.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import microgpt_class
import numpy as np
from replay_limits import FAST_MATH, NATIVE, library

import retrograde
from retrograde.models import GPT, Shape
from retrograde.models.tensor_step import TensorStep
from retrograde.models.training import CompiledStep, EagerStep

BETAS = (0.85, 0.99)
Clock = Callable[[], float]
Timed = tuple[float, float, float]
State = dict[str, Any]


class Form(Protocol):
    """One way of taking a step."""

    key: str
    title: str

    def step(self, tokens: list[int], rate: float) -> Timed:
        """Learn from one document."""


def example() -> Any:
    """A fresh copy of examples/microgpt.py as a module."""
    path = Path(__file__).resolve().parents[1] / "examples" / "microgpt.py"
    spec = importlib.util.spec_from_file_location("example_microgpt", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Scalars:
    """examples/microgpt.py on an engine, its Adam a Python loop."""

    def __init__(self, key: str, title: str, engine: type, shape: Shape, draw: Any, clock: Clock):
        self.key, self.title, self._clock = key, title, clock
        self._gpt = example()
        self._gpt.Value = engine
        sizes = (shape.vocabulary, shape.embedding, shape.heads, shape.layers, shape.context)
        self._weights = self._gpt.Weights.drawn(self._gpt.Size(*sizes), draw)
        self._adam = self._gpt.Adam(self._weights.parameters(), *BETAS)

    def step(self, tokens: list[int], rate: float) -> Timed:
        began = self._clock()
        loss = self._gpt.loss_of(self._weights, tokens)
        loss.backward()
        differentiated = self._clock()
        self._adam.step(rate)
        data = loss.data
        del loss
        return data, differentiated - began, self._clock() - began


class Fused:
    """The packaged model on fused nodes, and rg.optim.Adam."""

    key, title = "fused", "retrograde, fused nodes and rg.optim.Adam"

    def __init__(self, shape: Shape, draw: Any, clock: Clock) -> None:
        self._clock = clock
        self.model = GPT(shape, draw)
        self._compute = EagerStep(self.model)
        self._adam = retrograde.optim.Adam(self.model, 0.01, BETAS)

    def step(self, tokens: list[int], rate: float) -> Timed:
        began = self._clock()
        loss = self._compute([tokens])
        differentiated = self._clock()
        self._adam.param_groups[0]["lr"] = rate
        self._adam.step()
        return loss, differentiated - began, self._clock() - began


class Compiled(Fused):
    """The packaged model replayed, one recording for each length of document."""

    key, title = "compiled", "retrograde, compiled, and rg.optim.Adam"

    def __init__(self, shape: Shape, draw: Any, clock: Clock) -> None:
        super().__init__(shape, draw, clock)
        self._compute = CompiledStep(self.model)

    def warm(self, tokens: list[int]) -> None:
        """Record the length of this document."""
        self._compute([tokens])

    def batch(self, documents: list[list[int]]) -> float:
        """Seconds of forward and backward of many documents at once, the best of five."""
        self._compute(documents)
        times = []
        for _ in range(5):
            began = self._clock()
            self._compute(documents)
            times.append(self._clock() - began)
        return min(times)


class Tensors(Fused):
    """The packaged model on tensors, all positions at once."""

    key, title = "tensors", "retrograde, tensors and rg.optim.Adam"

    def __init__(self, shape: Shape, draw: Any, clock: Clock) -> None:
        self._clock = clock
        self.model = GPT(shape, draw).tensors()
        self._compute = TensorStep(self.model)
        self._adam = retrograde.optim.Adam(self.model, 0.01, BETAS)


class Written:
    """The same written out on tensors, as the forms of PyTorch and JAX are, without modules."""

    key, title = "written", "retrograde, tensors written out and rg.optim.Adam"

    def __init__(self, shape: Shape, state: State, clock: Clock) -> None:
        self._shape, self._clock = shape, clock
        self._p = {name: retrograde.Tensor(array) for name, array in state.items()}
        self._adam = retrograde.optim.Adam(list(self._p.values()), 0.01, BETAS)
        self._seen = [
            retrograde.Tensor(np.tri(count), requires_grad=False)
            for count in range(1, shape.context + 1)
        ]

    def differentiate(self, given: Any) -> float:
        """The loss of one document and its gradients."""
        self._adam.zero_grad()
        loss = self._loss(given)
        loss.backward()
        return float(loss.data)

    def gradient(self) -> Any:
        """What the last document brought, as one array."""
        return np.concatenate([np.ravel(it.grad) for it in self._p.values()])

    def _loss(self, given: Any) -> Any:
        p, shape = self._p, self._shape
        count, heads = len(given) - 1, shape.heads
        apart, scale = (count, heads, -1), (shape.embedding // heads) ** -0.5

        def norm(x: Any) -> Any:
            return x * ((x * x).mean(-1, True) + 1e-5) ** -0.5

        x = norm(p["token.weight"][given[:-1]] + p["position.weight"][:count])
        for at in range(shape.layers):
            name, h = f"blocks.{at}", norm(x)
            q, k, v = (
                (h @ p[f"{name}.attention.{part}.weight"].T).reshape(apart)
                for part in ("query", "key", "value")
            )
            scores = (q.transpose(1, 0, 2) * scale) @ k.transpose(1, 2, 0)
            scores = retrograde.where(self._seen[count - 1], scores, -np.inf)
            mixed = scores.softmax(-1) @ v.transpose(1, 0, 2)
            mixed = mixed.transpose(1, 0, 2).reshape(count, -1)
            x = mixed @ p[f"{name}.attention.output.weight"].T + x
            hidden = (norm(x) @ p[f"{name}.up.weight"].T).relu().square()
            x = hidden @ p[f"{name}.down.weight"].T + x
        return retrograde.nn.cross_entropy(x @ p["head.weight"].T, given[1:])

    def step(self, tokens: list[int], rate: float) -> Timed:
        began = self._clock()
        self._adam.zero_grad()
        loss = self._loss(np.array(tokens[: self._shape.context + 1]))
        loss.backward()
        differentiated = self._clock()
        self._adam.param_groups[0]["lr"] = rate
        self._adam.step()
        data = loss.data
        del loss
        return data, differentiated - began, self._clock() - began


class C:
    """limits/gpt.c: the adjoint by hand, positions as lanes, Adam over all parameters at once."""

    key, title = "c", "C by hand, the limit"

    def __init__(self, shape: Shape, state: State, clock: Clock) -> None:
        self._clock, self._context = clock, shape.context
        built = library("gpt", NATIVE)
        sizes = (shape.vocabulary, shape.embedding, shape.heads, shape.layers, shape.context)
        parameters = np.concatenate([np.ravel(a) for a in state.values()])
        built.limit_gpt_open.restype = ctypes.c_void_p
        opened = built.limit_gpt_open(
            (ctypes.c_size_t * 5)(*sizes), ctypes.c_void_p(parameters.ctypes.data)
        )
        self._model = ctypes.c_void_p(opened)
        weakref.finalize(self, built.limit_gpt_close, self._model)
        self._differentiate, self._update = built.limit_gpt_differentiate, built.limit_gpt_update
        self._differentiate.restype = ctypes.c_double
        self._differentiate.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
        self._update.restype = None
        self._update.argtypes = [ctypes.c_void_p, *[ctypes.c_double] * 4]

    def differentiate(self, positions: int, given: Any) -> float:
        """The loss of one document; its gradients are kept."""
        return float(self._differentiate(self._model, positions, given))

    def step(self, tokens: list[int], rate: float) -> Timed:
        began = self._clock()
        count = min(len(tokens) - 1, self._context)
        given = (ctypes.c_int64 * len(tokens))(*tokens)
        loss = self._differentiate(self._model, count, given)
        differentiated = self._clock()
        self._update(self._model, rate, *BETAS, 1e-8)
        return loss, differentiated - began, self._clock() - began


class PlainC:
    """limits/gpt_plain.c: forward and backward as one writes them, vectorised by the compiler."""

    def __init__(self, state: State) -> None:
        self._numbers = np.concatenate([np.ravel(a) for a in state.values()])
        self._built = library("gpt_plain", FAST_MATH)
        self._built.plain_gpt_take(ctypes.c_void_p(self._numbers.ctypes.data))
        self.differentiate = self._built.plain_gpt
        self.differentiate.restype = ctypes.c_double
        self.differentiate.argtypes = [ctypes.c_int64, ctypes.c_void_p]

    def gradient(self) -> Any:
        """What the last document brought, as one array."""
        found = np.empty_like(self._numbers)
        self._built.plain_gpt_gradient(ctypes.c_void_p(found.ctypes.data))
        return found


class Torch:
    """torch, eager, whole matrices, float64, one thread, torch.optim.Adam."""

    key, title = "torch", "torch, eager"

    def __init__(self, shape: Shape, state: State, clock: Clock) -> None:
        import torch

        torch.set_num_threads(1)
        self._torch, self._shape, self._clock = torch, shape, clock
        self._p = {name: torch.tensor(a, requires_grad=True) for name, a in state.items()}
        self._adam = torch.optim.Adam(self._p.values(), 0.01, BETAS)
        self._compute: Callable[[Any], Any] = self._loss

    def _loss(self, given: Any) -> Any:
        torch, p, shape = self._torch, self._p, self._shape
        count, heads = len(given) - 1, shape.heads

        def norm(x: Any) -> Any:
            return x * (x.pow(2).mean(-1, keepdim=True) + 1e-5).rsqrt()

        x = norm(p["token.weight"][given[:count]] + p["position.weight"][:count])
        for at in range(shape.layers):
            name, h = f"blocks.{at}", norm(x)
            q, k, v = (
                (h @ p[f"{name}.attention.{part}.weight"].T).view(count, heads, -1).transpose(0, 1)
                for part in ("query", "key", "value")
            )
            mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            mixed = mixed.transpose(0, 1).reshape(count, -1)
            x = x + mixed @ p[f"{name}.attention.output.weight"].T
            hidden = torch.relu(norm(x) @ p[f"{name}.up.weight"].T) ** 2
            x = x + hidden @ p[f"{name}.down.weight"].T
        return torch.nn.functional.cross_entropy(x @ p["head.weight"].T, given[1:])

    def step(self, tokens: list[int], rate: float) -> Timed:
        began = self._clock()
        loss = self._compute(self._torch.tensor(tokens[: self._shape.context + 1]))
        self._adam.zero_grad(set_to_none=False)
        loss.backward()
        differentiated = self._clock()
        self._adam.param_groups[0]["lr"] = rate
        self._adam.step()
        return loss.item(), differentiated - began, self._clock() - began


class TorchCompiled(Torch):
    """The same through torch.compile, once for each length of a document; Adam stays eager."""

    key, title = "torch-compiled", "torch, torch.compile"

    def __init__(self, shape: Shape, state: State, clock: Clock) -> None:
        super().__init__(shape, state, clock)
        self._torch._dynamo.config.cache_size_limit = max(8, shape.context + 1)
        self._compute = self._torch.compile(self._loss, dynamic=False, fullgraph=True)

    def warm(self, tokens: list[int]) -> None:
        """Compile for the length of a document; no parameter is changed."""
        self._compute(self._torch.tensor(tokens[: self._shape.context + 1])).backward()


class Jax:
    """JAX: the whole step compiled, once for each length of a document, float64."""

    key, title = "jax", "JAX, jit of the whole step"

    def __init__(self, shape: Shape, state: State, clock: Clock) -> None:
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        self._jax, self._jnp, self._shape, self._clock = jax, jnp, shape, clock
        self._p = {name: jnp.asarray(a) for name, a in state.items()}
        zeros = {name: jnp.zeros_like(a) for name, a in self._p.items()}
        self._mean, self._square, self._steps = zeros, dict(zeros), 0
        self._compiled = jax.jit(self._update)

    def warm(self, tokens: list[int]) -> None:
        """Compile for the length of a document; nothing is changed."""
        given = self._given(tokens)
        self._compiled(self._p, self._mean, self._square, given, 1.0, 0.0)[0].block_until_ready()

    def _given(self, tokens: list[int]) -> Any:
        return np.array(tokens[: self._shape.context + 1], dtype=np.int32)

    def _loss(self, p: State, tokens: Any) -> Any:
        jax, jnp, shape = self._jax, self._jnp, self._shape
        count, width = len(tokens) - 1, shape.embedding // shape.heads

        def norm(x: Any) -> Any:
            return x * (jnp.mean(x * x, -1, keepdims=True) + 1e-5) ** -0.5

        x = norm(p["token.weight"][tokens[:-1]] + p["position.weight"][:count])
        mask = jnp.where(jnp.tril(jnp.ones((count, count))) > 0, 0.0, -jnp.inf)
        for at in range(shape.layers):
            name, h = f"blocks.{at}", norm(x)
            q, k, v = (
                (h @ p[f"{name}.attention.{part}.weight"].T).reshape(count, shape.heads, width)
                for part in ("query", "key", "value")
            )
            scores = jnp.einsum("ihd,jhd->hij", q, k) / width**0.5 + mask
            mixed = jnp.einsum("hij,jhd->ihd", jax.nn.softmax(scores), v).reshape(count, -1)
            x = x + mixed @ p[f"{name}.attention.output.weight"].T
            hidden = jax.nn.relu(norm(x) @ p[f"{name}.up.weight"].T) ** 2
            x = x + hidden @ p[f"{name}.down.weight"].T
        logits = jax.nn.log_softmax(x @ p["head.weight"].T)
        return -jnp.mean(logits[jnp.arange(count), tokens[1:]])

    def _update(
        self, p: State, mean: State, square: State, tokens: Any, steps: float, rate: float
    ) -> tuple[Any, State, State, State]:
        tree = self._jax.tree.map
        loss, grads = self._jax.value_and_grad(self._loss)(p, tokens)
        one, two = BETAS
        mean = tree(lambda m, g: one * m + (1 - one) * g, mean, grads)
        square = tree(lambda s, g: two * s + (1 - two) * g * g, square, grads)

        def moved(x: Any, m: Any, s: Any) -> Any:
            root = (s / (1 - two**steps)) ** 0.5
            return x - rate * m / (1 - one**steps) / (root + 1e-8)

        return loss, tree(moved, p, mean, square), mean, square

    def step(self, tokens: list[int], rate: float) -> Timed:
        began = self._clock()
        self._steps += 1
        given = self._given(tokens)
        loss, self._p, self._mean, self._square = self._compiled(
            self._p, self._mean, self._square, given, float(self._steps), rate
        )
        number = float(loss)
        self._p["head.weight"].block_until_ready()
        whole = self._clock() - began
        return number, whole, whole


def scalar_forms(shape: Shape, draw: Callable[[], Any], clock: Clock) -> list[Form]:
    """Pure Python, and the same program with only its Value replaced."""
    pure = Scalars("pure", "pure Python", microgpt_class.Value, shape, draw(), clock)
    title = "retrograde, only Value replaced"
    return [pure, Scalars("drop-in", title, retrograde.Value, shape, draw(), clock)]
