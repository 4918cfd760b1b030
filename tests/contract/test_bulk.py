"""Whole nests of values: numbers in and out of arrays, gradients to zero, all or nothing."""

from __future__ import annotations

import re

import numpy as np
import pytest


class Module:
    """Anything with parameters()."""

    def __init__(self, *values):
        self.values = values

    def parameters(self):
        return list(self.values)


def grid(rg, *shape):
    """A nest of lists of a shape, counting from 0; gradients count down from 0."""
    values = [rg.Value(float(n)) for n in range(int(np.prod(shape)))]
    for n, value in enumerate(values):
        value.grad = -float(n)
    nest = values
    for length in reversed(shape[1:]):
        nest = [nest[i : i + length] for i in range(0, len(nest), length)]
    return nest if shape else values[0]


# ---- reading ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (3, 1), (2, 3, 4), (1, 1, 1, 2)])
def test_nests_are_read_into_arrays_of_their_shape(rg, shape):
    nest, expected = grid(rg, *shape), np.arange(float(np.prod(shape))).reshape(shape)
    for array, plain in ((rg.data(nest), expected), (rg.grads(nest), -expected)):
        assert isinstance(array, np.ndarray)
        assert array.dtype == np.float64
        assert array.shape == shape
        assert (array == plain).all()


@pytest.mark.parametrize(("nest", "shape"), [([], (0,)), ((), (0,)), ([[], []], (2, 0))])
def test_empty_nests(rg, nest, shape):
    assert rg.data(nest).shape == rg.grads(nest).shape == shape
    rg.assign(nest, np.empty(shape))
    rg.zero_grad(nest)
    rg.freeze(nest)


def test_tuples_lists_and_object_arrays_mix(rg):
    a, b, c, d = grid(rg, 4)
    expected = [[0.0, 1.0], [2.0, 3.0]]
    nests = [
        ((a, b), (c, d)),
        [(a, b), [c, d]],
        np.array([[a, b], [c, d]], dtype=object),
        np.array([[a, c], [b, d]], dtype=object).T,
        [np.array([a, b], dtype=object), np.array([c, d], dtype=object)],
    ]
    for nest in nests:
        assert rg.data(nest).tolist() == expected
        assert rg.grads(nest).tolist() == [[-0.0, -1.0], [-2.0, -3.0]]


def test_an_object_array_without_axes(rg):
    value = rg.Value(3.0)
    nest = np.empty((), dtype=object)
    nest[()] = value
    assert rg.data(nest).tolist() == 3.0
    rg.assign(nest, 4.0)
    assert value.data == 4.0


def test_dicts_give_dicts(rg):
    w, b = grid(rg, 2, 2), rg.Value(7.0)
    result = rg.data({"w": w, "b": b, "deep": {"b": [b]}})
    assert list(result) == ["w", "b", "deep"]
    assert result["w"].tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert result["b"].shape == ()
    assert result["deep"]["b"].tolist() == [7.0]
    assert rg.grads({"w": w})["w"].tolist() == [[-0.0, -1.0], [-2.0, -3.0]]


def test_objects_with_parameters_stand_for_their_list(rg):
    values = grid(rg, 3)
    module = Module(*values)
    assert rg.data(module).tolist() == [0.0, 1.0, 2.0]
    assert rg.grads(module).tolist() == [-0.0, -1.0, -2.0]
    rg.assign(module, [5.0, 6.0, 7.0])
    assert [v.data for v in values] == [5.0, 6.0, 7.0]


def test_numbers_may_stand_among_the_values_whose_data_is_read(rg):
    assert rg.data([rg.Value(1.0), 2, np.float64(3.0)]).tolist() == [1.0, 2.0, 3.0]
    assert rg.data(np.array([[1, 2]])).tolist() == [[1.0, 2.0]]
    with pytest.raises(rg.errors.ShapeError, match=r"at \[1\]: int \(2\)"):
        rg.grads([rg.Value(1.0), 2])


def test_arrays_are_copies(rg):
    values = grid(rg, 3)
    array = rg.data(values)
    array[:] = 9.0
    assert [v.data for v in values] == [0.0, 1.0, 2.0]


def test_a_value_may_appear_twice(rg):
    x = rg.Value(3.0)
    assert rg.data([x, x]).tolist() == [3.0, 3.0]
    rg.assign([x, x], [1.0, 2.0])
    assert x.data == 2.0


