"""Arguments and results: numbers, lists, tuples, named tuples, dicts, arrays and nests of them."""

from __future__ import annotations

from collections import OrderedDict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from .support import NESTS, Point, close, flatten, mapped, skeleton, steady


def weighted_squares(rg, nest):
    """1·a² + 2·b² + 3·c² + … over the items of a nest."""
    return rg.sum([(index + 1) * item * item for index, item in enumerate(flatten(nest))])


def weighted_slopes(nest):
    """What the gradient of ``weighted_squares`` must be."""
    counter = iter(range(1, 1000))
    return mapped(lambda item: 2.0 * next(counter) * item, nest)


# ---- one argument of every kind ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        (3.0, 6.0),
        (3, 6.0),
        (True, 2.0),
        (np.float64(3.0), 6.0),
        (np.float32(3.0), 6.0),
        (np.int16(3), 6.0),
        (np.array(3.0), 6.0),
        (Fraction(3, 2), 3.0),
        ([1.0, 2], [2.0, 8.0]),
        ((1.0, 2.0), (2.0, 8.0)),
        (Point(1.0, 2.0), Point(2.0, 8.0)),
        ({"a": 1.0, 7: 2.0}, {"a": 2.0, 7: 8.0}),
        ([], []),
        ({}, {}),
        ((), ()),
        ([[1.0], (2.0, {"w": [3.0]})], [[2.0], (8.0, {"w": [18.0]})]),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_the_gradient_has_the_shape_of_the_argument(rg, argument, expected):
    gradient = rg.grad(lambda nest: weighted_squares(rg, nest) + rg.Value(0.0, requires_grad=False))
    found = gradient(argument)
    assert found == expected
    assert skeleton(found) == skeleton(expected)
    assert all(type(item) is float for item in flatten(found))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool])
@pytest.mark.parametrize("shape", [(3,), (2, 2), (1, 0), (0,), (2, 1, 2)])
def test_arrays_of_numbers_give_float64_arrays(rg, dtype, shape):
    argument = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    found = rg.grad(lambda a: weighted_squares(rg, a) + rg.Value(0.0, requires_grad=False))(
        argument
    )
    expected = 2.0 * np.arange(1, np.prod(shape) + 1).reshape(shape) * argument.astype(float)
    assert found.dtype == np.float64
    assert found.shape == shape
    assert np.array_equal(found, expected)


def test_an_array_of_any_strides_is_read_in_its_own_order(rg):
    argument = np.arange(12.0).reshape(3, 4).T[::2, ::-1]
    found = rg.grad(lambda a: weighted_squares(rg, a))(argument)
    assert np.array_equal(found, 2.0 * np.arange(1, 7).reshape(2, 3) * argument)


def test_an_object_array_of_frozen_values_gives_numbers(rg):
    argument = np.array([rg.Value(2.0, requires_grad=False), 3.0, np.float64(4.0)], dtype=object)
    found = rg.grad(lambda a: weighted_squares(rg, a))(argument)
    assert found.dtype == np.float64
    assert found.tolist() == [4.0, 12.0, 24.0]


def test_the_function_is_given_values_in_the_containers_of_the_caller(rg):
    seen = []
    given_nest = {"a": [1.0, (2.0, Point(3.0, 4.0))], "b": np.array([5.0, 6.0])}

    def function(nest):
        seen.append(nest)
        return weighted_squares(rg, nest)

    rg.grad(function)(given_nest)
    (nest,) = seen
    assert isinstance(nest["a"][1][1], Point)
    assert type(nest["b"]) is rg.Tensor
    assert nest["b"].shape == (2,)
    assert all(isinstance(item, rg.Value) for item in flatten(nest["a"]))
    assert [item.data for item in flatten(nest["a"])] == [1.0, 2.0, 3.0, 4.0]
    assert nest["b"].data.tolist() == [5.0, 6.0]
    assert given_nest["a"] == [1.0, (2.0, Point(3.0, 4.0))]
    assert given_nest["b"].tolist() == [5.0, 6.0]


def test_dicts_of_other_classes_come_back_as_dicts(rg):
    found = rg.grad(lambda d: d["a"] * d["b"])(OrderedDict(b=2.0, a=3.0))
    assert found == {"a": 2.0, "b": 3.0}
    assert list(found) == ["b", "a"]


