"""What the transforms refuse, and the words they refuse it with."""

from __future__ import annotations

import numpy as np
import pytest

from ..contract.support import line_of

TAIL = (
    "; arguments to differentiate are numbers, values, or lists, tuples, dicts and float arrays "
    "of them. Choose others with wrt=."
)


def text_of(caught):
    return str(caught.value)


# ---- results that have no gradient -------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (None, "returned None, not a value. Did it forget its return?"),
        (
            3.0,
            "returned float (3.0), not a value. A plain number has left the graph (.data, "
            "float()); compute with ops instead, or for a constant that is meant return "
            "Value(number, requires_grad=False).",
        ),
        ("text", "returned str ('text'), not a value. Return one value."),
        (
            [],
            "returned list ([]), not a value. For several outputs use jacobian or vjp; for extra "
            "outputs has_aux=True.",
        ),
    ],
    ids=["None", "number", "string", "list"],
)
@pytest.mark.parametrize("name", ["grad", "value_and_grad", "hessian", "hvp"])
def test_a_function_must_return_one_value(rg, name, result, words):
    def call(function):
        return rg.hvp(function, 1.0, 1.0) if name == "hvp" else getattr(rg, name)(function)(1.0)

    with pytest.raises(rg.errors.FunctionResultError) as caught:
        call(lambda x: result)
    shown = "grad" if name == "value_and_grad" else name
    assert text_of(caught) == f"{shown}: the function {words}"
    assert isinstance(caught.value, TypeError)


def test_several_values_where_one_is_needed(rg):
    for result in ([1, 2], (1, 2), {"a": 1}):
        kind = type(result).__name__

        def function(x, result=result):
            if isinstance(result, dict):
                return {key: x * number for key, number in result.items()}
            return type(result)(x * number for number in result)

        with pytest.raises(rg.errors.FunctionResultError, match=f"returned {kind} .*use jacobian"):
            rg.grad(function)(1.0)
    with pytest.raises(rg.errors.FunctionResultError, match=r"returned Tensor .*use jacobian"):
        rg.grad(lambda a: a * 2.0)(np.ones(2))
    with pytest.raises(
        rg.errors.TensorError, match=r"np\.array of a tensor would take its numbers"
    ):
        rg.grad(lambda a: np.array(a) * 2.0)(np.ones(2))
    with pytest.raises(rg.errors.FunctionResultError, match="Its numbers have left the graph"):
        rg.grad(lambda a: np.ones(2))(np.ones(2))


def test_a_number_that_left_the_graph_is_noticed(rg):
    with pytest.raises(rg.errors.FunctionResultError, match="has left the graph"):
        rg.grad(lambda x: x.data * 2)(1.0)
    with pytest.raises(rg.errors.FunctionResultError, match="has left the graph"):
        rg.grad(lambda x: np.float64(x.data))(1.0)
    with pytest.raises(rg.errors.GraphExitError, match="would take the number out of the graph"):
        rg.grad(lambda x: float(x))(1.0)


@pytest.mark.parametrize("name", ["jacobian", "vjp", "jvp"])
def test_results_of_several_outputs_are_checked_by_place(rg, name):
    def call(function):
        if name == "jvp":
            return rg.jvp(function, (1.0,), (1.0,))
        return rg.vjp(function, 1.0) if name == "vjp" else rg.jacobian(function)(1.0)

    with pytest.raises(rg.errors.FunctionResultError) as caught:
        call(lambda x: None)
    assert text_of(caught) == (
        f"{name}: the function returned None, not a value. Did it forget its return?"
    )
    with pytest.raises(rg.errors.FunctionResultError) as caught:
        call(lambda x: {"loss": x, "parts": [x, ("name", x)]})
    assert text_of(caught) == (
        f"{name}: the result[\"parts\"][1][0] is str ('name'); return values and numbers, or "
        "lists, tuples, dicts and arrays of them."
    )