def test_interior_values_have_data_and_gradients_too(rg):
    x = rg.Value(3.0)
    y = x * x
    y.backward()
    assert rg.data([x, y]).tolist() == [3.0, 9.0]
    assert rg.grads([x, y]).tolist() == [6.0, 1.0]


# ---- what does not fit ------------------------------------------------------------------------


def ragged(rg):
    """Nests that do not fit, with the place that an error must name."""
    v = rg.Value(1.0)
    return [
        ([[v, v], [v]], "[1]", "list"),
        ([[v], [v, v]], "[1]", "list"),
        ([[v, v], v], "[1]", "Value"),
        ([v, [v]], "[1]", "list"),
        ([[v, v], [v, "a"]], "[1][1]", "str ('a')"),
        ([[[v]], [[None]]], "[1][0][0]", "None"),
        ([[[v, v]], [[v, [v]]]], "[1][0][1]", "list"),
        ("text", "its top", "str ('text')"),
        (None, "its top", "None"),
    ]


@pytest.mark.parametrize("case", range(9))
def test_ragged_nests_are_refused_by_place(rg, case):
    nest, place, kind = ragged(rg)[case]
    pattern = re.escape(f"the nest does not fit at {place}: {kind}")
    for read in (rg.data, rg.grads):
        with pytest.raises(rg.errors.ShapeError, match=pattern) as caught:
            read(nest)
        assert "as long as its siblings and hold values at the bottom" in str(caught.value)
        assert isinstance(caught.value, ValueError)


def test_a_number_among_values_is_named_by_its_place(rg):
    v = rg.Value(1.0)
    for nest, place in (([[v, v], [v, 3.0]], "[1][1]"), ([[v], [2]], "[1][0]"), (5.0, "its top")):
        pattern = re.escape(f"at {place}: ")
        with pytest.raises(rg.errors.ShapeError, match=pattern):
            rg.grads(nest)
        with pytest.raises(rg.errors.ShapeError, match=pattern):
            rg.assign(nest, np.zeros(np.shape(rg.data(nest))))


# ---- writing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (2, 3, 4)])
def test_assign_sets_data_and_nothing_else(rg, shape):
    nest = grid(rg, *shape)
    gradients = rg.grads(nest)
    array = np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape)
    rg.assign(nest, array)
    assert (rg.data(nest) == array).all()
    assert (rg.grads(nest) == gradients).all()


def test_assign_takes_any_array_of_numbers(rg):
    base = np.arange(24.0)
    arrays = [
        base.reshape(2, 12)[:, ::4],
        base[:6].reshape(3, 2).T,
        np.asfortranarray(base[:6].reshape(2, 3)),
        base[5::-1].reshape(2, 3),
        base[:6].astype(np.float32).reshape(2, 3),
        base[:6].astype(np.int16).reshape(2, 3),
        np.array([[True, False, True], [False, True, False]]),
        base[:6].astype(">f8").reshape(2, 3),
        [[1, 2.5, True], (4, np.float32(5), 6)],
    ]
    for array in arrays:
        nest = grid(rg, 2, 3)
        rg.assign(nest, array)
        assert (rg.data(nest) == np.array(array, dtype=float)).all()


