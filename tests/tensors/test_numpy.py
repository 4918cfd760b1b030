"""NumPy's behaviour is the reference: shapes, broadcasting, indexing and its functions, at random,
with gradients against those of plain sums of picked numbers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ..test_random_programs import steady

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4)


def counted(shape: tuple[int, ...]) -> Any:
    """Numbers that tell places apart."""
    return np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape)


def awkward(array: Any, how: int) -> Any:
    """The same numbers in another layout: reversed strides, a transposed or a spaced buffer."""
    if how == 1:
        return np.ascontiguousarray(array[..., ::-1])[..., ::-1]
    if how == 2:
        return np.asfortranarray(array)
    if how == 3:
        spaced = np.zeros((*array.shape[:-1], 2 * array.shape[-1]))
        spaced[..., ::2] = array
        return spaced[..., ::2]
    return array


@steady(max_examples=50)
@given(
    shapes=hnp.mutually_broadcastable_shapes(
        num_shapes=2, min_dims=1, max_dims=4, min_side=0, max_side=3
    ),
    name=st.sampled_from(["add", "sub", "mul", "truediv", "maximum"]),
    how=st.integers(0, 3),
)
def test_broadcasting(native: Any, reference: Any, shapes: Any, name: str, how: int) -> None:
    left, right = (counted(shape) + 0.5 for shape in shapes.input_shapes)
    left = awkward(left, how)
    function = getattr(operator, name, None) or getattr(np, name)
    expected = function(left, right)
    weight = np.cos(counted(expected.shape))
    for rg in (native, reference):
        x, y = rg.Tensor(left), rg.Tensor(right)
        z = function(x, y)
        assert z.shape == expected.shape
        assert np.array_equal(z.data, expected)
        for one in (function(left, y), function(x, right)):
            assert isinstance(one, rg.Tensor)
            assert np.array_equal(one.data, expected)
        (z * weight).sum().backward()
        spread = np.broadcast_to(left, expected.shape), np.broadcast_to(right, expected.shape)
        for leaf, slope in zip((x, y), slopes(name, *spread)):
            wanted = summed_to(weight * slope, leaf.shape)
            assert leaf.grad == pytest.approx(wanted, rel=1e-12, abs=1e-12)


def slopes(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    first = (x >= y).astype(float)
    return {
        "add": (1.0, 1.0), "sub": (1.0, -1.0), "mul": (y, x), "truediv": (1 / y, -x / y**2),
        "maximum": (first, 1 - first),
    }[name]  # fmt: skip


def summed_to(array: Any, shape: tuple[int, ...]) -> Any:
    extra = array.ndim - len(shape)
    axes = (*range(extra), *(extra + n for n, length in enumerate(shape) if length == 1))
    return array.sum(axis=axes).reshape(shape)


@st.composite
def indexed(draw: Any) -> tuple[tuple[int, ...], Any]:
    """A shape and a key: basic, by whole numbers, by masks, or a mixture."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))
    kind = draw(st.sampled_from(["basic", "whole", "mask", "mixed"]))
    if kind == "basic":
        key = draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    elif kind == "whole":
        key = draw(hnp.integer_array_indices(shape))
    elif kind == "mask":
        axes = draw(st.integers(1, len(shape)))
        key = draw(hnp.arrays(bool, shape[:axes]))
    else:
        entries = []
        for length in shape:
            entry = draw(
                st.one_of(
                    st.integers(-length, length - 1),
                    st.slices(length),
                    st.lists(st.integers(-length, length - 1), min_size=2, max_size=2),
                )
            )
            entries.append(np.array(entry) if isinstance(entry, list) else entry)
            if draw(st.booleans()):
                entries.append(None)
        key = tuple(entries)
    return shape, key


@steady(max_examples=120)
@given(case=indexed())
def test_indexing(native: Any, reference: Any, case: Any) -> None:
    shape, key = case
    array = counted(shape)
    expected = array[key]
    weight = np.cos(counted(expected.shape))
    scattered = np.zeros(shape)
    np.add.at(scattered, key, weight)
    for rg in (native, reference):
        x = rg.Tensor(array)
        z = x[key]
        assert z.shape == expected.shape
        assert isinstance(z, rg.Tensor if expected.ndim else rg.Value)
        assert np.array_equal(z.data, expected)
        rg.sum(z * weight).backward() if z.ndim else z.backward(float(weight))
        assert x.grad == pytest.approx(scattered, rel=1e-12, abs=1e-12)


