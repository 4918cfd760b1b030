"""NumPy scalars and arrays on either side of an operator; Python's own functions over values."""

from __future__ import annotations

import functools
import math
import operator
import statistics

import numpy as np
import pytest

SCALARS = [
    np.float64(2.5), np.float32(2.5), np.float16(2.5), np.int64(2), np.int8(2), np.uint32(2),
    np.bool_(True), np.longdouble(2.5), np.array(2.5), np.array(2),
]  # fmt: skip
OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda s: f"{type(s).__name__}-{s.dtype}")
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_scalars_on_either_side_act_as_plain_numbers(rg, op, scalar):
    number = float(scalar)
    for make in (lambda v, s: op(v, s), lambda v, s: op(s, v)):
        x, y = rg.Value(1.5), rg.Value(1.5)
        got, expected = make(x, scalar), make(y, number)
        assert type(got) is rg.Value
        assert got.data == expected.data
        got.backward()
        expected.backward()
        assert x.grad == y.grad
        assert (got.op, got._op) == (expected.op, expected._op)


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda s: f"{type(s).__name__}-{s.dtype}")
def test_scalars_are_compared_and_stored_as_numbers(rg, scalar):
    number = float(scalar)
    x = rg.Value(number)
    assert x == scalar
    assert scalar == x
    assert x >= scalar
    assert not x < scalar
    assert (scalar + 1.0) > x
    made = rg.Value(scalar)
    assert type(made.data) is float
    assert made.data == number
    made.data = scalar
    made.grad = scalar
    assert (type(made.data), type(made.grad)) == (float, float)


def test_an_array_after_a_zero_dimensional_one(rg):
    """A zero-dimensional array once made every array pass for a number."""
    assert rg.Value(np.array(3.0)).data == 3.0
    assert (rg.Value(2.0) * np.array(3.0)).data == 6.0
    found = np.array([1.0, 2.0]) * rg.Value(2.0)
    assert [v.data for v in found] == [2.0, 4.0]
    with pytest.raises(TypeError):
        rg.Value(np.array([1.0, 2.0]))


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
@pytest.mark.parametrize("shape", [(3,), (2, 2), (1,), (0,), (2, 1, 2)])
def test_arrays_of_numbers_give_arrays_of_values(rg, op, shape):
    array = np.linspace(0.5, 2.0, int(np.prod(shape))).reshape(shape)
    for reflected in (False, True):
        x = rg.Value(1.5)
        got = op(array, x) if reflected else op(x, array)
        assert isinstance(got, np.ndarray)
        assert got.dtype == object
        assert got.shape == shape
        expected = op(array, 1.5) if reflected else op(1.5, array)
        assert [v.data for v in got.reshape(-1)] == pytest.approx(expected.reshape(-1).tolist())
        assert all(type(v) is rg.Value for v in got.reshape(-1))


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_arrays_of_values_combine_with_values_numbers_and_arrays(rg, op):
    values = np.array([rg.Value(1.0), rg.Value(2.0)], dtype=object)
    for other in (rg.Value(1.5), 1.5, np.float64(1.5), np.array([1.5, 1.5]), values + 0.5):
        for got in (op(values, other), op(other, values)):
            assert got.shape == (2,)
            assert all(isinstance(v, rg.Value) for v in got)
    loss = op(values, 2.0).sum() * rg.Value(3.0)
    loss.backward()
    assert all(v.grad != 0.0 for v in values)


def test_matrices_of_values_multiply(rg):
    weights = np.array(
        [[rg.Value(1.0), rg.Value(2.0)], [rg.Value(3.0), rg.Value(4.0)]], dtype=object
    )
    x = np.array([5.0, 6.0])
    y = weights @ x
    assert [v.data for v in y] == [17.0, 39.0]
    y.sum().backward()
    assert [[v.grad for v in row] for row in weights] == [[5.0, 6.0], [5.0, 6.0]]
    assert [v.data for v in np.dot(x, weights)] == [23.0, 34.0]


