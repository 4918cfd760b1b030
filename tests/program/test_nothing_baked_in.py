"""Nothing is baked in silently: a number that leaves the graph while recording raises, and what
stops gradients is recorded as such.
"""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ..contract.support import line_of
from .support import same

X = np.array([0.5, 1.5, -2.0, 3.0])


# ---- numbers that would leave the graph ----------------------------------------------------------


def test_reading_data_raises_with_the_line_and_the_cure(rg: Any) -> None:
    @rg.compile
    def f(x: Any) -> Any:
        return x * x.data  # leaves

    with pytest.raises(rg.errors.RecordingError) as caught:
        f(X)
    assert str(caught.value) == (
        ".data of 'x' was read while recording: the number of one row would be baked in for all. "
        "Compute with the value itself; compare it directly (if x > 0), and use rg functions in "
        "place of math.\n"
        f"  at {__file__}:{line_of(__file__, 'leaves')}, in f\n"
        "      return x * x.data  # leaves"
    )
    assert f.traces == ()


LEAVING: dict[str, Callable[[Any], Any]] = {
    "data": lambda x: x * x.data,
    "item": lambda x: x * x.item(),
    "data of a result": lambda x: x * (x + 1).data,
    "data under no_grad": lambda x: x * x.detach().data,
    "copy": lambda x: x * copy.copy(x),
    "deepcopy": lambda x: x * copy.deepcopy(x * 2),
    "pickle": lambda x: x * pickle.loads(pickle.dumps(x)),
}


@pytest.mark.parametrize("name", LEAVING)
def test_every_way_out_raises(rg: Any, name: str) -> None:
    with pytest.raises(rg.errors.RecordingError, match="was read while recording"):
        rg.compile(LEAVING[name])(X)


CONVERTING: dict[str, Callable[[Any], Any]] = {
    "float": lambda x: x * float(x),
    "int": lambda x: x * int(x),
    "math.exp": lambda x: x * math.exp(x),
    "round": lambda x: x * round(x),
    "//": lambda x: x // 2,
    "%": lambda x: x % 2,
    "math.floor": lambda x: x * math.floor(x),
    "as floats of an array": lambda x: x * np.array([x], dtype=np.float64)[0],
}


@pytest.mark.parametrize("name", CONVERTING)
def test_conversions_raise_as_they_do_eagerly(rg: Any, name: str) -> None:
    with pytest.raises(rg.errors.GraphExitError):
        rg.compile(CONVERTING[name])(X)
    # of a class in Python, NumPy says something of its own
    with pytest.raises((rg.errors.GraphExitError, ValueError)):
        CONVERTING[name](rg.Value(2.0))


def test_the_number_of_a_custom_op_on_a_captured_leaf_is_not_read(rg: Any) -> None:
    @rg.custom_op(vectorized=True)
    def doubled(x: Any) -> Any:
        return 2.0 * x

    @doubled.partials
    def _(x: Any) -> Any:
        return 2.0 + 0.0 * x

    w = rg.Value(2.0)
    with pytest.raises(rg.errors.RecordingError, match="was read while recording"):
        rg.compile(lambda x: x * doubled(w).data)(X)


def test_bulk_reading_raises(rg: Any) -> None:
    with pytest.raises(rg.errors.RecordingError):
        rg.compile(lambda x: x * float(rg.data([x, x * 2])[1]))(X)


def test_a_backward_pass_inside_gives_no_numbers_away(rg: Any) -> None:
    def f(x: Any) -> Any:
        y = x**3
        y.backward()
        return y * x.grad

    with pytest.raises(rg.errors.RecordingError):
        rg.compile(f)(X)


@pytest.mark.parametrize("uniform", [True, False])
def test_uniform_arguments_are_no_exception(rg: Any, uniform: bool) -> None:
    f = rg.compile(lambda x, a: x * a.data)
    with pytest.raises(rg.errors.RecordingError, match=r"\.data of 'a'"):
        f(X, 2.0 if uniform else X)


