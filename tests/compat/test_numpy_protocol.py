"""NumPy's functions given values: by the rows of the law on both cores, or refused with a cure."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest

UNARY = (
    "exp expm1 log log1p log2 log10 sqrt square reciprocal tanh sin cos tan sinh cosh arctan "
    "arcsinh absolute fabs negative positive sign floor ceil exp2 radians degrees deg2rad rad2deg"
).split()
BOUNDED = "arcsin arccos arctanh".split()
BINARY = (
    "add subtract multiply divide true_divide power float_power maximum minimum arctan2 hypot"
).split()
COMPARISONS = "less less_equal equal not_equal greater greater_equal".split()


def slope(function: Any, x: float) -> float:
    return (float(function(x + 1e-6)) - float(function(x - 1e-6))) / 2e-6


@pytest.mark.parametrize("name", [*UNARY, *BOUNDED, "arccosh"])
def test_functions_of_one_value(rg: Any, name: str) -> None:
    point = 0.375 if name in BOUNDED else 1.375
    function, x = getattr(np, name), rg.Value(point)
    y = function(x)
    assert type(y) is rg.Value
    assert y.data == pytest.approx(float(function(point)), rel=1e-14)
    (y * 1.0).backward()
    assert x.grad == pytest.approx(slope(function, point), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("number", [1.25, np.float64(1.25), np.float32(1.25), 2])
def test_functions_of_two(rg: Any, name: str, number: Any) -> None:
    function = getattr(np, name)
    for swapped in (False, True):
        x = rg.Value(1.5)
        y = function(number, x) if swapped else function(x, number)
        expected = function(float(number), 1.5) if swapped else function(1.5, float(number))
        assert type(y) is rg.Value
        assert y.data == pytest.approx(float(expected), rel=1e-14)
    both = function(rg.Value(1.5), rg.Value(1.25))
    assert both.data == pytest.approx(float(function(1.5, 1.25)), rel=1e-14)


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_are_plain_truths(rg: Any, name: str) -> None:
    function = getattr(np, name)
    for other in (1.0, 1.5, np.float64(2.0)):
        assert function(rg.Value(1.5), other) is bool(function(1.5, other))
        assert function(other, rg.Value(1.5)) is bool(function(other, 1.5))
        assert (function(rg.Value(1.5), np.array([other, 1.5]))).dtype == bool


def test_maximum_and_minimum_are_nan_if_either_is(rg: Any) -> None:
    x, nan = rg.Value(1.0), math.nan
    for function in (np.maximum, np.minimum, rg.maximum, rg.minimum):
        assert math.isnan(function(x, nan).data)
        assert math.isnan(function(nan, x).data)
        assert math.isnan(function(x, rg.Value(nan)).data)
    assert max(x, rg.Value(nan)) is x  # Python's own: nothing is greater than NaN
    assert math.isnan(max(rg.Value(nan), x).data)


@pytest.mark.parametrize("op", [operator.add, operator.mul, operator.pow, operator.lt])
def test_operators_of_numpy_scalars_do_the_same_by_every_road(rg: Any, op: Any) -> None:
    """As an operator NumPy leaves it to the value; called as a function it asks the protocol."""
    n, x = np.float64(2.5), rg.Value(1.5)
    written = {operator.add: lambda: n + x, operator.mul: lambda: n * x,
               operator.pow: lambda: n**x, operator.lt: lambda: n < x}[op]()  # fmt: skip
    called = op(n, x)
    assert type(written) is type(called)
    assert written == called
    if op is not operator.lt:
        assert (written.op, written.partials) == (called.op, called.partials)
        assert written.site.file == called.site.file == __file__


def test_powers_choose_their_row_as_the_operator_does(rg: Any) -> None:
    x = rg.Value(3.0)
    for exponent in (2, -1, 3, 0.5, np.float64(2.0)):
        assert np.power(x, exponent).op == (x**exponent).op


def test_arrays_give_arrays_of_values(rg: Any) -> None:
    x, numbers = rg.Value(2.0), np.array([1.0, 2.0])
    values = np.array([rg.Value(3.0), rg.Value(4.0)])
    assert values.dtype == object
    for found in (x * numbers, numbers * x, np.multiply(numbers, x), np.maximum(x, numbers),
                  values * x, x * values, values @ numbers * numbers, np.arctan2(numbers, x),
                  np.stack([x, x]), np.concatenate([values, values])):  # fmt: skip
        assert type(found) is np.ndarray
        assert found.dtype == object
        assert all(type(v) is rg.Value for v in found)
    assert (values @ numbers).data == 11.0
    assert np.array([x, x]).shape == (2,)
    assert [v.data for v in np.where(np.array([True, False]), x, values)] == [2.0, 4.0]
    assert np.sum([x, x]).data == 4.0


def test_functions_that_are_no_ufuncs(rg: Any) -> None:
    x, y = rg.Value(2.0), rg.Value(3.0)
    assert np.sum(x) is x
    assert np.mean(x) is x
    assert np.max(x) is x
    assert np.where(x > y, x, y).data == 3.0
    assert np.clip(x, 0.0, 1.5).data == 1.5
    assert np.clip(x, None, y).data == 2.0
    assert np.clip(x, min=2.5, max=None).data == 2.5
    assert np.dot(x, y).data == 6.0
    assert [v.data for v in np.clip(np.array([x, y]), 0.0, rg.Value(2.5))] == [2.0, 2.5]
    assert np.sum(x[None], keepdims=True).shape == (1,)
    assert (np.isnan(x), np.isfinite(x), np.isinf(x)) == (False, True, False)


def test_a_value_answers_like_an_array_without_axes(rg: Any) -> None:
    x = rg.Value(2.0)
    assert (x.shape, x.ndim, x.size) == ((), 0, 1)
    assert x.sum() is x
    assert x.mean() is x
    assert x.reshape(()) is x
    assert x[()] is x
    assert x[...] is x
    assert (x[None].shape, x[None, None].shape, x.reshape(1, 1).shape) == ((1,), (1, 1), (1, 1))
    assert isinstance(x[None], rg.Tensor)
    assert (x[None][0] * 3.0).data == 6.0
    (x[None] * [3.0, 4.0]).sum().backward()
    assert x.grad == 7.0
    for index in (0, slice(None), "a"):
        with pytest.raises(TypeError, match="not subscriptable"):
            x[index]
    for act in (iter, len, list):
        with pytest.raises(TypeError):
            act(x)


REFUSED: dict[str, tuple[Any, str, str]] = {
    "rint": (lambda v: np.rint(v), "NumpyError", "np.rint of values .* Write rg.round"),
    "fmax": (lambda v: np.fmax(v, 1), "NumpyError", "Write np.maximum"),
    "gcd": (lambda v: np.gcd(v, 1), "NumpyError", "works where there is an rg.NAME"),
    "out": (lambda v: np.exp(v, out=np.zeros(1)), "NumpyError", "never written in place"),
    "where": (lambda v: np.exp(v, where=True), "NumpyError", "rg.where"),
    "dtype": (lambda v: np.exp(v, dtype=float), "NumpyError", "Leave it out"),
    "reduce": (lambda v: np.add.reduce(v), "NumpyError", r"rg\.sum"),
    "outer": (lambda v: np.multiply.outer(v, [1.0]), "NumpyError", "not known here"),
    "matmul": (lambda v: np.array([1.0]) @ v, "OperandError", "write \\* to multiply"),
    "text": (lambda v: np.add(v, "a"), "OperandError", "float\\(...\\)"),
    "range": (lambda v: list(range(v)), "GraphExitError", "int\\(n.data\\)"),
    "index": (lambda v: [1.0, 2.0][v], "GraphExitError", "rg.take\\(items, i\\)"),
    "//": (lambda v: np.floor_divide(v, 2), "GraphExitError", "rg.floor"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_names_the_cure(rg: Any, name: str) -> None:
    act, kind, text = REFUSED[name]
    with pytest.raises(getattr(rg.errors, kind), match=text):
        act(rg.Value(1.5))


def test_arrays_of_floats_are_not_changed_in_place(rg: Any) -> None:
    array, x = np.array([1.0, 2.0]), rg.Value(3.0)
    with pytest.raises(rg.errors.NumpyError, match="a = a \\+ v for a \\+= v"):
        array += x
    assert array.tolist() == [1.0, 2.0]


def test_an_element_of_an_array_of_floats(rg: Any) -> None:
    z, x = np.zeros(2), rg.Value(3.0)
    with pytest.raises((rg.errors.GraphExitError, ValueError)) as caught:
        z[0] = x
    said = str(caught.value) + str(caught.value.__cause__)  # NumPy has words before ours at times
    assert "np.zeros(n, dtype=object), or collect the values in a list" in said
    objects = np.zeros(2, dtype=object)
    objects[0] = x
    assert (objects * 2)[0].data == 6.0


def test_recorded_functions_use_them_too(native: Any) -> None:
    rg, rows = native, np.array([0.5, -1.5, 2.0])

    def f(x: Any) -> Any:
        return (
            np.exp(x) * np.float64(2)
            + np.maximum(x, 0.0)
            + np.where(x > 0, x, -x)
            + np.clip(x, -1, 1)
        )

    values, slopes = rg.compile(f).value_and_grad(rows)
    assert values == pytest.approx(f(rows))
    assert slopes == pytest.approx([slope(f, x) for x in rows], rel=1e-6)
    assert len(rg.compile(f).traces) == 0
    compare = rg.compile(lambda x: sum(np.array([0.0, 1.0, 3.0]) < x))
    assert compare(rows).tolist() == [1.0, 0.0, 2.0]
