"""Short boxes, products in loops, largest numbers: as on tensors, at every size and SIMD level;
and calls that are found again."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ..kernels.native_arrays import levels, native
from .support import same

SHAPES = [
    (64, 4, 7, 4), (3, 2, 16, 5), (37, 1, 9, 8), (1000, 2, 3, 3), (2, 1, 24, 17), (3, 2, 33, 2),
    (2, 3, 16, 4),
]  # fmt: skip
"""Documents, heads, positions, width: parts of vectors, several tiles, odd counts of turns."""


@pytest.fixture(autouse=True)
def best_again() -> Iterator[None]:
    yield
    native.use_kernels("")


def attention(rg: ModuleType, q: Any, k: Any, v: Any) -> Any:
    """Of causal heads, from and to arrays in which the heads of a position lie side by side."""
    q, k, v = (it.transpose(0, 2, 1, 3) for it in (q, k, v))
    scores = (q * 0.5) @ k.transpose(0, 1, 3, 2)
    seen = np.tri(q.shape[2]) > 0.0
    scores = rg.where(seen, scores, -1e30)
    powers = rg.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = (powers / powers.sum(axis=-1, keepdims=True)) @ v
    return (mixed.transpose(0, 2, 1, 3) * 1.5).sum(axis=(1, 2))


def attended(rg: ModuleType) -> Any:
    @rg.compile
    def loss(q: Any, k: Any, v: Any) -> Any:
        found = attention(rg, q, k, v)
        return (found * found).mean()

    return loss


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_heads_in_loops_agree_with_tensors_at_every_level(rg: ModuleType, shape: Any) -> None:
    documents, heads, positions, width = shape
    draw = np.random.default_rng(1)
    given = [draw.standard_normal((documents, positions, heads, width)) for _ in range(3)]
    tensors = [rg.Tensor(it) for it in given]
    found = attention(rg, *tensors)
    result = (found * found).mean()
    result.backward()
    before = None
    for level in levels():
        native.use_kernels(level)
        value, gradients = attended(rg).value_and_grad(*given)
        assert value == pytest.approx(float(result.data), rel=1e-12)
        for gradient, tensor in zip(gradients, tensors):
            np.testing.assert_allclose(gradient, tensor.grad, rtol=1e-10, atol=1e-13)
        now = [np.asarray(value), *gradients]
        assert before is None or all(map(same, now, before)), level
        before = now


@pytest.mark.parametrize("columns", [2, 3, 4, 5])
@pytest.mark.parametrize("sizes", [(2, 1), (7, 9), (8, 8), (9, 4), (16, 16), (19, 23)], ids=str)
def test_products_of_few_columns_add_up_at_every_level(
    rg: ModuleType, sizes: Any, columns: int
) -> None:
    m, k = sizes
    draw = np.random.default_rng(4)
    a, b = draw.standard_normal((2, 3, m, k))
    x, y = draw.standard_normal((2, 3, k, columns))
    x[0, 0, 0], a[1, 0, 0] = np.nan, np.inf

    @rg.compile
    def both(a: Any, x: Any, b: Any, y: Any) -> Any:
        return a @ x + b.transpose(0, 2, 1) @ y

    before = None
    for level in levels():
        native.use_kernels(level)
        found = both(a, x, np.ascontiguousarray(b.transpose(0, 2, 1)), y)
        np.testing.assert_allclose(found, a @ x + b @ y, rtol=1e-10, atol=1e-12)
        assert before is None or same(found, before), level
        before = found


@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 31, 300])
def test_largest_and_smallest_numbers_of_lines(rg: ModuleType, length: int) -> None:
    x = np.random.default_rng(2).standard_normal((12, length))
    x[0, length // 2], x[1, 0], x[2] = np.nan, np.inf, -np.inf
    x[3] = [0.0, -0.0] * (length // 2) + [-0.0] * (length % 2)

    @rg.compile
    def both(x: rg.Tensor) -> Any:  # type: ignore[name-defined]
        return x.max(axis=1), x.min(axis=1)

    before = None
    for level in levels():
        native.use_kernels(level)
        found = both(x)
        np.testing.assert_array_equal(found[0], x.max(axis=1))
        np.testing.assert_array_equal(found[1], x.min(axis=1))
        assert before is None or all(map(same, found, before)), level
        before = found


def test_a_copy_is_made_by_the_step_before(rg: ModuleType) -> None:
    @rg.compile
    def beside(x: Any, y: Any) -> Any:
        return ((x @ y).transpose(1, 0, 2).reshape(7, -1) * 2.0).sum(axis=1)

    x, y = np.random.default_rng(3).standard_normal((2, 4, 7, 7))
    np.testing.assert_allclose(beside(x, y), 2.0 * (x @ y).sum(axis=(0, 2)), rtol=1e-12)
    assert "copy" not in beside.explain()


# ---- calls that are found again ------------------------------------------------------------------


@pytest.fixture(name="scaled")
def _scaled(rg: ModuleType) -> Any:
    weight = rg.Tensor([1.0, 2.0, 3.0])

    @rg.compile
    def scaled(x: rg.Tensor, by: Any) -> Any:  # type: ignore[name-defined]
        return (x * weight).sum() * by

    return scaled


def test_calls_are_found_again_by_shapes_and_kinds(scaled: Any) -> None:
    for _ in range(3):
        assert scaled(np.ones(3), 2.0) == 12.0
        assert scaled(np.ones((2, 3)), 2.0) == 24.0
        assert scaled(np.ones(3, dtype=">f8"), 2.0) == 12.0
        assert scaled(np.arange(6.0)[::2], 2.0) == 32.0
        assert scaled(np.ones(3, dtype=np.float32), 2) == 12.0
        value, (to_x, by) = scaled.value_and_grad(np.ones(3), 2.0)
        assert (value, by) == (12.0, 6.0)
        assert to_x.tolist() == [2.0, 4.0, 6.0]
    with pytest.raises(Exception, match="shape"):
        scaled(np.ones(4), 2.0)


def test_they_are_counted(scaled: Any) -> None:
    for _ in range(5):
        scaled(np.ones(3), 2.0)
    assert "5 call(s)" in scaled.explain()


def test_many_shapes_keep_their_answers(scaled: Any) -> None:
    for _ in range(2):
        for rows in range(1, 15):
            assert scaled(np.ones((rows, 3)), 1.0) == 6.0 * rows


def test_they_do_not_keep_a_function_alive(rg: ModuleType) -> None:
    weight = rg.Tensor([1.0, 2.0])
    twice = rg.compile(lambda x: (rg.Tensor([1.0, 1.0]) * weight).sum() * x)
    for _ in range(3):
        twice(2.0)
        twice.backward(2.0)
    seen = weakref.ref(twice)
    del twice
    gc.collect()
    assert seen() is None