@steady(max_examples=80)
@given(case=indexed(), spread=st.booleans())
def test_putting(native: Any, reference: Any, case: Any, spread: bool) -> None:
    shape, key = case
    selection = counted(shape)[key].shape
    numbers = np.float64(0.5) if spread else -counted(selection) - 0.5
    expected = counted(shape)
    expected[key] = numbers
    weight = np.cos(counted(shape))
    kept = counted(shape) == expected
    for rg in (native, reference):
        x = rg.Tensor(counted(shape))
        y = rg.Tensor(numbers) if np.ndim(numbers) else rg.Value(float(numbers))
        z = x.put(key, y)
        assert np.array_equal(z.data, expected)
        assert np.array_equal(x.data, counted(shape))
        (z * weight).sum().backward()
        assert np.array_equal(x.grad, weight * kept)
        assert np.sum(x.grad) + np.sum(y.grad) == pytest.approx(np.sum(weight), abs=1e-9)


REDUCTIONS = ["sum", "mean", "prod", "max", "min", "var", "std"]


@steady(max_examples=50)
@given(data=st.data(), name=st.sampled_from(REDUCTIONS), keep=st.booleans())
def test_reductions(native: Any, reference: Any, data: Any, name: str, keep: bool) -> None:
    shape = data.draw(SHAPES)
    axes = st.one_of(
        st.none(), st.integers(-len(shape), len(shape) - 1),
        st.sets(st.integers(0, len(shape) - 1), min_size=1).map(tuple),
    )  # fmt: skip
    axis = data.draw(axes)
    array = np.cos(counted(shape) * 1.7)
    over = range(len(shape)) if axis is None else np.atleast_1d(axis)
    if name in ("max", "min", "var", "std", "mean"):
        assume(all(shape[one] for one in over))
    expected = getattr(np, name)(array, axis=axis, keepdims=keep)
    for rg in (native, reference):
        for found in (
            getattr(rg.Tensor(array), name)(axis=axis, keepdims=keep),
            getattr(np, name)(rg.Tensor(array), axis=axis, keepdims=keep),
        ):
            assert found.shape == np.shape(expected)
            assert np.asarray(found.data) == pytest.approx(expected, rel=1e-12, abs=1e-13)