def test_assign_to_dicts(rg):
    nest = {"w": grid(rg, 2, 2), "b": rg.Value(0.0)}
    rg.assign(nest, {"b": 3, "w": [[1, 2], [3, 4]]})
    assert rg.data(nest)["w"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert nest["b"].data == 3.0


def test_assign_to_object_arrays(rg):
    values = grid(rg, 4)
    rg.assign(np.array(values, dtype=object).reshape(2, 2).T, [[1.0, 2.0], [3.0, 4.0]])
    assert [v.data for v in values] == [1.0, 3.0, 2.0, 4.0]


def test_what_was_read_can_be_written_back(rg):
    nest = {"w": grid(rg, 3, 2), "b": grid(rg, 3), "s": rg.Value(0.1)}
    saved = rg.data(nest)
    rg.assign(nest, {"w": np.zeros((3, 2)), "b": np.ones(3), "s": np.array(5.0)})
    rg.assign(nest, saved)
    assert all((rg.data(nest)[key] == saved[key]).all() for key in nest)


def test_assign_is_all_or_nothing(rg):
    v = [rg.Value(float(n)) for n in range(4)]
    w, b = v[:2], v[2:]
    error = rg.errors.ShapeError
    cases = [
        (w, [1.0], error, r"the values have shape \(2,\), the numbers \(1,\); make them agree"),
        (w, [[1.0, 2.0]], error, r"shape \(2,\), the numbers \(1, 2\)"),
        (w, 1.0, error, r"shape \(2,\), the numbers \(\)"),
        ([w, b], np.zeros((2, 3)), error, "shape"),
        ([w, [v[2], 5.0]], np.zeros((2, 2)), error, r"\[1\]\[1\]"),
        ({"w": w, "b": b}, {"w": [9.0, 9.0]}, error, r"keys \['b', 'w'\], the numbers \['w'\]"),
        ({"w": w, "b": b}, [9.0, 9.0], error, "the numbers list"),
        ({"w": w, "b": b}, {"w": [9.0, 9.0], "b": [9.0]}, error, "shape"),
        ({"w": w, "b": [v[2], 1.0]}, {"w": [9.0, 9.0], "b": [9.0, 9.0]}, error, r"at \[1\]"),
        (w, [9.0, "a"], (TypeError, ValueError), None),
        (w, [9.0, [1.0]], (TypeError, ValueError), None),
        (w, [9.0, v[0]], (TypeError, ValueError), None),
    ]
    for nest, numbers, kind, pattern in cases:
        with pytest.raises(kind, match=pattern):
            rg.assign(nest, numbers)
        assert [value.data for value in v] == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("bad", [None, "1.5", 1j, np.complex128(1j)])
def test_assign_takes_real_numbers_only(rg, bad):
    v = [rg.Value(0.0), rg.Value(1.0)]
    for numbers in ([9.0, bad], np.array([9.0, bad])):
        with pytest.raises(TypeError):
            rg.assign(v, numbers)
        assert [value.data for value in v] == [0.0, 1.0]


# ---- gradients and switches -------------------------------------------------------------------


def nests(rg):
    """The same four values in every kind of nest."""
    a, b, c, d = (rg.Value(1.0) for _ in range(4))
    return (a, b, c, d), [
        [a, b, c, d],
        ((a, b), [c, (d,)]),
        {"w": [a, b], "deep": {"x": c, "y": (d,)}},
        np.array([[a, b], [c, d]], dtype=object),
        Module(a, b, c, d),
        [Module(a, b), {"rest": Module(c, d)}],
        [[], [a], [b, [c, [d]]]],
    ]


@pytest.mark.parametrize("which", range(7))
def test_zero_grad_freeze_and_unfreeze_go_over_any_nest(rg, which):
    values, made = nests(rg)
    for value in values:
        value.grad = 5.0
    rg.zero_grad(made[which])
    assert [v.grad for v in values] == [0.0] * 4
    rg.freeze(made[which])
    assert [v.requires_grad for v in values] == [False] * 4
    rg.unfreeze(made[which])
    assert [v.requires_grad for v in values] == [True] * 4


def test_zero_grad_of_a_value_goes_under_it(rg):
    x, y = rg.Value(3.0), rg.Value(4.0)
    product = x * y
    root = product + x
    for value in (x, y, product, root):
        value.grad = 5.0
    rg.zero_grad(product)
    assert [v.grad for v in (x, y, product, root)] == [0.0, 0.0, 0.0, 5.0]
    x.grad = 5.0
    root.zero_grad()
    assert [v.grad for v in (x, root)] == [0.0, 0.0]


def test_zero_grad_of_a_list_goes_no_further(rg):
    x = rg.Value(3.0)
    y = x * 2
    x.grad = y.grad = 5.0
    rg.zero_grad([y])
    assert (x.grad, y.grad) == (5.0, 0.0)


@pytest.mark.parametrize("bad", [3.0, None, "w", object(), np.array([1.0])])
def test_things_that_are_no_nest_are_refused_and_change_nothing(rg, bad):
    x = rg.Value(1.0)
    x.grad = 5.0
    for name in ("zero_grad", "freeze", "unfreeze"):
        for nest in (bad, [x, bad], {"x": x, "bad": [bad]}):
            pattern = f"{name} takes values, or lists and dicts of them, got "
            with pytest.raises(rg.errors.NotAValueError, match=pattern) as caught:
                getattr(rg, name)(nest)
            assert ("None" if bad is None else type(bad).__name__) in str(caught.value)
            assert (x.grad, x.requires_grad) == (5.0, True)
