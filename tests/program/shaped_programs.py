"""Random functions on tensors, drawn from a seed: one function, on tensors and compiled."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

UNARY = ("tanh", "exp", "sigmoid", "relu", "sin", "square", "abs", "neg", "softplus")
BINARY = ("add", "sub", "mul", "maximum", "minimum")


class Drawn:
    """A function of two tensors, whole numbers and a number, with captured parameters."""

    def __init__(self, rg: ModuleType, seed: int, length: int = 14) -> None:
        rng = np.random.default_rng(seed)
        self.seed, self.length = seed, length
        rows, columns = (int(n) for n in rng.integers(1, 5, 2))
        self.x = rng.standard_normal((rows, columns))
        self.y = rng.standard_normal((columns, int(rng.integers(1, 5))))
        self.n = rng.integers(-rows, rows, int(rng.integers(1, 5)))
        self.t = float(rng.standard_normal())
        self.rg = rg
        self.w = rg.Tensor(rng.standard_normal((columns,)), label="w")
        self.v = rg.Value(float(rng.standard_normal()), label="v")

    def function(self) -> Callable[..., Any]:
        rg = self.rg

        def f(x: Any, y: Any, n: Any, t: Any) -> Any:
            rng = np.random.default_rng(self.seed + 1)
            pool = [x, y, self.w, x * t, x[n]]
            for _ in range(self.length):
                pool.append(_step(rg, rng, pool, self.v))
            total = self.v * 0.2
            for k, it in enumerate(pool[2:]):
                part = it.mean() if it.shape else it
                total = total + part * (0.3 + 0.1 * k)
            return total

        f.__annotations__ = {"x": rg.Tensor, "y": rg.Tensor, "n": np.ndarray}
        return f


def _step(rg: ModuleType, rng: Any, pool: list[Any], v: Any) -> Any:
    """One more tensor, of tensors that are there."""
    kind = int(rng.integers(0, 17))
    a = pool[int(rng.integers(len(pool)))]
    b = pool[int(rng.integers(len(pool)))]
    rank = len(a.shape)
    axis = int(rng.integers(rank)) if rank else 0
    if kind == 0 or rank == 0:
        return getattr(rg, UNARY[int(rng.integers(len(UNARY)))])(a * 0.5)
    if kind == 1:
        return a * v + 0.25
    if kind == 2:
        return a.sum(axis=axis)
    if kind == 3:
        return a.max(axis=axis, keepdims=True)
    if kind == 4:
        return a.reshape(-1)[:: int(rng.integers(1, 3))]
    if kind == 5 and rank > 1:
        return a.transpose()
    if kind == 6:
        return rg.softmax(a, axis=axis)
    if kind == 7:
        return rg.where(a > 0.1, a * a, 0.5 * a)
    if kind == 8:
        return rg.cumsum(a, axis=axis)
    if kind == 9:
        return a[..., ::-1] * 0.7
    if kind == 10:
        return rg.concatenate([a, a * 0.5], axis=axis)
    if kind == 11:
        return a.detach() * a
    if kind == 12 and rank > 1:
        return a @ a.T if rank == 2 else rg.einsum("...ij,...kj->...ik", a, a)
    if kind == 13:
        return a / (1.0 + a * a)
    if kind == 14:
        return rg.stack([a, 2.0 * a], axis=axis)
    if kind == 15:
        return (a - a.mean(axis=axis, keepdims=True)) * 0.5
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return a * 0.9
    return getattr(rg, BINARY[int(rng.integers(len(BINARY)))])(a * 0.5, b)


def gradients(drawn: Drawn) -> dict[str, Any]:
    """Value and gradients on tensors."""
    rg = drawn.rg
    x, y, t = rg.Tensor(drawn.x), rg.Tensor(drawn.y), rg.Value(drawn.t)
    drawn.w.grad, drawn.v.grad = None, 0.0
    value = drawn.function()(x, y, drawn.n, t)
    value.backward()
    return {"value": value.data, "x": x.grad, "y": y.grad, "t": t.grad,
            "w": np.array(drawn.w.grad), "v": drawn.v.grad}  # fmt: skip


def replayed(drawn: Drawn) -> dict[str, Any]:
    """The same by a compiled function."""
    compiled = drawn.rg.compile(drawn.function())
    given = (drawn.x, drawn.y, drawn.n, drawn.t)
    value, (x, y, t) = compiled.value_and_grad(*given)
    assert compiled(*given) == value
    drawn.w.grad, drawn.v.grad = None, 0.0
    assert compiled.backward(*given) == value
    return {"value": value, "x": x, "y": y, "t": t, "w": np.array(drawn.w.grad),
            "v": drawn.v.grad}  # fmt: skip