def test_one_value_in_several_places_has_a_gradient_in_each(rg):
    x = 3.0
    assert rg.grad(lambda v: v[0] * v[1])([x, x]) == [3.0, 3.0]
    shared = [2.0]
    assert rg.grad(lambda v: v[0][0] * v[1][0] ** 2)([shared, shared]) == [[4.0], [8.0]]


def test_values_as_arguments_give_values_connected_to_them(rg):
    x, frozen = rg.Value(3.0), rg.Value(5.0, requires_grad=False)
    gradient = rg.grad(lambda v: v[0] ** 2 * v[1])([x, frozen])
    assert [type(item) for item in gradient] == [rg.Value, rg.Value]
    assert [item.data for item in gradient] == [30.0, 9.0]
    gradient[0].backward()
    assert x.grad == 10.0
    assert rg.grad(lambda v: v * v)(frozen) == 10.0


# ---- random nests ------------------------------------------------------------------------------


@steady(max_examples=60)
@given(nest=NESTS)
def test_gradients_of_any_nest(rg, nest):
    zero = rg.Value(0.0, requires_grad=False)
    value, found = rg.value_and_grad(lambda n: weighted_squares(rg, n) + zero)(nest)
    expected = weighted_slopes(nest)
    assert skeleton(found) == skeleton(expected)
    assert flatten(found) == flatten(expected)
    assert close(value, sum((i + 1) * x * x for i, x in enumerate(flatten(nest))))


@steady(max_examples=40)
@given(nest=NESTS)
def test_gradients_of_values_keep_the_nest(rg, nest):
    inputs = mapped_to_values(rg, nest)
    root = weighted_squares(rg, inputs) + rg.Value(0.0)
    found = rg.gradients(root, inputs)
    assert [item.data for item in flatten(found)] == flatten(weighted_slopes(nest))
    assert all(isinstance(item, rg.Value) for item in flatten(found))


def mapped_to_values(rg, nest):
    if isinstance(nest, np.ndarray):
        array = np.empty(nest.size, dtype=object)
        array[:] = [rg.Value(item) for item in nest.reshape(-1)]
        return array.reshape(nest.shape)
    if isinstance(nest, dict):
        return {key: mapped_to_values(rg, part) for key, part in nest.items()}
    if isinstance(nest, Point):
        return Point(*(mapped_to_values(rg, part) for part in nest))
    if isinstance(nest, (list, tuple)):
        return type(nest)(mapped_to_values(rg, part) for part in nest)
    return rg.Value(nest)


def linear_map(outputs, inputs):
    """A matrix with a different number everywhere, and the function it is the Jacobian of."""
    rows, columns = len(flatten(outputs)), len(flatten(inputs))
    matrix = np.arange(1.0, rows * columns + 1.0).reshape(rows, columns) / 4.0

    def function(nest):
        items = flatten(nest)
        source = iter(range(rows))

        def one(_):
            row = next(source)
            total = 0.0
            for column in range(columns):
                total = total + matrix[row, column] * items[column]
            return total

        return mapped_objects(one, outputs)

    return matrix, function


def mapped_objects(function, nest):
    """As ``mapped``, with arrays of objects."""
    if isinstance(nest, np.ndarray):
        array = np.empty(nest.size, dtype=object)
        for index, part in enumerate(nest.reshape(-1)):
            array[index] = function(part)
        return array.reshape(nest.shape)
    if isinstance(nest, dict):
        return {key: mapped_objects(function, part) for key, part in nest.items()}
    if isinstance(nest, Point):
        return Point(*(mapped_objects(function, part) for part in nest))
    if isinstance(nest, (list, tuple)):
        return type(nest)(mapped_objects(function, part) for part in nest)
    return function(nest)


@steady(max_examples=40)
@given(outputs=NESTS, inputs=NESTS.filter(lambda nest: len(flatten(nest)) > 0))
def test_the_jacobian_is_the_nest_of_outputs_with_a_nest_of_inputs_in_each_place(
    rg, outputs, inputs
):
    matrix, function = linear_map(outputs, inputs)
    found = rg.jacobian(function)(inputs)
    assert flatten(found) == matrix.reshape(-1).tolist()
    source = iter(range(len(flatten(outputs))))

    def check(part, like):
        if isinstance(like, dict):
            assert list(part) == list(like)
            for key in like:
                check(part[key], like[key])
        elif isinstance(like, (list, tuple)):
            assert type(part) is type(like)
            assert len(part) == len(like)
            for one, other in zip(part, like):
                check(one, other)
        elif isinstance(like, np.ndarray):
            assert part.shape[: like.ndim] == like.shape
            assert part.dtype in (float, object)
            for index in np.ndindex(like.shape):
                item = part[index]
                check(float(item) if isinstance(item, np.float64) else item, 0.0)
        else:
            expected = matrix[next(source)]
            values = iter(expected.tolist())
            assert skeleton(part) == skeleton(mapped(lambda _: next(values), inputs))

    check(found, outputs)