# ---- arguments of unknown types ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "place"),
    [
        ("text", "arg[0] is str ('text')"),
        (None, "arg[0] is None"),
        (1j, "arg[0] is complex (1j)"),
        ([1.0, "w"], "arg[0][1] is str ('w')"),
        ({"w": [1.0, None]}, 'arg[0]["w"][1] is None'),
        ({("a", 1): [set()]}, "arg[0][('a', 1)][0] is set (set())"),
        ([(1.0, {"deep": [b"x"]})], "arg[0][0][1][\"deep\"][0] is bytes (b'x')"),
        (np.array([1j]), "arg[0] is ndarray (array([0.+1.j]))"),
        (np.array(["a"]), "arg[0] is ndarray (array(['a'], dtype='<U1'))"),
        (
            np.array([[1.0, "x"]], dtype=object),
            "arg[0][0, 1] is str ('x')",
        ),
        (range(3), "arg[0] is range (range(0, 3))"),
    ],
    ids=str,
)
def test_what_is_no_number_is_named_by_its_place(rg, argument, place):
    calls = []
    with pytest.raises(rg.errors.ArgumentError) as caught:
        rg.grad(lambda *args: calls.append(args))(argument)
    assert text_of(caught) == place + TAIL
    assert calls == []
    assert isinstance(caught.value, TypeError)


def test_the_place_says_which_argument(rg):
    def function(*args, **named):
        raise AssertionError("never called")

    with pytest.raises(rg.errors.ArgumentError) as caught:
        rg.grad(function, wrt=2)(1.0, "fine", [{"u": 1.0}, {"w": ["bad"]}])
    assert text_of(caught) == "arg[2][1][\"w\"][0] is str ('bad')" + TAIL
    with pytest.raises(rg.errors.ArgumentError) as caught:
        rg.grad(function, wrt="options")(1.0, options={"w": ["bad"]})
    assert text_of(caught) == "options[\"w\"][0] is str ('bad')" + TAIL
    with pytest.raises(rg.errors.ArgumentError) as caught:
        rg.jacobian(function, wrt=(0, 2))(1.0, 2.0, {"w": [[], object]})
    assert text_of(caught).startswith("arg[2][\"w\"][1] is type (<class 'object'>); ")


def test_vjp_jvp_and_hvp_name_the_place_too(rg):
    with pytest.raises(rg.errors.ArgumentError, match=r'^arg\[1\]\["w"\] is None;'):
        rg.vjp(lambda x, y: x, 1.0, {"w": None})
    with pytest.raises(rg.errors.ArgumentError, match=r'^arg\[1\]\["w"\] is None;'):
        rg.jvp(lambda x, y: x, (1.0, {"w": None}), (1.0, {"w": 1.0}))
    with pytest.raises(rg.errors.ArgumentError, match=r"^arg\[0\]\[0\] is str"):
        rg.hvp(lambda v: v[0], ["a"], [1.0])


def test_a_number_too_large_is_refused_before_the_call(rg):
    with pytest.raises(rg.errors.NumberError, match="too large for a float64"):
        rg.grad(lambda x: x * x)(10**400)


# ---- gradients ---------------------------------------------------------------------------------


def test_gradients_takes_a_value_and_a_nest_of_values(rg):
    x = rg.Value(2.0)
    with pytest.raises(rg.errors.NotAValueError) as caught:
        rg.gradients(4.0, x)
    assert text_of(caught) == (
        "gradients takes values, or lists and dicts of them, got float (4.0)."
    )
    with pytest.raises(rg.errors.NotAValueError, match=r"got list"):
        rg.gradients([x * x], x)
    with pytest.raises(rg.errors.ArgumentError) as caught:
        rg.gradients(x * x, {"x": x, "step": [0.5]})
    assert text_of(caught) == ('gradients at inputs["step"][0]: expected a value, got float (0.5).')
    with pytest.raises(rg.errors.ArgumentError, match=r'^inputs\["x"\] is str'):
        rg.gradients(x * x, {"x": "x"})


@pytest.mark.parametrize("seed", ["one", None, [1.0], 1j])
def test_a_seed_is_a_number_or_a_value(rg, seed):
    x = rg.Value(2.0)
    with pytest.raises(rg.errors.NumberError, match=r"^the seed must be a real number, got "):
        rg.gradients(x * x, x, seed)


# ---- shapes that do not fit --------------------------------------------------------------------