def programs(a: Any, b: Any, v: Any) -> dict[str, Any]:
    """NumPy's functions and methods, the same on arrays and on tensors; a, b are (3, 4), v (4,)."""
    s = a @ a.T + 5 * np.eye(3)
    return {
        "matmul": lambda: a @ b.T, "matvec": lambda: a @ v, "vecmat": lambda: v @ a.T,
        "array @": lambda: np.ones((2, 3)) @ a, "dot": lambda: np.dot(a, v),
        "inner": lambda: np.inner(a, b), "outer": lambda: np.outer(v, v),
        "vdot": lambda: np.vdot(a, b), "tensordot": lambda: np.tensordot(a, b, axes=([0], [0])),
        "einsum": lambda: np.einsum("ij,kj->ik", a, b), "kron": lambda: np.kron(a, b),
        "trace": lambda: np.trace(a), "trace of three": lambda: (a[:, None] * b).trace(),
        "trace above": lambda: s[None].trace(1, axis1=-1, axis2=1),
        "reshape": lambda: np.reshape(a, (2, 6)),
        "ravel": lambda: np.ravel(a), "T": lambda: a.T,
        "transpose": lambda: np.transpose(a, (1, 0)),
        "swapaxes": lambda: np.swapaxes(a, 0, 1), "moveaxis": lambda: np.moveaxis(a[None], 0, -1),
        "squeeze": lambda: np.squeeze(a[:, None]), "expand_dims": lambda: np.expand_dims(a, 1),
        "broadcast_to": lambda: np.broadcast_to(v, (3, 4)), "flip": lambda: np.flip(a, 1),
        "roll": lambda: np.roll(a, 2), "roll axis": lambda: np.roll(a, (1, 2), axis=(0, 1)),
        "rot90": lambda: np.rot90(a), "rot90 axes": lambda: np.rot90(a, -1, (-1, 0)),
        "pad": lambda: np.pad(a, ((1, 0), (0, 2))),
        "tile": lambda: np.tile(a, (2, 1)), "repeat": lambda: np.repeat(a, 2, axis=0),
        "repeat each": lambda: np.repeat(a, [2, 0, 1], axis=0),
        "repeat last": lambda: a.repeat(2, -1),
        "dstack": lambda: np.dstack([v, v]), "atleast_3d": lambda: np.atleast_3d(a),
        "vsplit": lambda: np.vsplit(a, [1])[1], "hsplit": lambda: np.hsplit(a, 2)[1],
        "concatenate": lambda: np.concatenate([a, b], axis=1), "stack": lambda: np.stack([a, b], 1),
        "vstack": lambda: np.vstack([a, v]), "hstack": lambda: np.hstack([v, v]),
        "column_stack": lambda: np.column_stack([v, v]), "split": lambda: np.split(a, 2, axis=1)[1],
        "array_split": lambda: np.array_split(v, 3)[0], "append": lambda: np.append(a, b),
        "tril": lambda: np.tril(a, -1), "triu": lambda: np.triu(a), "diag": lambda: np.diag(v),
        "diagonal": lambda: np.diagonal(a),
        "diagonal of three": lambda: (a[:, None] * b).diagonal(),
        "diagonal axes": lambda: np.diagonal(a[:, None] * b, -1, axis1=2, axis2=0),
        "cumsum": lambda: np.cumsum(a, axis=1),
        "cumprod": lambda: np.cumprod(v), "sort": lambda: np.sort(a, axis=0),
        "diff": lambda: np.diff(a, axis=1), "take": lambda: np.take(a, [0, 2], axis=1),
        "take_along_axis": lambda: np.take_along_axis(a, np.array([[1], [0], [3]]), axis=1),
        "where": lambda: np.where(np.array([True, False, True, False]), a, b),
        "clip": lambda: np.clip(a, -0.5, 0.5), "maximum": lambda: np.maximum(a, b),
        "average": lambda: np.average(a, axis=1, weights=np.array([1.0, 2.0, 3.0, 4.0])),
        "ptp": lambda: np.ptp(a, axis=0), "norm": lambda: np.linalg.norm(a, axis=1),
        "inv": lambda: np.linalg.inv(s), "det": lambda: np.linalg.det(s),
        "slogdet": lambda: np.linalg.slogdet(s)[1], "cholesky": lambda: np.linalg.cholesky(s),
        "solve": lambda: np.linalg.solve(s, a), "solve vector": lambda: np.linalg.solve(s, a[:, 0]),
        "cross": lambda: np.cross(a[:, :3], b[:, :3]), "meshgrid": lambda: np.meshgrid(v, v)[1],
        "fro": lambda: np.linalg.norm(a, "fro"), "sinc": lambda: np.sinc(a),
        "round": lambda: np.round(a) + a,
        "exp": lambda: np.exp(a), "power": lambda: np.abs(a) ** 2.5, "square": lambda: np.square(a),
        "degrees": lambda: np.degrees(a), "arctan2": lambda: np.arctan2(a, b),
        "hypot": lambda: np.hypot(a, b), "r-": lambda: 1.0 - a, "r/": lambda: 1.0 / (a * a + 1.0),
        "r**": lambda: 2.0**a, "scalar": lambda: np.float64(2.0) * a + np.float32(1.0),
        "**3": lambda: a**3, "** -2": lambda: (a * a + 1.0) ** -2,
        "var": lambda: a.var(axis=0, ddof=1), "std": lambda: np.std(a),
        "argmax": lambda: a * np.argmax(a), "item": lambda: a[1, 2],
        "loop": lambda: sum(r @ v for r in a),
        "copy": lambda: np.copy(a) + a.copy(), "flatten": lambda: a.flatten(),
        "zeros_like": lambda: a + np.ones_like(b), "gt": lambda: (a > b) * a,
    }  # fmt: skip


RNG = np.random.default_rng(0)
A, B, V = RNG.standard_normal((3, 4)), RNG.standard_normal((3, 4)), RNG.standard_normal(4)