@steady(max_examples=40)
@given(
    inputs=NESTS.filter(lambda nest: len(flatten(nest)) > 0),
    outputs=NESTS,
    numbers=st.lists(st.integers(-3, 3), min_size=24, max_size=24),
)
def test_vjp_and_jvp_are_two_readings_of_one_jacobian(rg, inputs, outputs, numbers):
    matrix, linear = linear_map(outputs, inputs)

    def function(nest):
        return mapped_objects(lambda y: y * y, linear(nest))

    source = iter(numbers * 10)
    direction = mapped(lambda _: float(next(source)), inputs)
    seed = mapped(lambda _: float(next(source)), outputs)
    value, tangent = rg.jvp(function, (inputs,), (direction,))
    same_value, pull = rg.vjp(function, inputs)
    pulled = pull(seed)
    assert skeleton(pulled) == skeleton(direction)
    assert flatten(value) == flatten(same_value)
    y = matrix @ np.array(flatten(inputs), dtype=float)
    jacobian = 2.0 * y[:, None] * matrix
    forward = jacobian @ np.array(flatten(direction))
    backward = np.array(flatten(seed)) @ jacobian
    assert np.allclose(np.array(flatten(tangent), dtype=float), forward, rtol=1e-12, atol=1e-9)
    assert np.allclose(np.array(flatten(pulled), dtype=float), backward, rtol=1e-12, atol=1e-9)


def coupled(rg, nest):
    """A function with no zero in its Hessian."""
    total = rg.sum([(index + 1) * item for index, item in enumerate(flatten(nest))])
    return rg.sin(total + rg.Value(0.0, requires_grad=False)) + total * total


def blocks(nest, found):
    """The parts of a nest, arrays whole, each by how many numbers it has and what stands there."""
    if isinstance(nest, dict):
        return [pair for key in nest for pair in blocks(nest[key], found[key])]
    if isinstance(nest, (list, tuple)):
        return [pair for one, other in zip(nest, found) for pair in blocks(one, other)]
    return [(np.size(nest), found)]


def dense(nest, found):
    """A Hessian in blocks, a row of them a part and one for each part, as one matrix."""
    return np.block(
        [
            [np.reshape(np.array(part, dtype=float), (down, across)) for across, part in row]
            for down, row in ((down, blocks(nest, part)) for down, part in blocks(nest, found))
        ]
    )


@steady(max_examples=25)
@given(nest=NESTS.filter(lambda nest: len(flatten(nest)) > 0))
def test_hessians_of_any_nest_and_their_products(rg, nest):
    count = len(flatten(nest))
    weights = np.arange(1.0, count + 1.0)
    total = weights @ np.array(flatten(nest), dtype=float)
    expected = (2.0 - np.sin(total)) * np.outer(weights, weights)
    found = rg.hessian(lambda n: coupled(rg, n))(nest)
    assert np.allclose(dense(nest, found), expected, rtol=1e-12, atol=1e-12)
    vector = mapped(lambda item: item + 1.0, nest)
    product = rg.hvp(lambda n: coupled(rg, n), nest, vector)
    assert skeleton(product) == skeleton(mapped(float, nest))
    assert np.allclose(
        flatten(product), expected @ np.array(flatten(vector)), rtol=1e-11, atol=1e-11
    )


# ---- shapes worth an example -------------------------------------------------------------------


def test_arrays_in_and_out_give_one_array(rg):
    def function(a):
        return np.array([[a[0, 0] * a[0, 1]], [a[0, 1] ** 2], [a[0, 0] + 0.0]], dtype=object)

    found = rg.jacobian(function)(np.array([[2.0, 3.0]]))
    assert found.dtype == np.float64
    assert found.shape == (3, 1, 1, 2)
    assert found.reshape(3, 2).tolist() == [[3.0, 2.0], [0.0, 6.0], [1.0, 0.0]]


def test_a_jacobian_of_arrays_has_one_shape_for_numbers_and_for_values(rg):
    w = rg.Value(2.0)
    plain = rg.jacobian(lambda a: a * 2.0)(np.array([1.0, 3.0]))
    dependent = rg.jacobian(lambda a: a * w)(np.array([1.0, 3.0]))
    assert plain.shape == dependent.shape == (2, 2)
    assert isinstance(dependent[0, 0], rg.Value)
    assert (dependent == plain).all()


