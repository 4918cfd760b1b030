"""Whole programs on the array law against PyTorch: a transformer block, and random ones."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from .array_cases import F, agree, do, torch
from .array_tape import Tensor, order


def attention(x: Any, wq: Any, wk: Any, wv: Any, wo: Any, table: Any) -> Any:
    """One causal head with a norm, a residual and a loss, in rows."""
    x = do("add", do("embedding", x, n=TOKENS), do("index", table, key=(slice(0, 6),)))
    apart = do("sub", x, do("mean", x, axis=-1, keepdims=True))
    spread = do("add", do("var", x, axis=-1, keepdims=True), 1e-5)
    x = do("div", apart, do("sqrt", spread))
    q, k, v = (do("matmul", x, w) for w in (wq, wk, wv))
    scores = do("mul", do("matmul", q, do("transpose", k)), 0.5)
    seen = np.tri(6)
    scores = do("where", Tensor(seen, requires_grad=False), scores, -np.inf)
    mixed = do("matmul", do("softmax", scores), v)
    return do("cross_entropy", do("add", do("matmul", mixed, wo), x), n=TARGETS)


def theirs(x: Any, wq: Any, wk: Any, wv: Any, wo: Any, table: Any) -> Any:
    x = F.embedding(torch.tensor(TOKENS), x) + table[:6]
    x = F.layer_norm(x, (4,))
    q, k, v = x @ wq, x @ wk, x @ wv
    scores = (q @ k.T * 0.5).masked_fill(torch.tensor(np.tri(6)) == 0, -torch.inf)
    return F.cross_entropy(scores.softmax(-1) @ v @ wo + x, torch.tensor(TARGETS))


TOKENS, TARGETS = [0, 3, 1, 1, 4, 2], [3, 1, 1, 0, 2, 2]


def test_a_transformer_block_has_torchs_gradients() -> None:
    rng = np.random.default_rng(0)
    shapes = [(5, 4), (4, 4), (4, 4), (4, 4), (4, 4), (8, 4)]
    arrays = [rng.standard_normal(shape) for shape in shapes]
    ours = [Tensor(array) for array in arrays]
    others = [torch.tensor(array, requires_grad=True) for array in arrays]
    loss, expected = attention(*ours), theirs(*others)
    agree("loss", loss.data, expected.detach().numpy())
    found = do.gradients(loss, ours)
    wanted = torch.autograd.grad(expected, others)
    for u, v in zip(found, wanted):
        agree("gradient", u.data, v.numpy())


STEPS: dict[str, tuple[Any, Any]] = {
    "tanh": (lambda x: do("tanh", x), torch.tanh),
    "softmax": (lambda x: do("softmax", x, axis=0), lambda x: x.softmax(0)),
    "turn": (lambda x: do("transpose", x), lambda x: x.T),
    "gram": (lambda x: do("matmul", x, do("transpose", x)), lambda x: x @ x.T),
    "centre": (
        lambda x: do("sub", x, do("mean", x, axis=1, keepdims=True)),
        lambda x: x - x.mean(1, keepdim=True),
    ),
    "rows": (lambda x: do.index(x, [0, -1, 0]), lambda x: x[[0, -1, 0]]),
    "every other": (
        lambda x: do("concatenate", do.index(x, slice(None, None, 2)), x),
        lambda x: torch.cat([x[::2], x]),
    ),
    "running": (lambda x: do("cumsum", x, axis=0), lambda x: x.cumsum(0)),
    "sorted": (lambda x: do("sort", x, axis=1), lambda x: x.sort(1)[0]),
    "lower": (lambda x: do("tril", x, k=0), lambda x: x.tril()),
    "padded": (lambda x: do("pad", x, widths=((1, 0), (0, 1))), lambda x: F.pad(x, (0, 1, 1, 0))),
    "outer": (
        lambda x: do("add", do("max", x, axis=1, keepdims=True), do("min", x, axis=0)),
        lambda x: x.amax(1, keepdim=True) + x.amin(0),
    ),
    "flat": (
        lambda x: do("reshape", x, shape=(1, -1)),
        lambda x: x.reshape(1, -1),
    ),
    "itself": (lambda x: do("mul", x, x), lambda x: x * x),
    "length": (
        lambda x: do("div", x, do("add", do("norm", x, axis=0), 1.0)),
        lambda x: x / (torch.linalg.vector_norm(x, 2, 0) + 1.0),
    ),
}


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_have_torchs_gradients(seed: int) -> None:
    rng = random.Random(seed)
    array = np.random.default_rng(seed).standard_normal((3, 4))
    x, y = Tensor(array), torch.tensor(array, requires_grad=True)
    u: Any = x
    v: Any = y
    for _ in range(6):
        ours, others = STEPS[rng.choice([*STEPS])]
        if u.data.size > 300:
            break
        u, v = ours(u), others(v)
    u, v = do("sum", do("sin", u)), torch.sin(v).sum()
    agree("value", u.data, v.detach().numpy(), 1e-11)
    (found,) = do.gradients(u, [x])
    (wanted,) = torch.autograd.grad(v, [y])
    agree("gradient", found.data, wanted.numpy(), 1e-10)


def test_a_deep_graph_needs_no_stack() -> None:
    x = Tensor(np.ones(2))
    z = x
    for _ in range(1500):
        z = do("add", z, x)
    assert len(order(z)) == 1501
    assert do.gradients(z, [x])[0].data.tolist() == [1501.0, 1501.0]
