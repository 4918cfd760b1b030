"""Recording: what a compiled function may look like, and what it sees of its arguments."""

from __future__ import annotations

import math
from collections import namedtuple
from functools import partial, wraps
from typing import Any

import numpy as np
import pytest

from .support import CASES, assert_within, eager, flat, same

X = np.array([0.5, 1.5, -2.0, 3.0])
Y = np.array([2.0, -1.0, 0.25, 4.0])


# ---- arguments -----------------------------------------------------------------------------------


def test_a_row_argument_is_a_value_and_the_result_an_array(rg: Any) -> None:
    seen = []

    @rg.compile
    def double(x: Any) -> Any:
        seen.append(type(x))
        return x * 2

    assert same(double(X), X * 2)
    assert seen == [rg.Value]


def test_numbers_are_uniform_and_give_a_float(rg: Any) -> None:
    f = rg.compile(lambda x, y: x * y)
    assert f(3.0, 4.0) == 12.0
    assert type(f(3.0, 4.0)) is float
    assert same(f(X, 4.0), X * 4)
    assert same(f(3, Y), 3 * Y)


@pytest.mark.parametrize(
    "number", [3, 3.0, np.float64(3), np.float32(3), np.int32(3), np.array(3.0), True]
)
def test_every_kind_of_number_is_uniform(rg: Any, number: Any) -> None:
    f = rg.compile(lambda x, n: x * n)
    assert same(f(X, number), X * float(number))
    assert type(f(2.0, number)) is float


def test_a_two_axis_array_is_a_sequence_of_values(rg: Any) -> None:
    seen = []

    @rg.compile
    def f(xs: Any) -> Any:
        seen.append((type(xs), len(xs)))
        return xs[0] - xs[1] * xs[2]

    rows = np.arange(12.0).reshape(4, 3)
    assert same(f(rows), rows[:, 0] - rows[:, 1] * rows[:, 2])
    assert [(kind.__name__, count) for kind, count in seen] == [("ComputingSequence", 3)]


@pytest.mark.parametrize(
    ("array", "shape"),
    [(2.5, ()), ([1.0, 2.0], (2,)), ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], (2, 3))],
)
def test_a_uniform_array_is_a_sequence_of_its_shape(
    rg: Any, array: Any, shape: tuple[int, ...]
) -> None:
    seen = []

    @rg.compile
    def f(x: Any, u: Any) -> Any:
        seen.append(u.shape)
        while u.ndim:
            u = u[-1]
        return x * u

    last = np.asarray(array).reshape(-1)[-1]
    assert same(f(X, rg.uniform(np.array(array))), X * last)
    assert same(f(X, rg.uniform(array)), X * last)
    assert seen == [shape]


def test_nests_of_rows_and_uniforms_keep_their_shape(rg: Any) -> None:
    @rg.compile
    def f(nest: Any) -> Any:
        assert type(nest) is dict
        assert list(nest) == ["pair", "list", 7]
        assert type(nest["pair"]) is tuple
        assert type(nest["list"]) is list
        (x, a), (b, inner), xs = nest["pair"], nest["list"], nest[7]
        return x * a + b * inner["y"] + xs[1]

    rows = np.arange(8.0).reshape(4, 2)
    given = {"pair": (X, 3.0), "list": [5.0, {"y": Y}], 7: rows}
    assert same(f(given), X * 3.0 + 5.0 * Y + rows[:, 1])


Point = namedtuple("Point", "x y")


def test_named_tuples_are_seen_and_returned_as_such(rg: Any) -> None:
    f = rg.compile(lambda p: Point(p.x * p.y, p.x))
    product, first = f(Point(X, Y))
    assert type(f(Point(X, Y))) is Point
    assert same(product, X * Y)
    assert same(first, X)
    gradient = rg.compile(lambda p: p.x * p.y).grad(Point(X, 2.0))
    assert type(gradient) is Point
    assert same(gradient.y, X)


def test_keyword_arguments_and_defaults(rg: Any) -> None:
    @rg.compile
    def f(x: Any, scale: Any = 2.0, *, shift: Any = 1.0) -> Any:
        return x * scale + shift

    assert same(f(X), X * 2 + 1)
    assert same(f(X, 3.0), X * 3 + 1)
    assert same(f(scale=Y, x=X), X * Y + 1)
    assert same(f(X, shift=Y), X * 2 + Y)
    assert f(x=1.0, scale=5.0, shift=7.0) == 12.0


def test_positional_only_parameters(rg: Any) -> None:
    @rg.compile
    def f(x: Any, /, y: Any) -> Any:
        return x - y

    assert same(f(X, y=Y), X - Y)


