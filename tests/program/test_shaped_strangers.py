"""Functions on arrays as people write them: compiled as they run on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

RNG = np.random.default_rng(7)


def ridge(rg: Any) -> Any:
    def f(X, y, w):
        r = X @ w - y
        return (r * r).sum() + 0.1 * (w**2).sum()

    return f, (RNG.normal(size=(20, 5)), RNG.normal(size=20), RNG.normal(size=5))


def logistic(rg: Any) -> Any:
    def f(X, w, b):
        p = 1 / (1 + np.exp(-(X @ w + b)))
        return -np.log(p).mean()

    return f, (RNG.normal(size=(9, 4)), RNG.normal(size=4), np.array([0.3]))


def kalman(rg: Any) -> Any:
    """A filter with matrices, the way it stands in textbooks."""

    def f(F, H, Q, R, seen):
        x, P, likelihood = np.zeros(2), np.eye(2), 0.0
        for t in range(len(seen)):
            x, P = F @ x, F @ P @ F.T + Q
            S, v = H @ P @ H.T + R, seen[t] - H @ x
            K = P @ H.T @ rg.inverse(S)
            x, P = x + K @ v, P - K @ H @ P
            likelihood = likelihood - 0.5 * (v @ rg.solve(S, v))
            likelihood = likelihood - np.log(rg.diag(rg.cholesky(S))).sum()
        return likelihood

    F, seen = np.array([[1.0, 0.1], [0.0, 1.0]]), RNG.normal(size=(6, 2))
    return f, (F, np.eye(2), 0.01 * np.eye(2), 0.1 * np.eye(2), seen)


def attention(rg: Any) -> Any:
    def f(q, k, v):
        scores = q @ k.T / np.sqrt(q.shape[1]) + np.triu(np.full((5, 5), -1e9), 1)
        return (rg.softmax(scores, axis=-1) @ v).sum()

    return f, tuple(RNG.normal(size=(5, 4)) for _ in range(3))


def memory_cell(rg: Any) -> Any:
    """The gates come out of a generator, which reads a name that every round binds anew."""

    def f(x, W, U):
        h, c = np.zeros(3), np.zeros(3)
        for t in range(x.shape[0]):
            g = x[t] @ W + h @ U
            i, forget, o, u = (g[3 * j : 3 * j + 3] for j in range(4))
            c = rg.sigmoid(forget) * c + rg.sigmoid(i) * np.tanh(u)
            h = rg.sigmoid(o) * np.tanh(c)
        return h.sum()

    return f, (RNG.normal(size=(7, 2)), RNG.normal(size=(2, 12)), RNG.normal(size=(3, 12)))


def convolution(rg: Any) -> Any:
    def f(x, k):
        return rg.relu(rg.conv2d(x, k)).max(axis=(2, 3)).sum()

    return f, (RNG.normal(size=(2, 3, 8, 8)), RNG.normal(size=(4, 3, 3, 3)))


def gaussian_process(rg: Any) -> Any:
    def f(X, y, length):
        d = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
        K = np.exp(-0.5 * d / length[0] ** 2) + 0.1 * np.eye(np.shape(X)[0])
        return 0.5 * y @ rg.solve(K, y) + np.log(rg.diag(rg.cholesky(K))).sum()

    return f, (RNG.normal(size=(6, 2)), RNG.normal(size=6), np.array([1.3]))


def statistics(rg: Any) -> Any:
    """Sorted, summed up, cut off and chosen, and asked for sizes on the way."""

    def f(x):
        ranks = (np.sort(x) * np.arange(float(np.size(x)))).sum() / np.ndim(x)
        kept = np.where(x > 0, x, -2 * x).sum() + rg.clip(x, -0.5, 0.5).sum()
        return ranks + x.max() - x.min() + np.cumsum(x).prod() + kept

    return f, (RNG.normal(size=5),)


PROGRAMS = [
    ridge, logistic, kalman, attention, memory_cell, convolution, gaussian_process, statistics,
]  # fmt: skip


@pytest.mark.parametrize("make", PROGRAMS)
def test_programs_of_others_agree_with_tensors(rg: Any, make: Callable[[Any], Any]) -> None:
    f, arrays = make(rg)
    f.__annotations__ = dict.fromkeys(f.__code__.co_varnames[: len(arrays)], rg.Tensor)
    tensors = [rg.Tensor(array) for array in arrays]
    z = f(*tensors)
    z.backward()
    compiled = rg.compile(f)
    for _ in range(2):
        value, slopes = compiled.value_and_grad(*arrays)
        assert value == pytest.approx(z.data, rel=1e-12)
        for found, tensor in zip(slopes if len(arrays) > 1 else (slopes,), tensors):
            scale = max(1.0, np.abs(tensor.grad).max())
            np.testing.assert_allclose(found, tensor.grad, rtol=0, atol=1e-11 * scale)
    assert compiled(*arrays) == pytest.approx(value, rel=1e-14)


def test_indices_are_read_at_every_call(rg: Any) -> None:
    def f(table, words):
        return (table[words] ** 2).sum()

    f.__annotations__ = {"table": rg.Tensor, "words": np.ndarray}
    compiled, table = rg.compile(f), np.arange(15.0).reshape(5, 3)
    for word in (0, 4, -1, 2):
        assert compiled(table, np.array([word])) == (table[word] ** 2).sum()
        _, slope = compiled.value_and_grad(table, np.array([word]), wrt="table")
        assert np.flatnonzero(slope.sum(axis=1)).tolist() == [word % 5]
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 of length 5"):
        compiled(table, np.array([7]))


def test_a_name_whose_tensor_decides_what_comes_out_is_refused(rg: Any) -> None:
    """Bound anew by the function itself, and read before: a replay would not repeat that."""
    held = {"weight": rg.Tensor([1.0, 2.0])}

    def f(x):
        z = (x * held["weight"]).sum()
        held["weight"] = held["weight"] * 2.0
        return z

    f.__annotations__ = {"x": rg.Tensor}
    with pytest.raises(rg.errors.RecordingError, match=r"a replay (cannot|would not)"):
        rg.compile(f)(np.ones(2))
