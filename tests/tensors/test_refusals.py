"""Bad input: what tensors refuse, with the reason and the cure; nothing is changed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

A = np.arange(6.0).reshape(2, 3)


def assigned(array: Any, key: Any, thing: Any) -> None:
    array[key] = thing


REFUSED: dict[str, tuple[Any, str, str]] = {
    # shapes that do not fit: both shapes and both lines
    "add": (lambda rg, x: x + rg.Tensor(np.ones(4)), "FitError", "add: shapes (2, 3), (4,)"),
    "matmul": (lambda rg, x: x @ x, "FitError", "matmul: axis 0 of y is 2 long, and k is 3"),
    "reshape": (lambda rg, x: x.reshape(4, 2), "FitError", "6 numbers of shape (2, 3) do not fit"),
    "sum axis": (lambda rg, x: x.sum(axis=2), "FitError", "axis 2 is out of bounds"),
    "concatenate": (
        lambda rg, x: rg.concatenate([x, np.ones((2, 4))]), "FitError", "differ in more than axis"),
    "stack": (lambda rg, x: rg.stack([x, x[0]]), "FitError", "do not stack"),
    "stack of nothing": (lambda rg, x: rg.stack([]), "FitError", "give at least one"),
    "number behind": (lambda rg, x: rg.concatenate([x[0], 1.0]), "FitError", "write rg.stack"),
    "einsum": (lambda rg, x: rg.einsum("ij,jk", x), "FitError", "is for 2 operands, not 1"),
    "conv1d": (lambda rg, x: rg.conv1d(x, x), "FitError", "x is (batch, channels, …)"),
    "solve": (lambda rg, x: rg.solve(x, x), "FitError", "is no square matrix"),
    "inverse": (lambda rg, x: rg.inverse(x), "FitError", "(2, 3) is no square matrix"),
    "singular": (lambda rg, x: rg.slogdet(rg.Tensor(np.zeros((2, 2)))), "FitError", "singular"),
    "max of nothing": (
        lambda rg, x: rg.Tensor(np.zeros((0, 2))).max(axis=0), "FitError", "nothing to choose"),
    "comparison": (lambda rg, x: x > np.ones(4), "FitError", "gt: "),
    "put": (lambda rg, x: x.put(0, np.ones(5)), "FitError", "shapes (5,), (3,) do not broadcast"),
    "mean of a list along an axis": (
        lambda rg, x: rg.mean([rg.Value(1.0)], axis=0), "ShapeError", "only tensors have axes"),
    "split": (lambda rg, x: rg.split(x, 4), "FitError", "do not make 4 alike"),
    "where": (
        lambda rg, x: rg.where(np.ones(4) > 0, x, 0.0), "FitError", "shapes (4,), (2, 3), ()"),
    "put into nothing": (
        lambda rg, x: x.put(slice(0, 0), np.ones((2, 3))), "FitError", "an axis is [0, 2] long"),
    "one column too many": (
        lambda rg, x: x.put(slice(0, 0), np.ones((1, 2))), "FitError", "an axis is [2, 3] long"),
    "an empty mask": (
        lambda rg, x: assigned(x, A > 9, np.ones(2)), "FitError", "an axis is [0, 2] long"),
    "places that do not fit": (
        lambda rg, x: x.put(([0, 1], [0, 1, 2]), 1.0), "FitError", "do not broadcast"),
    "targets of one": (
        lambda rg, x: rg.cross_entropy(x, [0]), "FitError", "one whole number a row"),
    "a column of targets": (
        lambda rg, x: rg.cross_entropy(x, [[0], [1]]), "FitError", "of shape (2, 1) for rows"),
    "diag": (lambda rg, x: rg.diag(x[None]), "FitError", "a vector or a matrix, not 3 axes"),
    "diagonal": (lambda rg, x: x[0].diagonal(), "FitError", "axis 1 is out of bounds"),
    "rot90": (lambda rg, x: np.rot90(x, 1, (0, 0)), "FitError", "names an axis twice"),
    "diff": (lambda rg, x: np.diff(x, axis=2), "FitError", "axis 2 is out of bounds"),
    "moveaxis": (lambda rg, x: np.moveaxis(x, 0, 5), "FitError", "axis 5 is out of bounds"),
    "moveaxis twice": (lambda rg, x: np.moveaxis(x, (0, 1), 0), "FitError", "2 axes to 1 places"),
    "array_split": (lambda rg, x: np.array_split(x, 0), "FitError", "0 pieces"),
    "repeat": (lambda rg, x: x.repeat(-1), "FitError", "repeated -1 times"),
    "repeat each": (lambda rg, x: x.repeat([1, 2], axis=1), "FitError", "repeat: "),
    "tile": (lambda rg, x: np.tile(x, -1), "FitError", "repeated (-1,) times"),
    "average": (
        lambda rg, x: np.average(x, axis=1, weights=np.ones(2)), "FitError", "2 weights along"),
    "a length of 2.5": (lambda rg, x: x.reshape(2.5, 3), "TensorError", "(2.5, 3) is no shape"),
    "an axis of 0.5": (lambda rg, x: rg.stack([x, x], axis=0.5), "TensorError", "is no axis"),
    "spectral norm": (
        lambda rg, x: np.linalg.norm(x, 2, axis=(0, 1)), "TensorError", "Write its formula"),
    "round": (lambda rg, x: np.round(x, 2), "TensorError", "decimals="),
    # dtypes
    "complex": (lambda rg, x: rg.Tensor(np.ones(2) * 1j), "TensorError", "compute with .real"),
    "objects": (
        lambda rg, x: rg.Tensor(np.array([object()])), "TensorError", "array.astype(float)"),
    "values": (lambda rg, x: rg.Tensor([rg.Value(1.0)]), "TensorError", "rg.stack(values)"),
    "a mask": (
        lambda rg, x: rg.Tensor(np.ma.array([1.0, 2.0], mask=[False, True])), "TensorError",
        "array.filled(number)"),
    "+ a mask": (
        lambda rg, x: x + np.ma.masked_less(A, 2.0), "TensorError", "array.filled(number)"),
    "text": (lambda rg, x: rg.Tensor(["a", "b"]), "TensorError", "got dtype <U1"),
    "ragged": (lambda rg, x: rg.Tensor([[1.0], [1.0, 2.0]]), "TensorError", "rows are not alike"),
    "a tensor": (lambda rg, x: rg.Tensor(x), "TensorError", "t.detach()"),
    "a value": (lambda rg, x: rg.Tensor(rg.Value(1.0)), "TensorError", "rg.stack([v])"),
    "no axes": (lambda rg, x: rg.Tensor(3.0), "TensorError", "rg.Value(number)"),
    "a label": (lambda rg, x: rg.Tensor(A, label=3), "LabelError", "str(...)"),
    "+ text": (lambda rg, x: x + "a", "TensorError", "convert it with float(...)"),
    "+ None": (lambda rg, x: x + None, "TensorError", "forgot to return"),
    "+ complex": (lambda rg, x: x + 1j, "TensorError", "tensors are real"),
    "+ dict": (lambda rg, x: x + {}, "TensorError", "use tensors, values, numbers"),
    "+ objects": (
        lambda rg, x: x + np.array([rg.Value(1.0)] * 3), "TensorError", "rg.stack(values)"),
    "astype": (lambda rg, x: x.astype(int), "TensorError", "t.data.astype"),
    # indices
    "index": (lambda rg, x: x[2], "TensorIndexError", "index 2 is out of bounds for axis 0"),
    "index array": (lambda rg, x: x[[0, -3]], "TensorIndexError", "index -3 is out of bounds"),
    "too many": (lambda rg, x: x[0, 0, 0], "TensorIndexError", "3 indices for an array of 2 axes"),
    "a float": (lambda rg, x: x[0.5], "TensorIndexError", "is no index"),
    "a value as index": (lambda rg, x: x[rg.Value(1.0)], "TensorIndexError", "int(v.data)"),
    "a tensor as index": (lambda rg, x: x[x], "TensorIndexError", "t.data.astype(int)"),
    "a mask as index": (
        lambda rg, x: x[np.array([True] * 3)], "TensorIndexError", "a mask of shape (3,)"),
    "True": (lambda rg, x: x[True], "TensorIndexError", "a mask with axes"),
    "take": (lambda rg, x: x.take([7], axis=1), "TensorIndexError", "index 7 is out of bounds"),
    "floats as places": (lambda rg, x: x.take([0.5]), "NumberError", "places are whole numbers"),
    "targets": (
        lambda rg, x: rg.cross_entropy(x, [0, 3]), "TensorIndexError", "index 3 is out of bounds"),
    "take from nothing": (
        lambda rg, x: x[:0].take(0, axis=0), "TensorIndexError", "out of bounds for axis 0 of"),
    "take of nothing at all": (
        lambda rg, x: x[:, :0].take([0, 0]), "TensorIndexError", "index 0 is out of bounds"),
    "a row of no table": (
        lambda rg, x: rg.embedding(x[:0], 0), "TensorIndexError", "index 0 is out of bounds"),
    "gather from nothing": (
        lambda rg, x: rg.gather(x[:, :0], [[0], [0]]), "TensorIndexError", "axis 1 of length 0"),
    "assignment": (lambda rg, x: assigned(x, 5, 1.0), "TensorIndexError", "index 5 is out of"),
    # leaving the graph
    "bool": (lambda rg, x: bool(x), "TensorError", "(t > 0).all() or .any()"),
    "if": (lambda rg, x: 1 if x else 0, "TensorError", "rg.where(t > 0, a, b)"),
    "float": (lambda rg, x: float(x), "TensorError", "t.data for the array"),
    "int": (lambda rg, x: int(x), "TensorError", "lose their gradient"),
    "math.exp": (lambda rg, x: math.exp(x), "TensorError", "lose their gradient"),
    "range": (lambda rg, x: range(x), "TensorError", "as a whole number"),
    "np.array": (lambda rg, x: np.array([x]), "TensorError", "rg.stack([t, u])"),
    "np.asarray": (lambda rg, x: np.asarray(x), "TensorError", "Write t.data for the array"),
    "into an array": (
        lambda rg, x: assigned(np.zeros((2, 3)), 0, x[0]), "TensorError", "lose their gradient"),
    "out": (lambda rg, x: np.exp(x, out=np.zeros((2, 3))), "TensorError", "leave out= away"),
    "array +=": (lambda rg, x: np.zeros((2, 3)).__iadd__(x), "TensorError", "leave out= away"),
    "where=": (lambda rg, x: np.exp(x, where=A > 1), "TensorError", "rg.where(condition, a, b)"),
    "np.sum out": (lambda rg, x: np.sum(x, out=np.zeros(())), "TensorError", "leave out= away"),
    "dtype": (lambda rg, x: np.sum(x, dtype=int), "TensorError", "float64 throughout"),
    "reduce": (lambda rg, x: np.add.reduce(x), "TensorError", "t.sum(axis)"),
    "accumulate": (lambda rg, x: np.add.accumulate(x), "TensorError", "t.cumsum(axis)"),
    "ufunc.at": (lambda rg, x: np.add.at(x, 0, 1.0), "TensorError", "t.add_at(i, v)"),
    "ufunc outer": (lambda rg, x: np.multiply.outer(x, x), "TensorError", "rg.outer(a, b)"),
    "no rule": (lambda rg, x: np.median(x), "TensorError", "rg.sort(t)"),
    "svd": (lambda rg, x: np.linalg.svd(x), "TensorError", "@rg.custom_op"),
    "interp": (lambda rg, x: np.interp(x, [0, 1], [0, 1]), "TensorError", "np.searchsorted"),
    "rint": (lambda rg, x: np.rint(x), "TensorError", "rg.round(t)"),
    "//": (lambda rg, x: x // 2, "GraphExitError", "rg.floor(a / b)"),
    "%": (lambda rg, x: x % 2, "GraphExitError", "rg.remainder(a, b)"),
    "round in Python": (lambda rg, x: round(x), "GraphExitError", "rg.round(t)"),
    "sort in place": (lambda rg, x: x.sort(), "TensorError", "t = rg.sort(t)"),
    "@ number": (lambda rg, x: x @ 2.0, "OperandError", "write * to multiply"),
    "@ value": (lambda rg, x: rg.Value(2.0) @ x, "OperandError", "write * to multiply"),
    "assign": (lambda rg, x: rg.assign(x, np.zeros(3)), "ShapeError", "make them agree"),
    "assign interior": (lambda rg, x: rg.assign(x * 2, A), "LeafError", "to leaves only"),
    "its numbers in a recording": (
        lambda rg, x: rg.compile(lambda v: x.data.sum() * v)(2.0), "RecordingError",
        "which comes from outside"),
    "rows and what may be": (
        lambda rg, x: rg.compile(lambda v, w: x.sum() * v * w.sum())(A[0], np.ones((3, 1, 1))),
        "RowsError", "Write rg.rows(w)"),
    "pad": (lambda rg, x: np.pad(x, 1, mode="edge"), "TensorError", "'constant'"),
    "an argument too many": (lambda rg, x: np.sum(x, 0, 1, 2), "TensorError", "np.sum("),
    "parts": (lambda rg, x: rg.assign([x, x], [A]), "ShapeError", "2 parts of a nest"),
    "jvp shapes": (
        lambda rg, x: rg.jvp(lambda q: q, (A,), (np.ones(3),)), "ArgumentError", "shape (2, 3)"),
    "gradient of many": (
        lambda rg, x: rg.grad(lambda q: q * 2)(A), "FunctionResultError", "jacobian or vjp"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_why_and_names_the_cure(rg: Any, name: str) -> None:
    act, kind, text = REFUSED[name]
    x = rg.Tensor(A, label="x")
    with pytest.raises(getattr(rg.errors, kind)) as caught:
        act(rg, x)
    assert text in str(caught.value)
    assert np.array_equal(x.data, A)
    assert not x.grad.any()


def test_shapes_that_do_not_fit_name_both_operands_and_their_lines(rg: Any) -> None:
    left = rg.Tensor(np.ones((2, 3)), label="left")
    right = rg.Tensor(np.ones(4))
    with pytest.raises(rg.errors.FitError) as caught:
        left * right
    text = str(caught.value)
    assert "'left' of shape (2, 3), made at" in text
    assert "a leaf of shape (4,), made at" in text
    assert 'left = rg.Tensor(np.ones((2, 3)), label="left")' in text
    assert "right = rg.Tensor(np.ones(4))" in text


def test_attributes_of_arrays_are_named(rg: Any) -> None:
    x = rg.Tensor(A)
    with pytest.raises(AttributeError, match=r"t\.data\.byteswap has it for plain numbers"):
        x.byteswap  # noqa: B018
    assert not hasattr(x, "_secret")


def test_a_masked_array_without_masked_numbers_is_an_array(rg: Any) -> None:
    plain = np.ma.array([1.0, 2.0], mask=[False, False])
    assert rg.Tensor(plain).data.tolist() == [1.0, 2.0]
    assert (rg.Tensor([1.0, 2.0]) + plain).data.tolist() == [2.0, 4.0]


def test_odd_numbers_and_nothing_at_all_are_welcome(rg: Any) -> None:
    x = rg.Tensor([np.nan, np.inf, -0.0])
    assert np.isnan((x * 2).data[0])
    empty = rg.Tensor(np.zeros((0, 3)))
    assert (empty * 2).shape == (0, 3)
    assert empty.sum().data == 0.0
    assert (empty @ np.ones((3, 2))).shape == (0, 2)
    assert list(empty) == []
    (empty.sum() + 1.0).backward()
    assert empty.grad.shape == (0, 3)
    assert rg.Tensor([]).shape == (0,)
    for kind in (np.int8, np.uint16, np.int64, np.float32, bool):
        assert rg.Tensor(np.ones(2, dtype=kind)).data.dtype == np.float64
    assert bool(rg.Tensor([[2.0]]))
    assert not rg.Tensor([0.0])


def test_text_of_tensors(rg: Any) -> None:
    assert repr(rg.Tensor([1.0, 2.0], label="w")) == "Tensor([1., 2.], label='w')"
    assert f"{rg.Tensor([1.0, 2.0]):.3f}" == "[1.000, 2.000]"
    assert "shape=(200, 200)" in repr(rg.Tensor(np.zeros((200, 200))))
    assert "shape=(0, 3)" in repr(rg.Tensor(np.zeros((0, 3))))


@pytest.mark.parametrize("axis", [1.5, "a", (0, 0.5)])
def test_an_axis_is_a_whole_number(rg, axis):
    x = rg.Tensor([[1.0, 2.0], [3.0, 4.0]])
    for _ in range(2):
        with pytest.raises(rg.errors.TensorError, match="is no axis: give a whole number"):
            x.sum(axis=axis)
        with pytest.raises(rg.errors.TensorError, match="is no axis: give a whole number"):
            np.mean(x, axis=axis)
    assert x.sum(axis=np.int64(1)).data.tolist() == [3.0, 7.0]


def test_the_numbers_of_a_tensor_are_not_assigned_as_an_attribute(rg: Any) -> None:
    t = rg.Tensor([1.0, 2.0])
    with pytest.raises(rg.errors.TensorError, match=r"t\.data = .*rg\.assign\(t, array\)"):
        t.data = np.array([3.0, 4.0])
    t[...] = np.array([3.0, 4.0])
    np.testing.assert_array_equal(t.data, [3.0, 4.0])
