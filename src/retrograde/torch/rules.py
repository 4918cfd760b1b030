"""The products behind one number of a gradient, op by op: linear, convolution, embedding, norms.

A rule gives the two factors of every term; whatever has no rule here is taken apart by masking.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import torch
import torch.nn.functional as functional

Rows = list[tuple[str, float, float, float]]
Rule = Callable[[Any, Any, torch.Tensor, tuple[int, ...], Any], "tuple[Any, Any, list[str]] | None"]


def rows_by_rule(use: Any, t: torch.Tensor, index: tuple[int, ...], leading: Any) -> Rows | None:
    """(label, partial, upstream, amount) of each product; None where there is no rule."""
    rule = _RULES.get((use.op, use.position))
    if rule is None:
        return None
    found = rule(use, use.upstream.detach(), t, index, leading)
    if found is None:
        return None
    partials, upstreams, labels = found
    p, u = partials.detach().double().tolist(), upstreams.double().tolist()
    return [(label, x, y, x * y) for label, x, y in zip(labels, p, u)]


def _labels(leading: Sequence[int] | None, count: int) -> list[str]:
    """Rows by the shape they had before a product flattened them."""
    if not leading or prod(leading) != count or len(leading) < 2:
        return [f"sample {row}" for row in range(count)]
    inner = prod(leading[1:])
    return [f"sample {i}, position {j}" for i in range(leading[0]) for j in range(inner)]


def _matrix(use: Any, dy: Any, t: Any, index: Any, leading: Any) -> Any:
    """dW[o, i] = Σ over rows of x[row, i] · dy[row, o]."""
    if len(index) != 2 or len(use.chain) > 1 or dy.dim() != 2:
        return None
    x = use.node._saved_mat1 if use.op == "addmm" else use.node._saved_self
    if x is None:
        return None
    out, inside = index if use.chain else index[::-1]
    return x[:, inside], dy[:, out], _labels(leading, len(dy))


def _input_of_matrix(use: Any, dy: Any, t: Any, index: Any, leading: Any) -> Any:
    """dx[row, i] = Σ over outputs of W[o, i] · dy[row, o]."""
    weight = use.node._saved_mat2
    if weight is None or dy.dim() != 2 or any("ranspose" in type(v).__name__ for v in use.chain):
        return None
    row = 0
    for extent, place in zip(t.shape[:-1], index[:-1]):
        row = row * extent + place
    if prod(t.shape[:-1]) != len(dy):
        return None
    return weight[index[-1]], dy[row], [f"output {o}" for o in range(dy.shape[1])]


def _bias(use: Any, dy: Any, t: Any, index: Any, leading: Any) -> Any:
    if t.dim() != 1 or dy.shape[-1] != t.shape[0]:
        return None
    dy = dy.reshape(-1, dy.shape[-1])
    return torch.ones(len(dy)), dy[:, index[0]], _labels(leading, len(dy))


def _embedding(use: Any, dy: Any, t: Any, index: Any, leading: Any) -> Any:
    where = (use.node._saved_indices == index[0]).nonzero()
    names = ("sample", "position", "place")
    labels = [", ".join(f"{what} {k}" for what, k in zip(names, at)) for at in where.tolist()]
    upstream = dy[tuple(where.T)][:, index[1]]
    return torch.ones_like(upstream), upstream, labels


def _layer_norm(is_bias: bool) -> Rule:
    def rule(use: Any, dy: Any, t: Any, index: Any, leading: Any) -> Any:
        if t.dim() != 1:
            return None
        node = use.node
        x, mean = node._saved_input.double(), node._saved_result1.double()
        hat = (x - mean) * node._saved_result2.double()
        shape = tuple(x.shape[:-1])
        dy = dy.reshape(-1, dy.shape[-1])[:, index[0]]
        partial = torch.ones_like(dy) if is_bias else hat.reshape(-1, x.shape[-1])[:, index[0]]
        return partial, dy, _labels(shape, len(dy))

    return rule


def _batch_norm(is_bias: bool) -> Rule:
    def rule(use: Any, dy: Any, t: Any, index: Any, leading: Any) -> Any:
        node = use.node
        if not node._saved_training:
            return None
        x = node._saved_input.double()
        shape = [1, -1] + [1] * (x.dim() - 2)
        mean, scale = node._saved_result1.double(), node._saved_result2.double()
        hat = (x - mean.reshape(shape)) * scale.reshape(shape)
        labels = [
            f"sample {i}" + (f", place {j}" if x.dim() > 2 else "")
            for i in range(x.shape[0])
            for j in range(prod(x.shape[2:]))
        ]
        upstream = dy[:, index[0]].reshape(-1)
        partial = torch.ones_like(upstream) if is_bias else hat[:, index[0]].reshape(-1)
        return partial, upstream, labels

    return rule


def _convolution(use: Any, dy: Any, t: Any, index: Any, leading: Any) -> Any:
    node = use.node
    if dy.dim() != 4 or node._saved_transposed or node._saved_groups != 1:
        return None
    out, channel, down, right = index
    (ph, pw), (sh, sw), (dh, dw) = node._saved_padding, node._saved_stride, node._saved_dilation
    x = functional.pad(node._saved_input[:, channel], (pw, pw, ph, ph))
    height, width = dy.shape[2], dy.shape[3]
    top, left = down * dh, right * dw
    patch = x[:, top : top + sh * (height - 1) + 1 : sh, left : left + sw * (width - 1) + 1 : sw]
    return patch.reshape(-1), dy[:, out].reshape(-1), _places(dy)


def _convolution_bias(use: Any, dy: Any, t: Any, index: Any, leading: Any) -> Any:
    if dy.dim() != 4:
        return None
    upstream = dy[:, index[0]].reshape(-1)
    return torch.ones_like(upstream), upstream, _places(dy)


def _places(dy: torch.Tensor) -> list[str]:
    samples, _, height, width = dy.shape
    return [
        f"sample {i}, at {y},{x}"
        for i in range(samples)
        for y in range(height)
        for x in range(width)
    ]


_RULES: dict[tuple[str, int], Rule] = {
    ("addmm", 2): _matrix, ("mm", 1): _matrix, ("addmm", 0): _bias, ("add", 1): _bias,
    ("addmm", 1): _input_of_matrix, ("mm", 0): _input_of_matrix, ("embedding", 0): _embedding,
    ("nativelayernorm", 1): _layer_norm(False), ("nativelayernorm", 2): _layer_norm(True),
    ("nativebatchnorm", 1): _batch_norm(False), ("nativebatchnorm", 2): _batch_norm(True),
    ("convolution", 1): _convolution, ("convolution", 2): _convolution_bias,
}  # fmt: skip
"""By op and which input: the rule."""