def test_items_of_sequences_and_nests_are_named_by_their_place(rg: Any) -> None:
    with pytest.raises(rg.errors.RecordingError, match=r"\.data of 'xs\[1\]'"):
        rg.compile(lambda xs: xs[1].data * xs[0])(np.ones((2, 2)))
    with pytest.raises(rg.errors.RecordingError, match=r"\.data of 'p\[\"k\"\]\[0\]'"):
        rg.compile(lambda p: p["k"][0].data * p["k"][0])({"k": [1.0]})
    with pytest.raises(rg.errors.RecordingError, match=r"\.data of a result of exp"):
        rg.compile(lambda x: x * rg.exp(x).data)(X)


def test_plain_numbers_made_inside_may_be_read(rg: Any) -> None:
    f = rg.compile(lambda x: x * (rg.Value(2.0) * 3).data)
    assert same(f(X), X * 6)


def test_after_a_refusal_values_can_be_read_again(rg: Any) -> None:
    seen = []
    with pytest.raises(rg.errors.RecordingError):
        rg.compile(lambda x: seen.append(x) or x * x.data)(X)
    assert seen[0].data == 0.5
    assert rg.Value(3.0).data == 3.0


# ---- assignments ---------------------------------------------------------------------------------


def test_assigning_data_raises(rg: Any) -> None:
    w = rg.Value(2.0, label="w")

    def assign(target: Callable[[Any], Any]) -> Any:
        def f(x: Any) -> Any:
            target(x).data = 5.0
            return x * w

        return rg.compile(f)

    for target, name in [(lambda x: x, "'x'"), (lambda x: w, "'w'"), (lambda x: x * 2, "mul")]:
        with pytest.raises(rg.errors.RecordingError) as caught:
            assign(target)(X)
        assert name in str(caught.value)
        assert "was assigned while recording: a replay would not repeat it" in str(caught.value)
    assert w.data == 2.0


@pytest.mark.parametrize("captured", [True, False])
def test_bulk_assignment_raises(rg: Any, captured: bool) -> None:
    w = rg.Value(2.0)

    def f(x: Any) -> Any:
        y = x * 2
        rg.assign([w if captured else y], np.array([5.0]))
        return y * w

    with pytest.raises(rg.errors.RecordingError):
        rg.compile(f)(X)
    assert w.data == 2.0


# ---- what the graph cannot replay ----------------------------------------------------------------


def test_numeric_partials_raise(rg: Any) -> None:
    def f(x: Any) -> Any:
        return rg.Value(4.0, (x,), (2.0,)) * x  # a one-off

    with pytest.raises(rg.errors.RecordingError) as caught:
        rg.compile(f)(X)
    assert "has its rule in Python or as numbers only, so it cannot be replayed" in str(
        caught.value
    )
    assert "compute it outside and pass the result in" in str(caught.value)
    assert f":{line_of(__file__, 'a one-off')}, in f" in str(caught.value)


def test_closure_style_values_raise(rg: Any) -> None:
    def f(x: Any) -> Any:
        out = rg.Value(1.0, (x,), "cube")
        out._backward = lambda: None
        return out

    with pytest.raises(rg.errors.RecordingError, match="'cube' has its rule in Python"):
        rg.compile(f)(X)


def test_custom_ops_raise(rg: Any) -> None:
    @rg.custom_op
    def cube(x: float) -> Any:
        return x**3, (3 * x**2,)

    w = rg.Value(2.0)
    with pytest.raises(rg.errors.RecordingError, match="'cube' has its rule in Python"):
        rg.compile(lambda x: cube(x) + x)(X)
    with pytest.raises(rg.errors.RecordingError, match="'cube' has its rule in Python"):
        rg.compile(lambda x: cube(w) + x)(X)


def test_values_named_like_an_op_are_still_refused(rg: Any) -> None:
    with pytest.raises(rg.errors.RecordingError):
        rg.compile(lambda x: rg.Value(4.0, (x,), "exp"))(X)


# ---- stops ---------------------------------------------------------------------------------------