def test_a_new_nesting_length_or_choice_of_rows_is_a_new_recording(rg: Any) -> None:
    calls = []

    @rg.compile
    def f(xs: Any, y: Any) -> Any:
        calls.append(len(xs))
        return rg.sum([*xs, y])

    for xs, y in [
        (np.ones((4, 2)), 1.0), (np.ones((4, 3)), 1.0), (np.ones((4, 2)), X), ([1.0, 2.0], X),
        ((1.0, 2.0), X),
    ]:  # fmt: skip
        f(xs, y)
        f(xs, y)
    assert calls == [2, 3, 2, 2, 2]
    assert len(f.traces) == 5


def test_other_numbers_and_row_counts_are_the_same_recording(rg: Any) -> None:
    calls = []

    @rg.compile
    def f(x: Any, y: Any) -> Any:
        calls.append(1)
        return x / y

    for rows in (1, 2, 1000, 3):
        assert same(f(np.ones(rows), 2.0 + rows), np.ones(rows) / (2.0 + rows))
    assert len(calls) == 1


# ---- what a function may do ----------------------------------------------------------------------


def helper(rg: Any, x: Any, depth: int) -> Any:
    return rg.tanh(x) if depth == 0 else helper(rg, x * 1.1, depth - 1) + x


def test_any_python_that_works_on_values(rg: Any) -> None:
    def f(x: Any, xs: Any) -> Any:
        table = {name: x * weight for name, weight in zip("abc", (1.0, 2.0, 3.0))}
        squares = [v**2 for v in xs]
        generated = sum(v * 0.5 for v in xs)
        total = rg.sum(value for value in table.values())
        for step in range(3):
            total = total + helper(rg, x, step)
        while step > 0:
            total, step = total * 1.01, step - 1
        return total + generated + max(len(squares), 2) * squares[0]

    rows = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
    arguments = {"x": X, "xs": rows}
    values, grads = rg.compile(f).value_and_grad(**arguments)
    expected = eager(rg, f, arguments, 4)
    assert_within(values, expected.values, expected.value_scales)
    assert_within(np.array(flat(grads)).T, expected.grads, expected.grad_scales)


def test_closures_and_constants_made_inside(rg: Any) -> None:
    def scaled(factor: float) -> Any:
        return lambda x: x * factor + rg.Value(10.0) * rg.Value(0.5)

    assert same(rg.compile(scaled(3.0))(X), X * 3 + 5)
    assert same(rg.compile(scaled(4.0))(X), X * 4 + 5)


def test_decorated_functions_methods_partials_and_callables(rg: Any) -> None:
    class Model:
        def __init__(self) -> None:
            self.weight = rg.Value(2.0)

        def method(self, x: Any) -> Any:
            return x * self.weight

        def __call__(self, x: Any) -> Any:
            return x + self.weight

    def doubled(function: Any) -> Any:
        @wraps(function)
        def wrapper(*args: Any) -> Any:
            return function(*args) * 2

        return wrapper

    @rg.compile
    @doubled
    def decorated(x: Any) -> Any:
        return x + 1

    model = Model()
    assert same(decorated(X), (X + 1) * 2)
    assert same(rg.compile(model.method)(X), X * 2)
    assert same(rg.compile(model)(X), X + 2)
    assert same(rg.compile(partial(lambda a, x: a * x, 3.0))(X), X * 3)


def test_the_name_signature_and_docstring_stay(rg: Any) -> None:
    @rg.compile
    def price(x: Any, rate: float = 0.5) -> Any:
        """What it costs."""
        return x * rate

    assert price.__name__ == "price"
    assert price.__doc__ == "What it costs."
    assert repr(price) == "<compiled price(x: 'Any', rate: 'float' = 0.5) -> 'Any': 0 trace(s)>"
    price(X)
    assert repr(price).endswith(": 1 trace(s)>")


def test_numpy_arrays_of_values_inside(rg: Any) -> None:
    f = rg.compile(lambda xs: (np.array(xs) * np.array([1.0, 2.0])).sum())
    rows = np.arange(8.0).reshape(4, 2)
    assert same(f(rows), rows[:, 0] + 2 * rows[:, 1])


def test_every_result_nest_is_filled_with_rows(rg: Any) -> None:
    @rg.compile
    def f(x: Any) -> Any:
        return {"pair": (x, x * 2), "list": [x + 1, 3.0], "constant": rg.Value(4.0)}

    got = f(X)
    assert type(got["pair"]) is tuple
    assert type(got["list"]) is list
    assert same(got["pair"][0], X)
    assert same(got["pair"][1], X * 2)
    assert same(got["list"][0], X + 1)
    assert same(got["list"][1], np.full(4, 3.0))
    assert same(got["constant"], np.full(4, 4.0))
    assert f(1.0) == {"pair": (1.0, 2.0), "list": [2.0, 3.0], "constant": 4.0}


