"""Kernels of arrays: maps against the replay kernels and plain loops, products against NumPy and
exactly against their stated order, choosers; all with the same bits at every SIMD level.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograde._shared.threads import default_threads
from retrograde.ops import OPS

from ..program.support import AWKWARD, same
from .native_arrays import BY, OPS_BY_NAME, levels, native

few = settings(max_examples=40, deadline=None, derandomize=True)
CHAIN, CHAINS = 1024, 8


@pytest.fixture(autouse=True)
def best_again() -> Iterator[None]:
    yield
    native.use_kernels("")
    native.array_threads(default_threads())


def at_all_levels(make: Any) -> Any:
    """What it makes at the best level; the others have to make the same bits."""
    results = []
    for level in levels():
        native.use_kernels(level)
        results.append(np.asarray(make()))
    assert all(same(it, results[0]) for it in results), "the levels differ"
    return results[-1]


def mapped(name: str, *operands: Any) -> Any:
    spread = np.broadcast_arrays(*operands)
    out = np.full(spread[0].shape, np.nan)
    native.array_map(OPS_BY_NAME[name], out, tuple(spread))
    return out


def went_back(name: str, which: int, operands: Any, upstream: Any, onto: Any = None) -> Any:
    """What an operand receives, at its own shape."""
    result = mapped(name, *operands)
    spread = [np.broadcast_to(it, result.shape) for it in operands]
    own = operands[which].shape
    out = np.full(own, np.nan) if onto is None else onto.copy()
    view = np.lib.stride_tricks.as_strided(
        out.reshape((1,) * (result.ndim - len(own)) + own),
        result.shape,
        [0 if n == 1 else step for n, step in zip(
            (1,) * (result.ndim - len(own)) + own, (0,) * (result.ndim - len(own)) + out.strides
        )],
    )  # fmt: skip
    sources = (*spread, *(None,) * (3 - len(spread)), result, upstream)
    native.array_back(OPS_BY_NAME[name], which, view, sources, onto is not None)
    return out


def usual(name: str, count: int) -> list[Any]:
    draw = np.random.default_rng(len(name))
    points = np.concatenate([draw.standard_normal(60) * 2, draw.uniform(-1e3, 1e3, 20), AWKWARD])
    return [draw.choice(points, count) for _ in OPS[name].inputs]


@pytest.mark.parametrize("name", sorted(OPS))
def test_a_map_has_the_digits_of_the_replay_kernels(name: str) -> None:
    operands = usual(name, 203)
    made = at_all_levels(lambda: mapped(name, *operands))
    wanted = [native.evaluate(OPS_BY_NAME[name], tuple(map(float, row))) for row in zip(*operands)]
    assert same(made, wanted)


@pytest.mark.parametrize("name", sorted(OPS))
def test_a_partial_is_the_laws_to_its_last_digits(name: str) -> None:
    row = OPS[name]
    draw = np.random.default_rng(3)
    operands = [draw.uniform(*row.domain[at], 203) for at in range(row.arity)]
    upstream = draw.standard_normal(203)
    for which, inner in enumerate(row.inputs):
        if inner in row.absent:
            continue
        made = at_all_levels(partial(went_back, name, which, operands, upstream))
        wanted = [contributions(row, g, *at)[which] for g, *at in zip(upstream, *operands)]
        np.testing.assert_allclose(made, wanted, rtol=1e-13, atol=1e-300, err_msg=name)


def contributions(row: Any, upstream: float, *operands: float) -> tuple[float, ...]:
    found = row.backward(float(upstream), *map(float, operands))
    return found if isinstance(found, tuple) else (found,)


@st.composite
def spread(draw: Any) -> tuple[Any, Any, Any]:
    """Two operands that spread over a shape, with any strides, and an upstream gradient."""
    shape = tuple(draw(st.lists(st.sampled_from([0, 1, 2, 3, 5, 9]), max_size=5)))
    random = np.random.default_rng(draw(st.integers(0, 2**16)))

    def array(whole: tuple[int, ...]) -> Any:
        order = draw(st.permutations(range(len(whole))))
        made = random.standard_normal([2 * whole[axis] for axis in order])
        made = made.transpose(np.argsort(order)) if whole else made
        return made[tuple(
            slice(None, n) if way == 0 else slice(None, None, 2) if way == 1 else slice(n, None)
            for n, way in ((n, draw(st.integers(0, 2))) for n in whole)
        )][tuple(slice(None, None, draw(st.sampled_from([1, -1]))) for _ in whole)]  # fmt: skip

    def narrowed() -> tuple[int, ...]:
        start = draw(st.integers(0, len(shape)))
        return tuple(1 if draw(st.booleans()) else n for n in shape[start:])

    x, y = array(narrowed()), array(narrowed())
    return x, y, array(np.broadcast_shapes(x.shape, y.shape))


def reduced(array: Any, shape: tuple[int, ...]) -> Any:
    extra = array.ndim - len(shape)
    axes = (*range(extra), *(extra + n for n, size in enumerate(shape) if size == 1))
    return array.sum(axis=axes).reshape(shape)


@few
@given(spread(), st.sampled_from(["add", "mul", "div", "hypot", "maximum"]))
def test_maps_of_any_shape_and_layout(operands: Any, name: str) -> None:
    x, y, g = operands
    theirs = {"div": np.divide, "mul": np.multiply}.get(name) or getattr(np, name)
    with np.errstate(all="ignore"):
        made = at_all_levels(lambda: mapped(name, x, y))
        np.testing.assert_allclose(made, theirs(x, y), rtol=1e-14)
        row = OPS[name]
        flat = [np.broadcast_to(it, g.shape).ravel().tolist() for it in (g, x, y)]
        partials = np.array([row.backward(*at) for at in zip(*flat)]).reshape(*g.shape, 2)
    for which, operand in enumerate((x, y) if g.size else ()):  # empty buffers have no strides
        got = at_all_levels(partial(went_back, name, which, (x, y), g))
        np.testing.assert_allclose(
            got, reduced(partials[..., which], operand.shape), rtol=1e-10, atol=1e-10
        )
        copies = [np.ascontiguousarray(it) for it in (x, y, g)]
        again = went_back(name, which, copies[:2], copies[2])
        assert got.tobytes() == again.tobytes(), "the bits depend on the layout"
        onto = np.random.default_rng(0).standard_normal(operand.shape)
        added = went_back(name, which, (x, y), g, onto)
        assert np.array_equal(added, onto + got)


# ---- products ------------------------------------------------------------------------------------


def product_of(a: Any, b: Any, onto: Any = None) -> Any:
    c = np.full((a.shape[0], b.shape[1]), np.nan) if onto is None else onto.copy()
    native.array_product(a, b, c, onto is not None)
    return c


def matrix(draw: Any, rows: int, columns: int, way: int) -> Any:
    """Rows and columns in six layouts."""
    if way < 2:
        made = draw.standard_normal((columns, rows)).T
    else:
        made = draw.standard_normal((rows, columns))
    if way % 3 == 1:
        made = np.repeat(np.repeat(made, 2, 0), 3, 1)[::2, ::3]
    return made[::-1] if way % 3 == 2 else made


SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 23, 24, 25, 33]


@few
@given(*[st.sampled_from(SIZES)] * 3, st.integers(0, 5), st.integers(0, 5), st.integers(0, 99))
def test_products_of_all_sizes_and_layouts(
    m: int, n: int, k: int, left: int, right: int, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    a, b = matrix(draw, m, k, left), matrix(draw, k, n, right)
    made = at_all_levels(lambda: product_of(a, b))
    np.testing.assert_allclose(made, a @ b, rtol=1e-12, atol=1e-12)
    plain = product_of(np.ascontiguousarray(a), np.ascontiguousarray(b))
    assert made.tobytes() == plain.tobytes(), "the bits depend on the layout"
    onto = draw.standard_normal((m, n))
    assert np.array_equal(at_all_levels(lambda: product_of(a, b, onto)), onto + made)


@pytest.mark.parametrize(
    ("m", "n", "k"), [(40, 50, 2100), (130, 70, 300), (97, 3100, 20), (5, 9, 1025)]
)
def test_large_products_add_in_the_stated_order(m: int, n: int, k: int) -> None:
    draw = np.random.default_rng(m)
    a, b = draw.standard_normal((m, k)), draw.standard_normal((k, n))
    made = at_all_levels(lambda: product_of(a, b))
    for i, j in draw.integers(0, (m, n), (20, 2)):
        total = 0.0
        for first in range(0, k, CHAIN):
            chain = 0.0
            for at in range(first, min(k, first + CHAIN)):
                chain = fused(a[i, at], b[at, j], chain)
            total = total + chain if first else chain
        assert made[i, j] == total
    for threads in (1, 2, 3, 16):
        native.array_threads(threads)
        assert product_of(a, b).tobytes() == made.tobytes()


@pytest.mark.parametrize(
    ("m", "n", "k"), [(32, 128, 128), (5, 200, 100), (20, 100, 170), (9, 7, 500), (3, 30, 171)]
)
def test_a_right_side_in_columns_has_the_same_bits(m: int, n: int, k: int) -> None:
    draw = np.random.default_rng(n)
    a, b, onto = (draw.standard_normal(it) for it in ((m, k), (k, n), (m, n)))
    made = at_all_levels(lambda: product_of(a, np.asfortranarray(b)))
    assert made.tobytes() == product_of(a, b).tobytes()
    added = at_all_levels(lambda: product_of(a, np.asfortranarray(b), onto))
    assert np.array_equal(added, onto + made)


def fused(x: float, y: float, z: float) -> float:
    """x * y + z, rounded once."""
    return float(Fraction(x) * Fraction(y) + Fraction(z))


@pytest.mark.parametrize("k", [0, 1, 7, 8, 9, 100, 1024, 1025, 3000])
def test_one_row_or_column_adds_eight_chains(k: int) -> None:
    draw = np.random.default_rng(k)
    a, x = draw.standard_normal((70, k)), draw.standard_normal((k, 1))
    made = at_all_levels(lambda: product_of(a, x))
    turned = at_all_levels(lambda: product_of(x.T, a.T))
    assert made.ravel().tobytes() == turned.ravel().tobytes()
    spread_out = at_all_levels(lambda: product_of(np.asfortranarray(a), x))
    assert made.tobytes() == spread_out.tobytes()
    total = 0.0
    for first in range(0, k, CHAIN):
        s = [0.0] * CHAINS
        for at in range(first, min(k, first + CHAIN)):
            s[at % CHAINS] = fused(a[3, at], x[at, 0], s[at % CHAINS])
        part = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
        total = total + part if first else part
    assert made[3, 0] == total


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (8,), (1023,), (1025,), (5000,), (30, 40)])
def test_sums_in_any_layout(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).standard_normal(shape)
    made = at_all_levels(lambda: native.array_total(x))
    assert made == pytest.approx(math.fsum(x.ravel()), rel=1e-12, abs=1e-12)
    apart = np.repeat(np.asfortranarray(x), 2, 0)[::2]
    assert native.array_total(apart) == made


# ---- choosers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("outer", "n", "inner"), [*product((0, 1, 3), (1, 2, 40, 500), (0, 1, 4))])
def test_choosers_are_numpys(outer: int, n: int, inner: int) -> None:
    draw = np.random.default_rng(n)
    x = draw.integers(-5, 5, (outer, n, inner)).astype(float)
    x[draw.random(x.shape) < 0.02] = np.nan
    x[draw.random(x.shape) < 0.1] *= -0.0
    for by, theirs in (("argmax", np.argmax), ("argmin", np.argmin)):
        out = np.full((outer, inner), -1, np.int64)
        native.array_choose(BY[by], x, out)
        assert np.array_equal(out, theirs(x, 1))
    out = np.full(x.shape, -1, np.int64)
    native.array_choose(BY["argsort"], x, out)
    assert np.array_equal(out, np.argsort(x, axis=1, kind="stable"))


def test_what_does_not_fit_is_refused() -> None:
    x = np.ones((2, 3))
    with pytest.raises(ValueError, match="one shape"):
        native.array_map(OPS_BY_NAME["exp"], np.empty(6), (x,))
    with pytest.raises(TypeError, match="doubles"):
        native.array_map(OPS_BY_NAME["exp"], np.empty((2, 3)), (x.astype(np.float32),))
    with pytest.raises(ValueError, match="fit"):
        native.array_product(x, x, np.empty((2, 2)), False)
    with pytest.raises(ValueError, match="no such row"):
        native.array_map(-1, x, (x,))