def ops_of(compiled: Any) -> list[str]:
    return [instruction.op for instruction in compiled.traces[0].program.instructions]


def test_detach_is_a_stop_with_the_value_of_every_row(rg: Any) -> None:
    f = rg.compile(lambda x: x * (x * 3).detach())
    values, grads = f.value_and_grad(X)
    assert same(values, X * (X * 3))
    assert same(grads, X * 3)
    assert "stop" in ops_of(f)


def test_no_grad_is_a_stop_with_the_value_of_every_row(rg: Any) -> None:
    @rg.compile
    def f(x: Any) -> Any:
        with rg.no_grad():
            frozen = rg.exp(x * 2)
            more = frozen + rg.sum([x, x])
        return x * more

    values, grads = f.value_and_grad(X)
    expected = np.exp(X * 2) + 2 * X
    assert np.allclose(values, X * expected, rtol=1e-15)
    assert np.allclose(grads, expected, rtol=1e-15)


def test_a_function_under_no_grad_has_no_gradient(rg: Any) -> None:
    f = rg.compile(rg.no_grad()(lambda x: x * 2))
    values, grads = f.value_and_grad(X)
    assert same(values, X * 2)
    assert same(grads, np.zeros(4))


def test_a_call_inside_no_grad_records_for_later_gradients(rg: Any) -> None:
    w = rg.Value(2.0)
    f = rg.compile(lambda x: w * x * x)
    with rg.no_grad():
        assert same(f(X), 2 * X * X)
        assert not rg.grad_enabled()
    assert same(f.grad(X), 4 * X)
    f.backward(X)
    assert w.grad == (X * X).sum()


def test_stops_of_arguments_leaves_and_constants(rg: Any) -> None:
    w = rg.Value(2.0)
    f = rg.compile(lambda x: x.detach() * x + w.detach() * x + rg.Value(3.0).detach() * w)
    values, grads = f.value_and_grad(X)
    assert same(values, X * X + 2 * X + 6.0)
    assert same(grads, X + 2)
    w.data = 5.0
    assert same(f(X), X * X + 5 * X + 15.0)
    w.grad = 0.0
    f.backward(X)
    assert w.grad == 12.0


def test_softmax_shifts_by_each_rows_own_maximum(rg: Any) -> None:
    f = rg.compile(lambda xs: rg.softmax(xs)[0])
    rows = np.array([[1000.0, 0.0], [-1000.0, 0.0], [0.0, 0.0], [700.0, 705.0]])
    shifted = np.exp(rows - rows.max(axis=1, keepdims=True))
    assert np.allclose(f(rows), shifted[:, 0] / shifted.sum(axis=1), rtol=1e-14)
    f = rg.compile(lambda xs: rg.logsumexp(xs))
    assert np.allclose(f(rows), rows.max(axis=1) + np.log(shifted.sum(axis=1)), rtol=1e-14)


def test_derivatives_inside_are_recorded_for_every_row(rg: Any) -> None:
    for function in (
        lambda x: rg.grad(lambda y: y**3)(x), lambda x: rg.grad(lambda y: y**3 * x)(x),
        lambda x: rg.gradients(x**3, [x])[0],
    ):  # fmt: skip
        wanted = [function(rg.Value(x)).data for x in X]
        assert np.allclose(rg.compile(function)(X), wanted)


@pytest.mark.parametrize("read", [lambda rg, w: w.data, lambda rg, w: rg.data([w])[0]])
def test_the_number_of_a_captured_leaf_is_not_baked_in(rg: Any, read: Any) -> None:
    """Its data is read at each run, so a number taken from it would be stale at the next."""
    w = rg.Value(2.0, label="w")
    f = rg.compile(lambda x: x * read(rg, w))
    with pytest.raises(rg.errors.RecordingError, match=r"\.data of 'w' was read while recording"):
        f(X)
    inside = rg.compile(lambda x: x * rg.Value(3.0).data)
    assert same(inside(X), X * 3.0)