def test_a_hessian_of_an_array_is_a_square_array(rg):
    found = rg.hessian(lambda a: a[0] ** 2 * a[1])(np.array([3.0, 2.0]))
    assert found.tolist() == [[4.0, 6.0], [6.0, 0.0]]


def test_a_hessian_of_a_dict_has_a_dict_in_each_place(rg):
    found = rg.hessian(lambda p: p["a"] ** 2 * p["b"][0])({"a": 3.0, "b": [2.0]})
    assert found == {"a": {"a": 4.0, "b": [6.0]}, "b": [{"a": 6.0, "b": [0.0]}]}


def test_numbers_among_the_outputs_have_zero_derivatives(rg):
    function = lambda x: [x * x, 5.0, np.int64(2)]  # noqa: E731
    assert rg.jacobian(function)(3.0) == [6.0, 0.0, 0.0]
    assert rg.jvp(function, (3.0,), (1.0,)) == ([9.0, 5.0, 2.0], [6.0, 0.0, 0.0])
    value, pull = rg.vjp(function, 3.0)
    assert value == [9.0, 5.0, 2.0]
    assert pull([1.0, 100.0, 100.0]) == 6.0


def test_one_output_several_times_adds_up(rg):
    def function(x):
        y = x * x
        return [y, y, x]

    value, pull = rg.vjp(function, 3.0)
    assert value == [9.0, 9.0, 3.0]
    assert pull([1.0, 10.0, 100.0]) == 166.0
    assert rg.jvp(function, (3.0,), (2.0,))[1] == [12.0, 12.0, 2.0]


def test_a_vjp_can_be_pulled_many_times(rg):
    calls = []

    def function(x, y):
        calls.append(1)
        return {"product": x * y, "sum": x + y}

    value, pull = rg.vjp(function, 2.0, 5.0)
    assert value == {"product": 10.0, "sum": 7.0}
    assert pull({"product": 1.0, "sum": 0.0}) == (5.0, 2.0)
    assert pull({"product": 0.0, "sum": 1.0}) == (1.0, 1.0)
    assert pull({"product": 1.0, "sum": 0.0}) == (5.0, 2.0)
    assert len(calls) == 1


def test_seeds_tangents_and_vectors_are_matched_by_key_not_by_order(rg):
    function = lambda p: {"a": p["u"] * 2, "b": p["v"] * 10}  # noqa: E731
    point = {"u": 1.0, "v": 1.0}
    _, pull = rg.vjp(function, point)
    assert pull({"b": 1.0, "a": 0.0}) == {"u": 0.0, "v": 10.0}
    assert rg.jvp(function, (point,), ({"v": 1.0, "u": 0.0},))[1] == {"a": 0.0, "b": 10.0}
    square = lambda p: p["u"] ** 2 + 10 * p["v"] ** 2  # noqa: E731
    assert rg.hvp(square, point, {"v": 1.0, "u": 0.0}) == {"u": 0.0, "v": 20.0}


def test_lists_may_stand_for_arrays_of_that_shape(rg):
    function = lambda a: rg.dot(a.reshape(-1), a.reshape(-1))  # noqa: E731
    found = rg.hvp(function, np.ones((2, 2)), [[1.0, 0.0], [0.0, 3.0]])
    assert found.tolist() == [[2.0, 0.0], [0.0, 6.0]]


def test_results_do_not_share_objects_with_the_graph(rg):
    """Once the gradient of y in x·y was x itself, and changed when an optimizer stepped x."""
    x, y = rg.Value(2.0), rg.Value(3.0)
    gradients = rg.gradients(x * y, [x, y])
    for parameter, gradient in zip((x, y), gradients):
        parameter.data -= 0.1 * gradient.data
    assert (x.data, y.data) == (2.0 - 0.1 * 3.0, 3.0 - 0.1 * 2.0)
    p, q = rg.Value(2.0), rg.Value(3.0)
    first, second = rg.gradients((p + q) ** 2, [p, q])
    first.data *= 0.5
    assert second.data == 10.0
    z = p.exp()
    (slope,) = rg.gradients(z, [p])
    assert slope is not z
    assert slope.data == z.data
    inside = rg.grad(lambda t: t * p)(1.0)
    assert inside is not p
    assert inside.data == 2.0