def test_arguments_captured_leaves_and_repeats_may_be_returned_as_they_are(rg: Any) -> None:
    w = rg.Value(7.0)
    x, y, again, weight = rg.compile(lambda x, y: (x, y, x, w))(X, 2.0)
    assert same(x, X)
    assert same(y, np.full(4, 2.0))
    assert same(again, X)
    assert same(weight, np.full(4, 7.0))


def test_a_function_of_nothing(rg: Any) -> None:
    w = rg.Value(3.0)
    f = rg.compile(lambda: w * w)
    assert f() == 9.0
    assert f.backward() == 9.0
    assert w.grad == 6.0


@pytest.mark.parametrize("name", CASES)
def test_values_given_to_a_compiled_function_run_it_eagerly(rg: Any, name: str) -> None:
    case = CASES[name]
    function = case.make(rg)
    compiled = rg.compile(function)
    expected = eager(rg, function, case.columns(2), 2)
    got = eager(rg, compiled, case.columns(2), 2)
    assert same(got.values, expected.values)
    assert same(got.grads, expected.grads)
    assert compiled.traces == ()


# ---- compiled functions in each other ------------------------------------------------------------


def test_compiled_functions_are_inlined(rg: Any) -> None:
    @rg.compile
    def inner(x: Any, k: Any = 2.0) -> Any:
        return rg.exp(x) * k

    @rg.compile
    def outer(x: Any) -> Any:
        return inner(x) + inner(-x, k=3.0) + inner(1.0, threads=2)

    values, grads = outer.value_and_grad(X)
    assert np.allclose(values, 2 * np.exp(X) + 3 * np.exp(-X) + 2 * math.e)
    assert np.allclose(grads, 2 * np.exp(X) - 3 * np.exp(-X))
    assert inner.traces == ()
    assert len(outer.traces) == 1


@pytest.mark.usefixtures("traces_alone")
def test_guards_of_an_inlined_function_are_those_of_the_outer(rg: Any) -> None:
    inner = rg.compile(lambda x: x if x > 0 else -x)
    outer = rg.compile(lambda x: inner(x) * 2)
    assert same(outer(np.array([1.0, 2.0])), [2.0, 4.0])
    assert same(outer(np.array([1.0, -2.0])), [2.0, 4.0])
    assert len(outer.traces) == 2


def test_a_function_may_call_itself_by_its_compiled_name(rg: Any) -> None:
    @rg.compile
    def power(x: Any, n: Any) -> Any:
        return x if n <= 1 else x * power(x, n - 1)

    values, grad = power.value_and_grad(X, 3, wrt="x")
    assert np.allclose(values, X**3)
    assert np.allclose(grad, 3 * X**2)
    assert len(power.traces) == 1


def test_functions_may_call_each_other(rg: Any) -> None:
    @rg.compile
    def even(x: Any, n: int) -> Any:
        return x if n < 1 else odd(x * 2, n - 1)

    @rg.compile
    def odd(x: Any, n: int) -> Any:
        return x if n < 1 else even(x * 3, n - 1)

    assert same(even(X, 3), X * 12)


def test_endless_recursion_is_pythons_own_error_and_leaves_nothing_behind(rg: Any) -> None:
    @rg.compile
    def endless(x: Any) -> Any:
        return endless(x)

    with pytest.raises(RecursionError):
        endless(X)
    assert (rg.Value(1.0) > 0) is True
    assert same(rg.compile(lambda x: x + 1)(X), X + 1)


def test_what_the_function_raises_passes_through_and_leaves_nothing_behind(rg: Any) -> None:
    @rg.compile
    def f(x: Any) -> Any:
        if x > 0:
            raise LookupError("mine")
        return x

    with pytest.raises(LookupError, match="mine"):
        f(X)
    assert f.traces == ()
    assert (rg.Value(1.0) > 0) is True
    assert same(f(-np.ones(2)), -np.ones(2))


def test_recording_leaves_no_gradients_anywhere(rg: Any) -> None:
    w = rg.Value(2.0)
    w.grad = 5.0
    f = rg.compile(lambda x: w * x)
    f(X)
    f.value_and_grad(X)
    assert w.grad == 5.0


def test_a_function_that_draws_random_numbers_draws_them_once(rg: Any) -> None:
    generator = np.random.default_rng(0)
    f = rg.compile(lambda x: x + generator.normal())
    drawn = np.random.default_rng(0).normal()
    assert same(f(X), X + drawn)
    assert same(f(X), X + drawn)
