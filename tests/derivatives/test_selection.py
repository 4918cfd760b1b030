"""Which arguments are differentiated, extra outputs, and arguments without influence."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from .support import Point


def product(x, y=3.0, *, z=5.0):
    """x · y² · z³."""
    return x * y**2 * z**3


SLOPES = {"x": 3.0**2 * 5.0**3, "y": 2 * 2.0 * 3.0 * 5.0**3, "z": 3 * 2.0 * 3.0**2 * 5.0**2}


# ---- wrt ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrt", "expected"),
    [
        (0, SLOPES["x"]),
        (1, SLOPES["y"]),
        (-1, SLOPES["y"]),
        (-2, SLOPES["x"]),
        ("x", SLOPES["x"]),
        ("y", SLOPES["y"]),
        ("z", SLOPES["z"]),
        ((0,), (SLOPES["x"],)),
        (("z",), (SLOPES["z"],)),
        ((1, 0), (SLOPES["y"], SLOPES["x"])),
        (("z", 0, "y"), (SLOPES["z"], SLOPES["x"], SLOPES["y"])),
        ((-1, "z"), (SLOPES["y"], SLOPES["z"])),
    ],
)
def test_arguments_are_chosen_by_position_or_name(rg, wrt, expected):
    assert rg.grad(product, wrt=wrt)(2.0, 3.0, z=5.0) == expected
    value, found = rg.value_and_grad(product, wrt=wrt)(2.0, 3.0, z=5.0)
    assert (value, found) == (2.0 * 9.0 * 125.0, expected)
    assert rg.jacobian(product, wrt=wrt)(2.0, 3.0, z=5.0) == expected


def test_a_name_finds_its_argument_however_it_is_passed(rg):
    by_name = rg.grad(product, wrt="y")
    expected = SLOPES["y"]
    assert by_name(2.0, 3.0) == by_name(2.0, y=3.0) == by_name(y=3.0, x=2.0) == expected
    both = rg.grad(product, wrt=("y", "x"))
    assert both(x=2.0, y=3.0) == (SLOPES["y"], SLOPES["x"])


def test_the_first_argument_is_differentiated_unless_told(rg):
    assert rg.grad(lambda x, y: x * y)(3.0, 4.0) == 4.0


def test_arguments_that_are_not_chosen_may_be_anything(rg):
    def function(x, name, options, array):
        assert name == "sum"
        assert options == {"mode": None}
        return x * float(array.sum())

    assert rg.grad(function)(2.0, "sum", {"mode": None}, np.arange(3)) == 3.0


def test_a_name_of_an_argument_that_was_not_passed_is_refused(rg):
    """The position of z was once looked up past *rest, and another argument differentiated."""

    def spread(x, *rest, z=5.0):
        return x * rest[0] * rest[1] * z

    with pytest.raises(TypeError, match=r"wrt='z' names no argument of this call; given: arg\[0\]"):
        rg.grad(spread, wrt="z")(1.0, 2.0, 3.0, 4.0)
    assert rg.grad(spread, wrt="z")(1.0, 2.0, 3.0, z=4.0) == 6.0
    assert rg.grad(spread, wrt=2)(1.0, 2.0, 3.0, z=4.0) == 8.0
    with pytest.raises(TypeError, match="wrt='rest' names no argument"):
        rg.grad(spread, wrt="rest")(1.0, 2.0, 3.0)


def test_keyword_dictionaries_are_reached_by_name(rg):
    def function(**named):
        return named["a"] * named["b"] ** 2

    assert rg.grad(function, wrt="b")(a=2.0, b=3.0) == 12.0
    assert rg.grad(function, wrt=("a", "b"))(a=2.0, b=3.0) == (9.0, 12.0)


class Model:
    def __init__(self, scale):
        self.scale = scale

    def energy(self, x, y):
        return self.scale * x * y**2

    def __call__(self, x, y):
        return self.energy(x, y)


def test_methods_partials_and_callable_objects(rg):
    model = Model(10.0)
    assert rg.grad(model.energy, wrt="y")(2.0, 3.0) == 120.0
    assert rg.grad(model, wrt="y")(2.0, 3.0) == 120.0
    assert rg.grad(functools.partial(product, y=2.0), wrt="z")(1.0, z=2.0) == 48.0
    assert rg.grad(functools.partial(product, 2.0), wrt=0)(3.0) == 2 * 2.0 * 3.0 * 125.0
    assert rg.grad(rg.exp)(0.0) == 1.0
    assert rg.grad(max)(3.0, 2.0) == 1.0


def test_names_survive_the_nesting_of_transforms(rg):
    once = rg.grad(product, wrt="y")
    assert rg.grad(once, wrt="z")(2.0, 3.0, z=5.0) == 2 * 2.0 * 3.0 * 3 * 25.0
    assert rg.hessian(product, wrt=("x", "z"))(2.0, 3.0, z=5.0) == (
        (0.0, 9.0 * 75.0),
        (9.0 * 75.0, 2.0 * 9.0 * 30.0),
    )


def test_a_tuple_of_arguments_gives_blocks_of_second_derivatives(rg):
    def energy(v, p):
        return v[0] ** 2 * p["k"] + v[1] * p["k"] ** 3

    found = rg.hessian(energy, wrt=(0, 1))([2.0, 3.0], {"k": 5.0})
    assert found == (
        [([10.0, 0.0], {"k": 4.0}), ([0.0, 0.0], {"k": 75.0})],
        {"k": ([4.0, 75.0], {"k": 90.0})},
    )


@pytest.mark.parametrize("wrt", [2, -3, "w", None, 1.0, ["x"], (0, 5), ("x", None)])
def test_what_names_no_argument_is_refused_with_those_given(rg, wrt):
    wanted = next(w for w in (wrt if isinstance(wrt, tuple) else (wrt,)) if w not in (0, "x"))
    with pytest.raises(rg.errors.ArgumentError) as caught:
        rg.grad(product, wrt=wrt)(1.0, 2.0, z=3.0)
    assert str(caught.value) == (
        f"grad: wrt={wanted!r} names no argument of this call; given: arg[0], arg[1], z."
    )


@pytest.mark.parametrize("wrt", [(0, 0), (0, -2), ("x", 0), ("z", "z")])
def test_an_argument_named_twice_is_refused(rg, wrt):
    """Its first mention once got a gradient of zero."""
    with pytest.raises(rg.errors.ArgumentError) as caught:
        rg.grad(product, wrt=wrt)(1.0, 2.0, z=3.0)
    assert str(caught.value) == f"grad: wrt={wrt!r} names an argument twice; name each once."


def test_a_call_without_arguments_says_so(rg):
    with pytest.raises(rg.errors.ArgumentError, match=r"wrt=0 names no argument .* given: none\."):
        rg.grad(lambda: rg.Value(1.0))()


def test_the_wrong_number_of_arguments_is_the_functions_own_error(rg):
    with pytest.raises(TypeError, match="positional argument"):
        rg.grad(lambda x: x)(1.0, 2.0)


def test_a_transformed_function_keeps_its_name_and_words(rg):
    for transform in (rg.grad, rg.value_and_grad, rg.jacobian, rg.hessian):
        transformed = transform(product)
        assert transformed.__name__ == "product"
        assert transformed.__doc__ == "x · y² · z³."


# ---- extra outputs -----------------------------------------------------------------------------


def test_extra_outputs_come_back_beside_the_gradient(rg):
    def function(x):
        y = x * x
        return y * x, {"square": y, "list": [x, 1], "tuple": (y,), "text": "note", "none": None}

    expected = {"square": 4.0, "list": [2.0, 1], "tuple": (4.0,), "text": "note", "none": None}
    gradient, aux = rg.grad(function, has_aux=True)(2.0)
    assert (gradient, aux) == (12.0, expected)
    assert type(aux["square"]) is float
    (value, aux), gradient = rg.value_and_grad(function, has_aux=True)(2.0)
    assert (value, aux, gradient) == (8.0, expected, 12.0)


def test_extra_outputs_in_arrays_and_named_tuples_are_numbers_too(rg):
    def function(x):
        return x * x, Point(np.array([x * 2, 1.0], dtype=object), np.arange(2))

    _, aux = rg.grad(function, has_aux=True)(3.0)
    assert isinstance(aux, Point)
    assert aux.x.dtype == np.float64
    assert aux.x.tolist() == [6.0, 1.0]
    assert aux.y.tolist() == [0, 1]


def test_extra_outputs_that_depend_on_values_from_outside_stay_values(rg):
    w = rg.Value(5.0)
    _, (own, dependent) = rg.grad(lambda x: (x * x, (x * 2, x * w)), has_aux=True)(3.0)
    assert own == 6.0
    assert type(own) is float
    assert isinstance(dependent, rg.Value)
    dependent.backward()
    assert w.grad == 3.0


def test_extra_outputs_nest(rg):
    def outer(x):
        slope, aux = rg.grad(lambda y: (y * y * x, y * x), has_aux=True)(x)
        return slope + aux, aux

    gradient, aux = rg.grad(outer, has_aux=True)(3.0)
    assert gradient == 2 * 2 * 3.0 + 2 * 3.0
    assert aux == 9.0


@pytest.mark.parametrize("result", ["value", "triple", "list"])
def test_has_aux_wants_a_pair(rg, result):
    def function(x):
        return {"value": x * x, "triple": (x, x, x), "list": [x, x]}[result]

    with pytest.raises(rg.errors.FunctionResultError) as caught:
        rg.grad(function, has_aux=True)(2.0)
    assert str(caught.value).startswith(
        "grad: with has_aux=True the function returns (value, extra), got "
    )


# ---- arguments without influence ---------------------------------------------------------------


def test_arguments_without_influence_have_zero_gradients(rg):
    assert rg.grad(lambda p: p["a"][0] ** 2)({"a": [3.0, 1.0], "b": 2.0}) == {
        "a": [6.0, 0.0],
        "b": 0.0,
    }
    constant = rg.Value(5.0, requires_grad=False)
    assert rg.value_and_grad(lambda x: constant)(2.0) == (5.0, 0.0)
    assert rg.jacobian(lambda v: [v[0], constant])([1.0, 2.0]) == [[1.0, 0.0], [0.0, 0.0]]


def test_on_request_they_are_named_by_their_places(rg):
    def function(first, second, *, last):
        return first["a"][0] * second[1] * 1.0

    def call(wrt):
        return rg.grad(function, wrt=wrt, unused="raise")({"a": [3.0, 1.0]}, (1.0, 2.0), last=[4.0])

    with pytest.raises(rg.errors.UnusedInputError) as caught:
        call((0, 1, "last"))
    assert str(caught.value) == (
        'the result does not depend on arg[0]["a"][1], arg[1][0], last[0]: the gradient there is '
        "zero. It was detached, overwritten, or never used; pass unused='zero' if that is meant."
    )
    assert isinstance(caught.value, ValueError)


def test_detached_and_overwritten_arguments_are_found(rg):
    def overwritten(x, y):
        y = rg.Value(2.0)
        return x * y

    with pytest.raises(rg.errors.UnusedInputError, match=r"does not depend on arg\[0\]:"):
        rg.grad(lambda x: x.detach() * 2.0, unused="raise")(1.0)
    with pytest.raises(rg.errors.UnusedInputError, match=r"does not depend on arg\[1\]:"):
        rg.grad(overwritten, wrt=(0, 1), unused="raise")(1.0, 2.0)


def test_a_use_with_zero_slope_is_a_use(rg):
    assert rg.grad(lambda x: x * 0.0, unused="raise")(2.0) == 0.0
    assert rg.grad(lambda x: rg.relu(x), unused="raise")(-2.0) == 0.0


def test_jacobians_and_gradients_name_unused_inputs_too(rg):
    with pytest.raises(rg.errors.UnusedInputError, match=r"does not depend on arg\[0\]\[1\]:"):
        rg.jacobian(lambda v: [v[0], v[0] * 2], unused="raise")([1.0, 2.0])
    x, y = rg.Value(1.0), rg.Value(2.0)
    with pytest.raises(rg.errors.UnusedInputError, match=r'does not depend on inputs\["y"\]:'):
        rg.gradients(x * 2, {"x": x, "y": y}, unused="raise")
    assert [g.data for g in rg.gradients(x * 2, [x, y])] == [2.0, 0.0]


@pytest.mark.parametrize("transform", ["grad", "value_and_grad", "jacobian"])
def test_an_unknown_wish_for_the_unused_is_refused(rg, transform):
    with pytest.raises(rg.errors.ArgumentError, match="unused='rise' is unknown"):
        getattr(rg, transform)(product, unused="rise")
    x = rg.Value(1.0)
    with pytest.raises(rg.errors.ArgumentError, match="unused='rise' is unknown"):
        rg.gradients(x * 2, x, unused="rise")