def test_a_seed_must_have_the_shape_of_the_result(rg):
    _, pull = rg.vjp(lambda x: {"a": x, "b": [x, x]}, 1.0)
    with pytest.raises(rg.errors.ArgumentError) as caught:
        pull({"a": 1.0})
    assert text_of(caught) == "the seed at its top: expected 3 numbers, got dict ({'a': 1.0})."
    with pytest.raises(rg.errors.ArgumentError) as caught:
        pull({"a": 1.0, "c": [1.0, 1.0]})
    assert text_of(caught) == (
        'the seed at the place of the result["b"][0]: expected a number, '
        "got dict ({'a': 1.0, 'c': [1.0, 1.0]})."
    )
    with pytest.raises(rg.errors.ArgumentError) as caught:
        pull({"a": 1.0, "b": [1.0, "x"]})
    assert text_of(caught) == "the seed[\"b\"][1] is str ('x'), not a number or a value."
    with pytest.raises(rg.errors.ArgumentError, match="the seed at the place of the result: "):
        rg.vjp(lambda x: x, 1.0)[1]([1.0])


def test_tangents_must_have_the_shape_of_the_arguments(rg):
    function = lambda x, v: x * v[0]  # noqa: E731
    with pytest.raises(rg.errors.ArgumentError) as caught:
        rg.jvp(function, (1.0, [2.0]), (1.0,))
    assert text_of(caught) == "jvp at tangents: expected 2 items, got tuple ((1.0,))."
    with pytest.raises(rg.errors.ArgumentError) as caught:
        rg.jvp(function, (1.0, [2.0]), (1.0, [2.0, 3.0]))
    assert text_of(caught) == "a tangent at its top: expected 1 numbers, got list ([2.0, 3.0])."
    with pytest.raises(rg.errors.ArgumentError, match="a tangent is None, not a number or a value"):
        rg.jvp(function, (1.0, [2.0]), (None, [2.0]))
    for args, tangents, wrong in ((1.0, (1.0,), "args"), ((1.0,), 1.0, "tangents")):
        with pytest.raises(rg.errors.ArgumentError) as caught:
            rg.jvp(lambda x: x, args, tangents)
        assert text_of(caught) == (
            f"jvp at {wrong}: expected a tuple, one item an argument, got float (1.0)."
        )


def test_the_vector_of_an_hvp_must_have_the_shape_of_the_point(rg):
    with pytest.raises(rg.errors.ArgumentError) as caught:
        rg.hvp(lambda v: v[0] * v[1], [1.0, 2.0], [1.0])
    assert text_of(caught) == "the vector at its top: expected 2 numbers, got list ([1.0])."
    with pytest.raises(rg.errors.ArgumentError, match=r'at the place of arg\[0\]\["b"\]: expected'):
        rg.hvp(lambda p: p["a"] * p["b"], {"a": 1.0, "b": 2.0}, {"a": 1.0, "c": 1.0})
    with pytest.raises(
        rg.errors.ArgumentError,
        match=r"at the place of arg\[0\]: expected an array of shape \(1, 2\)",
    ):
        rg.hvp(lambda a: a[0, 0] * a[0, 1], np.ones((1, 2)), np.ones(2))


# ---- data changed since ------------------------------------------------------------------------


def test_data_changed_before_a_higher_derivative_is_noticed(rg):
    x = rg.Value(3.0, label="x")
    y = (x * x * 2.0).exp()
    x.data = 4.0
    with pytest.raises(rg.errors.StaleGraph) as caught:
        rg.gradients(y, x)
    text = text_of(caught)
    assert text.startswith(
        "the result of mul = 9.0 was computed, but its inputs were changed since: mul of them is "
        "now 16.0. Run the forward pass again before taking derivatives.\n  at "
    )
    assert "y = (x * x * 2.0).exp()" in text
    assert isinstance(caught.value, RuntimeError)


def test_data_put_back_is_fresh_again(rg):
    x = rg.Value(3.0)
    y = x * x
    x.data = 4.0
    with pytest.raises(rg.errors.StaleGraph):
        rg.gradients(y, x)
    x.data = 3.0
    assert rg.gradients(y, x).data == 6.0