@pytest.mark.parametrize("name", programs(A, B, V))
def test_numpys_functions_give_what_they_give_on_arrays(rg: Any, name: str) -> None:
    expected = programs(A, B, V)[name]()
    x, y, w = rg.Tensor(A), rg.Tensor(B), rg.Tensor(V)
    found = programs(x, y, w)[name]()
    assert isinstance(found, rg.Tensor if np.ndim(expected) else rg.Value)
    assert found.shape == np.shape(expected)
    assert np.asarray(found.data) == pytest.approx(np.asarray(expected), rel=1e-11, abs=1e-12)

    weight = np.cos(counted(np.shape(expected)))
    rg.sum(found * weight).backward() if found.ndim else found.backward(float(weight))
    ways = [RNG.standard_normal(array.shape) for array in (A, B, V)]

    def moved(by: float) -> Any:
        a, b, v = (array + by * way for array, way in zip((A, B, V), ways))
        return np.sum(weight * programs(a, b, v)[name]())

    step = 1e-5
    slope = (8 * (moved(step) - moved(-step)) - moved(2 * step) + moved(-2 * step)) / (12 * step)
    ours = sum(np.sum(leaf.grad * way) for leaf, way in zip((x, y, w), ways))
    assert ours == pytest.approx(slope, rel=1e-8, abs=1e-8)


@steady(max_examples=60)
@given(data=st.data(), name=st.sampled_from(["trace", "diagonal"]))
def test_diagonals_of_any_two_axes(native: Any, reference: Any, data: Any, name: str) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=3))
    axes = st.integers(-len(shape), len(shape) - 1)
    offset, one, other = data.draw(st.tuples(st.integers(-3, 3), axes, axes))
    assume((one - other) % len(shape))
    array = counted(shape)
    for places in ((), (offset,), (offset, one, other)):
        expected = getattr(np, name)(array, *places)
        for rg in (native, reference):
            x = rg.Tensor(array)
            found = getattr(x, name)(*places)
            assert np.array_equal(found.data, expected)
            assert np.array_equal(getattr(np, name)(x, *places).data, expected)
            found.sum().backward()
            assert x.grad.sum() == getattr(np, name)(np.ones(shape), *places).sum()


def test_bools_and_whole_numbers_are_plain(rg: Any) -> None:
    x = rg.Tensor(A)
    for found in (x > 0, np.isnan(x), x == x, np.isfinite(x), x > 0.0, np.zeros(4) <= x):
        assert type(found) is np.ndarray
        assert found.dtype == bool
    assert isinstance(x.argmax(), int)
    assert x.argmin(axis=0).tolist() == A.argmin(axis=0).tolist()
    assert np.argsort(x, axis=1).tolist() == np.argsort(A, axis=1, kind="stable").tolist()
    assert np.shape(x) == (3, 4)
    assert np.ndim(x) == 2
    assert np.allclose(x, A)
    assert (x == None).tolist() == [[False] * 4] * 3  # noqa: E711
    assert 7.0 not in x
    assert A[0, 0] in x


def test_values_answer_numpy_as_arrays_without_axes(rg: Any) -> None:
    v, x = rg.Value(2.0), rg.Tensor(V)
    assert np.exp(v).data == np.exp(2.0)
    assert (v.shape, v.ndim, v.sum() is v) == ((), 0, True)
    assert isinstance(v[None], rg.Tensor)
    assert v[None, None].shape == v.reshape(1, 1).shape == (1, 1)
    assert v.reshape(()) is v
    total = rg.sum(v * x + x / v - np.add(v, x) + np.multiply(x, v) + v[None] * x)
    total.backward()
    assert x.grad == pytest.approx(np.full(4, 2 + 0.5 - 1 + 2 + 2))
    assert v.grad == pytest.approx(3 * V.sum() - V.sum() / 4 - 4)
    pair = rg.stack([v, 3.0, v * v])
    assert pair.data.tolist() == [2.0, 3.0, 4.0]
    assert [one.data for one in pair] == [2.0, 3.0, 4.0]


def test_functions_of_plain_arrays_give_arrays(rg: Any) -> None:
    assert rg.einsum("i,i->", V, V) == pytest.approx(V @ V)
    for found in (rg.matmul(A, V), rg.stack([V, V]), rg.tril(A), rg.sort(V), rg.cumsum(A, 0)):
        assert type(found) is np.ndarray
    assert isinstance(rg.cross_entropy(A, [0, 1, 2]), float)
