"""Calls that are traced once and carried out in one go from then on: the same nodes, bits, lines
and refusals as the first time, and as Python makes them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

RNG = np.random.default_rng(5)
X = RNG.normal(size=(4, 5))
CLASSES = np.array([1, 4, 0, -1])

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda rg, t: t.sum(0),
    "sum of both": lambda rg, t: t.sum((0, 1), keepdims=True),
    "mean": lambda rg, t: t.mean(-1, True),
    "mean of all": lambda rg, t: t.mean(),
    "max": lambda rg, t: t.max(axis=1),
    "max of both": lambda rg, t: t.max(axis=(0, 1)),
    "max of axes apart": lambda rg, t: t.reshape(2, 2, 5).max(axis=(0, 2)),
    "min": lambda rg, t: t.min(0, keepdims=True),
    "var": lambda rg, t: t.var(axis=1, ddof=1),
    "std": lambda rg, t: t.std(),
    "norm": lambda rg, t: t.norm(-1),
    "prod": lambda rg, t: t.prod(1),
    "softmax": lambda rg, t: t.softmax(-1),
    "log_softmax": lambda rg, t: rg.log_softmax(t, axis=0),
    "logsumexp": lambda rg, t: rg.logsumexp(t),
    "cross_entropy": lambda rg, t: rg.cross_entropy(t, CLASSES),
    "cross_entropy of a list": lambda rg, t: rg.cross_entropy(t, [1, 4, 0, 2]),
    "transpose": lambda rg, t: t.T,
    "swapaxes": lambda rg, t: t.reshape(2, 2, 5).swapaxes(0, -1),
    "reshape of a view": lambda rg, t: t.T.reshape(-1),
    "slices": lambda rg, t: t[1:, ::-2],
    "a column": lambda rg, t: t[:, 2],
    "a new axis": lambda rg, t: t[None, ..., 1:],
    "rows": lambda rg, t: t[np.array([3, -1, 0])],
    "rows by a list": lambda rg, t: t[[3, -1, 0]],
    "every other index": lambda rg, t: rg.embedding(t, np.arange(4)[::-2]),
    "squeeze": lambda rg, t: t[None].squeeze(0),
    "ravel": lambda rg, t: t.ravel(),
    "einsum": lambda rg, t: rg.einsum("ij,kj->ik", t, t),
    "an array beside it": lambda rg, t: rg.concatenate([X[:1], t]),
    "max_pool": lambda rg, t: rg.max_pool(t[None], (2, 2)),
    "sum of a view": lambda rg, t: t.T.sum(0),
    "stack of values": lambda rg, t: rg.stack([t[0, 0], t[1, 1]]),
}


def graph(rg: Any, root: Any) -> list[tuple[str, Any, Any]]:
    """Every node under a root: its op, its numbers, the line that made it."""
    return [
        (node.op, np.array(node.data).tobytes(), node.site.line if node.op != "leaf" else None)
        for node in rg.order(root)
    ]


def told(rg: Any, call: Callable[[Any, Any], Any]) -> tuple[Any, bytes]:
    """The graph of a call, and the bits of its gradient."""
    t = rg.Tensor(X)
    made = call(rg, t)
    found = graph(rg, made)
    ((made * made).sum() if made.ndim else made * made).backward()
    return found, t.grad.tobytes()


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_the_same_the_second_time_and_without_a_trace(
    rg: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = [told(rg, CALLS[name]) for _ in range(3)]
    assert again[0] == again[1] == again[2]
    doing = import_module(f"{rg.__name__}._tensors.doing")
    if not hasattr(doing.core, "composed"):
        return
    native = import_module(f"{rg.__name__}._native")
    tracing = import_module(f"{rg.__name__}._tensors.tracing")
    names = {name: row.wholes for name, row in tracing.ARRAYS.items() if row.wholes}
    native.take_compositions(lambda *call: None, names, np.asarray)  # nothing is traced
    try:
        assert told(rg, CALLS[name]) == again[0]
    finally:
        native.take_compositions(tracing.traced, names, np.asarray)


def test_second_derivatives_go_through_what_was_traced(rg: Any) -> None:
    def loss(t: Any) -> Any:
        return (rg.log_softmax(t.T, axis=-1) * t.mean(0, True).T).sum()

    first = rg.hessian(loss)(X[:2, :2])
    assert np.array_equal(first, rg.hessian(loss)(X[:2, :2]))


def test_whole_numbers_are_read_when_a_call_is_made(rg: Any) -> None:
    t, places = rg.Tensor(X), np.array([0, 1])
    for _ in range(2):
        places[:] = 0, 1
        made = t[places]
        places[:] = 3, 3
        made.sum().backward()
    assert t.grad.sum(1).tolist() == [10.0, 10.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda rg, t: rg.cross_entropy(t, np.array([1, 5, 0, 0])),
        lambda rg, t: rg.embedding(t, np.array([-5])),
        lambda rg, t: t[np.array([4])],
        lambda rg, t: t.sum(2),
        lambda rg, t: t.reshape(3, -1),
        lambda rg, t: t.swapaxes(0, 3),
        lambda rg, t: t[:, 5],
        lambda rg, t: t.mean(depth=1),
    ],
)
def test_refusals_are_the_same_every_time(rg: Any, call: Any) -> None:
    rg.cross_entropy(rg.Tensor(X), CLASSES)  # traced, with other numbers
    said = []
    for _ in range(3):
        with pytest.raises((ValueError, IndexError, TypeError)) as error:
            call(rg, rg.Tensor(X))
        said.append((type(error.value).__name__, str(error.value)))
    assert said[0] == said[1] == said[2]


def test_modes_hold_for_what_was_traced(rg: Any) -> None:
    t = rg.Tensor(X)
    t.softmax(-1)
    with rg.no_grad():
        made = t.softmax(-1)
    assert (made.op, made.requires_grad) == ("leaf", False)
    t.mean()
    with rg.anomaly(), pytest.raises(rg.errors.AnomalyError, match=r"^(mul|sum) produced"):
        (t * np.inf).mean()
    assert rg.Tensor(X, requires_grad=False).softmax(-1).op == "leaf"


def test_nothing_but_what_is_stopped_is_left_out_of_the_graph(rg: Any) -> None:
    for _ in range(2):
        ops = [node.op for node in rg.order(rg.Tensor(X).softmax(-1))]
        assert [op for op in ops if op != "leaf"] == ["sub", "exp", "sum", "div"]


def test_copies_give_the_same_bits(rg: Any) -> None:
    big = np.random.default_rng(1).normal(size=(40, 30))

    def loss(x: Any, w: Any) -> Any:
        h = rg.tanh(x @ w + w[0, :4].sum() * x.mean(0)[:4])
        picked = rg.cross_entropy(h[1:].T.reshape(-1, 4), np.arange(39) % 4)
        return picked + (h * h).sum() + h.max(axis=1).var()

    x, w = rg.Tensor(big), rg.Tensor(big[:30, :4] * 0.1)
    root = loss(x, w)
    for again in (copy.deepcopy(root), pickle.loads(pickle.dumps(root))):
        leaves = [node for node in rg.order(again) if node.op == "leaf" and node.requires_grad]
        again.backward()
        x.grad = w.grad = None
        root.backward()
        found = sorted(leaf.grad.tobytes() for leaf in leaves if isinstance(leaf, rg.Tensor))
        assert found == sorted([x.grad.tobytes(), w.grad.tobytes()])
        assert [n.op for n in rg.order(again)] == [n.op for n in rg.order(root)]