@pytest.mark.parametrize("changed", ["leaf", "interior", "root"])
@pytest.mark.parametrize("op", ["add", "mul", "sum", "dot", "tanh", "maximum"])
def test_a_change_anywhere_on_the_way_is_noticed(rg, op, changed):
    x, y = rg.Value(0.5), rg.Value(0.25)
    inner = x * 1.0 + 0.0
    if op in ("sum", "dot"):
        made = rg.sum([inner, y]) if op == "sum" else rg.dot([inner, 2.0], [y, 3.0])
    else:
        made = getattr(rg, op)(*([inner] if op == "tanh" else [inner, y]))
    root = made * 2.0
    {"leaf": x, "interior": made, "root": root}[changed].data = 7.0
    with pytest.raises(rg.errors.StaleGraph):
        rg.gradients(root, x)


def test_only_what_the_inputs_reach_must_be_fresh(rg):
    x, other = rg.Value(3.0), rg.Value(5.0)
    aside = other * 2.0
    root = x * x + aside
    other.data = 6.0
    assert rg.gradients(root, x).data == 6.0
    with pytest.raises(rg.errors.StaleGraph, match=r"the result of mul = 10.0"):
        rg.gradients(root, other)


def test_nan_stays_fresh(rg):
    x = rg.Value(-1.0)
    y = x.sqrt() * 1.0
    assert np.isnan(rg.gradients(y, x).data)


def test_first_derivatives_use_the_numbers_of_the_forward_pass(rg):
    """A backward, and a pull of a vjp, do not care what happened to data since."""
    x = rg.Value(3.0)
    y = x * x
    x.data = 10.0
    y.backward()
    assert x.grad == 6.0


def test_an_optimizer_step_between_forward_and_second_derivative_is_noticed(rg):
    w = rg.Value(2.0)
    slope = rg.gradients(w**4, w)
    w.data -= 0.1 * slope.data
    with pytest.raises(rg.errors.StaleGraph):
        rg.gradients(slope, w)


# ---- numbers only ------------------------------------------------------------------------------


def test_partials_given_as_numbers_cannot_be_differentiated_again(rg):
    def square(x):
        return rg.Value(x.data**2, (x,), (2 * x.data,))  # numbers only

    assert rg.grad(square)(3.0) == 6.0
    x = rg.Value(3.0)
    for second in (
        lambda: rg.grad(rg.grad(square))(3.0),
        lambda: rg.hessian(square)(3.0),
        lambda: rg.hvp(square, 3.0, 1.0),
        lambda: rg.gradients(square(x), x),
    ):
        with pytest.raises(rg.errors.NotTwiceDifferentiable) as caught:
            second()
        text = text_of(caught)
        assert text.startswith(
            "the result of custom = 9.0 has its partials as numbers only, so derivatives through "
            "it cannot be differentiated again. Give its rule in terms of ops: @rg.custom_op with "
            "partials or a vjp written with rg functions.\n  at "
        )
        assert f"{__file__}:{line_of(__file__, 'numbers only')}, in square" in text
        assert isinstance(caught.value, RuntimeError)


@pytest.mark.parametrize("name", ["sum", "dot", "mul", "add", "tanh"])
def test_a_one_off_named_like_an_op_is_not_taken_for_it(rg, name):
    """One named 'sum' once got the slope 1 of a sum."""
    x = rg.Value(2.0)
    one_off = rg.Value(6.0, (x,), (3.0,), _op=name)
    with pytest.raises(rg.errors.NotTwiceDifferentiable):
        rg.gradients(one_off, x)
    assert rg.grad(lambda v: rg.Value(6.0, (v,), (3.0,), _op=name))(2.0) == 3.0


def test_closures_cannot_be_differentiated_again(rg):
    def double(x):
        out = rg.Value(2 * x.data, (x,), "double")

        def backward():
            x.grad += 2 * out.grad

        out._backward = backward
        return out

    assert rg.grad(lambda x: double(x) * x)(3.0) == 12.0
    with pytest.raises(rg.errors.NotTwiceDifferentiable, match=r"the result of double = 6.0"):
        rg.grad(rg.grad(double))(3.0)


def test_numbers_only_do_no_harm_off_the_way(rg):
    w = rg.Value(2.0, requires_grad=False)
    one_off = rg.Value(6.0, (rg.Value(1.0),), (3.0,))
    assert rg.hessian(lambda x: x**3 * w)(2.0) == 24.0
    gradient = rg.grad(lambda x: x * x * one_off)(2.0)
    assert gradient.data == 24.0