def test_shapes_follow_numpys_rules(rg):
    column = np.array([[rg.Value(1.0)], [rg.Value(2.0)]], dtype=object)
    row = np.array([10.0, 20.0, 30.0])
    assert (column * row).shape == (2, 3)
    assert (column * row)[1, 2].data == 60.0
    with pytest.raises(ValueError, match="broadcast"):
        column.reshape(-1) * row


def test_functions_take_arrays_element_by_element(rg):
    got = rg.exp(np.array([rg.Value(0.0), 1.0], dtype=object))
    assert [float(getattr(v, "data", v)) for v in got] == [1.0, math.exp(1.0)]
    assert rg.maximum(rg.Value(1.0), np.array([0.0, 2.0])).shape == (2,)


def test_comparisons_with_arrays_are_arrays_of_truths(rg):
    x = rg.Value(1.5)
    array = np.array([1.0, 1.5, 2.0])
    assert (x > array).tolist() == [True, False, False]
    assert (array > x).tolist() == [False, False, True]
    assert (x == array).tolist() == [False, True, False]
    assert (x != array).dtype == bool


def test_arrays_sort_and_reduce(rg):
    values = np.array([rg.Value(3.0), rg.Value(1.0), rg.Value(2.0)], dtype=object)
    assert [v.data for v in np.sort(values)] == [1.0, 2.0, 3.0]
    assert values.max() is values[0]
    assert values.argmin() == 1
    assert values.sum().data == 6.0
    assert values.mean().data == 2.0


# ---- Python's own functions --------------------------------------------------------------------


def test_sum_starts_from_the_number_zero(rg):
    values = [rg.Value(float(number)) for number in range(5)]
    total = sum(values)
    total.backward()
    assert total.data == 10.0
    assert [v.grad for v in values] == [1.0] * 5
    assert sum([], rg.Value(3.0)).data == 3.0
    assert sum(values, rg.Value(2.0)).data == 12.0
    assert sum(v * v for v in values).data == 30.0
    assert sum([]) == 0


def test_max_min_and_sorted_go_by_data_and_return_the_values(rg):
    values = [rg.Value(number) for number in (3.0, -1.0, 7.0, 7.0, 2.0)]
    assert max(values) is values[2]
    assert min(values) is values[1]
    assert max(values[0], 5.0) == 5.0
    assert max(values, key=lambda v: -v.data) is values[1]
    ordered = sorted(values)
    assert [v.data for v in ordered] == [-1.0, 2.0, 3.0, 7.0, 7.0]
    assert ordered[3] is values[2]
    assert [v.data for v in sorted(values, reverse=True)] == [7.0, 7.0, 3.0, 2.0, -1.0]
    top = max(values) * 2.0
    top.backward()
    assert [v.grad for v in values] == [0.0, 0.0, 2.0, 0.0, 0.0]


def test_the_gradient_of_a_choice_goes_to_what_was_chosen(rg):
    def spread(v):
        ordered = sorted(v)
        return ordered[-1] - ordered[0] + sum(ordered[1:-1]) * 10.0

    assert rg.grad(spread)([3.0, -1.0, 7.0, 2.0]) == [10.0, -1.0, 1.0, 10.0]


def test_all_any_abs_pow_and_friends(rg):
    x, zero = rg.Value(-2.0), rg.Value(0.0)
    assert any([zero, x])
    assert not all([zero, x])
    assert abs(x).data == 2.0
    assert pow(x, 2).data == 4.0
    assert (+x) is x
    assert functools.reduce(operator.mul, [x, x, x]).data == -8.0
    assert math.prod([x, x]).data == 4.0
    assert statistics.median([rg.Value(3.0), rg.Value(1.0), rg.Value(2.0)]).data == 2.0
    assert list(map(rg.Value.relu, [x, rg.Value(3.0)]))[1].data == 3.0


def test_sets_and_dicts_know_values_by_identity(rg):
    a, b = rg.Value(1.0), rg.Value(1.0)
    assert a == b
    assert len({a, b, a}) == 2
    table = {a: "a", b: "b"}
    assert table[a] == "a"
    assert table[b] == "b"
    assert None not in {a, b}
    assert a != None  # noqa: E711
