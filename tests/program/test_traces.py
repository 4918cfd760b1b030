"""Many traces: every row goes its own way, and nothing else about the call shows in its bits."""

from __future__ import annotations

import gc
import math
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrograde.program.loops import Rolled
from retrograde.program.program import Guard, Program
from retrograde.program.traces import Trace, routes, shared_length

from ..contract.support import line_of
from .support import assert_within, eager, numbers, same, steady

# ---- functions with branches ---------------------------------------------------------------------

Script = list[tuple[str, float, float]]


def branching(rg: Any, script: Script) -> Callable[..., Any]:
    """A function that runs a script of branches, loops and arithmetic on two numbers."""

    def function(x: Any, y: Any) -> Any:
        for kind, a, b in script:
            if kind == "if":
                if x > a:
                    x = x * b + y
                else:
                    y = y - x * b
            elif kind == "while":
                turns = 0
                while x > a and turns < 4:
                    x, turns = x * 0.5 - 0.1, turns + 1
            elif kind == "pick":
                x = max(x, y, a * x)
            elif kind == "leave":
                if y < a:
                    return x * b
            elif kind == "zero":
                if x + y > 3 * a + 2:
                    return 0.0
            else:
                y = rg.tanh(x * a) + y * b
        return x * y + x

    return function


scripts = st.lists(
    st.tuples(
        st.sampled_from(["if", "while", "pick", "leave", "zero", "mix"]),
        st.floats(-1.5, 1.5),
        st.floats(-1.5, 1.5),
    ),
    min_size=1,
    max_size=6,
)


def as_value(rg: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function for eager values: a plain number is a constant."""
    return lambda **arguments: 0.0 * arguments["x"] + function(**arguments)


@steady(max_examples=120)
@given(script=scripts, seed=st.integers(0, 100))
def test_every_row_gets_its_own_eager_answer(native: Any, script: Script, seed: int) -> None:
    function = branching(native, script)
    columns = {"x": numbers(40, seed=seed), "y": numbers(40, seed=seed + 1)}
    expected = eager(native, as_value(native, function), columns, 40)
    values, grads = native.compile(function).value_and_grad(**columns)
    assert_within(values, expected.values, expected.value_scales)
    assert_within(np.column_stack(grads), expected.grads, expected.grad_scales)


def answers(compiled: Any, x: Any, y: Any, **options: Any) -> list[Any]:
    values, (one, two) = compiled.value_and_grad(x, y, **options)
    return [values, one, two]


@steady(max_examples=40)
@given(script=scripts, seed=st.integers(0, 100), order=st.permutations(range(30)))
def test_the_order_of_rows_and_what_was_known_before_show_in_no_bit(
    native: Any, script: Script, seed: int, order: list[int]
) -> None:
    function = branching(native, script)
    x, y = numbers(30, seed=seed), numbers(30, seed=seed + 1)
    expected = answers(native.compile(function), x, y)
    shuffled, one_by_one = native.compile(function), native.compile(function)
    for got, exact in zip(answers(shuffled, x[order], y[order]), expected):
        assert same(got, exact[order])
    for got, exact in zip(answers(shuffled, x, y, threads=3), expected):  # all traces known
        assert same(got, exact)
    for row in range(30):
        for got, exact in zip(answers(one_by_one, x[row : row + 1], y[row : row + 1]), expected):
            assert same(got, exact[row : row + 1])


@steady(max_examples=30)
@given(script=scripts, seed=st.integers(0, 100), budget=st.integers(1, 3))
def test_a_small_budget_shows_in_no_bit_and_is_kept(
    native: Any, script: Script, seed: int, budget: int
) -> None:
    function = branching(native, script)
    x, y = numbers(30, seed=seed), numbers(30, seed=seed + 1)
    expected = answers(native.compile(function), x, y)
    tight = native.compile(function, trace_budget=budget)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", native.errors.TraceBudgetWarning)
        for _ in range(2):
            for got, exact in zip(answers(tight, x, y), expected):
                assert same(got, exact)
            assert len(tight.traces) <= budget


@steady(max_examples=30)
@given(script=scripts, seed=st.integers(0, 100))
def test_reduced_results_have_the_same_bits_whatever_was_found_when(
    native: Any, script: Script, seed: int
) -> None:
    def reduced(compiled: Any, threads: int) -> list[float]:
        value, (one, two) = compiled.value_and_grad(x, 0.3, reduce="sum", threads=threads)
        return [value, *one, two]

    function = branching(native, script)
    x = numbers(2100, seed=seed)
    expected = reduced(native.compile(function), 1)
    other = native.compile(function)
    other(x[::-1].copy(), 0.3)
    assert same(reduced(other, 2), expected)
    tight = native.compile(function, trace_budget=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", native.errors.TraceBudgetWarning)
        assert same(reduced(tight, 3), expected)


@pytest.mark.usefixtures("traces_alone")
def test_one_trace_reduces_with_the_bits_of_many(rg: Any) -> None:
    """Rows that all go one way, before and after another way is known."""
    f = rg.compile(lambda x, a: rg.sin(x) * a if x > -10 else x)
    x = numbers(5000)
    alone = f.value_and_grad(x, 0.7, wrt="a", reduce="sum")
    f(np.array([-20.0]), 0.7)
    assert len(f.traces) == 2
    assert same(f.value_and_grad(x, 0.7, wrt="a", reduce="sum"), alone)


# ---- loops ---------------------------------------------------------------------------------------


def newton(a: Any) -> Any:
    y = a
    while abs(y * y - a) > 1e-12 * a:
        y = 0.5 * (y + a / y)
    return y


@pytest.mark.usefixtures("traces_alone")
def test_loops_whose_length_depends_on_the_row(rg: Any) -> None:
    a = np.exp(numbers(3000, -6.0, 9.0))
    f = rg.compile(newton)
    values, slopes = f.value_and_grad(a)
    assert np.allclose(values, np.sqrt(a), rtol=1e-11)
    assert np.allclose(slopes, 0.5 / np.sqrt(a), rtol=1e-10)
    assert len(f.traces) == len({len(trace.path) for trace in f.traces}) > 5


@pytest.mark.usefixtures("traces_alone")
def test_a_known_loop_is_followed_to_its_longest_run_in_one_go(rg: Any) -> None:
    f = rg.compile(newton)
    f(np.exp(numbers(500, -6.0, 9.0)))
    (family,) = f._families()
    longest = max(len(trace.path) for trace in f.traces)
    assert len(family.root.trace.path) == longest
    assert len(family.root.others) == len(f.traces) - 1


def test_a_second_derivative_through_branches_and_loops(rg: Any) -> None:
    a = np.exp(numbers(200, -2.0, 3.0))
    assert np.allclose(rg.compile(newton).hessian(a), -0.25 * a**-1.5, rtol=1e-8)


# ---- where rows sit on the edge ------------------------------------------------------------------


@pytest.mark.parametrize("symbol", ["<", "<=", ">", ">=", "==", "!="])
def test_rows_exactly_on_a_branch_and_nan_go_where_python_goes(rg: Any, symbol: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def f(x):\n    return x + 1.0 if x {symbol} 0.5 else x - 1.0", scope)
    x = np.array([0.5, np.nextafter(0.5, 1), np.nextafter(0.5, 0), math.nan, math.inf, -math.inf])
    for first in range(len(x)):
        rolled = np.roll(x, first)
        expected = [scope["f"](number) for number in rolled.tolist()]
        assert same(rg.compile(scope["f"])(rolled), expected)


def test_guards_are_answered_in_the_order_of_the_function(rg: Any) -> None:
    """A condition that is part of an earlier one is computed before it, but asked after it."""

    @rg.compile
    def f(x: Any, y: Any) -> Any:
        inner = x > 0
        both = inner & (y > 0)
        if both:
            return x * 10.0
        if inner:
            return x * 100.0
        return x * 1000.0

    x, y = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, 1.0, -1.0])
    for rows in ([0, 1, 2, 3], [3, 2, 1, 0], [2], [1], [0]):
        assert same(f(x[rows], y[rows]), np.array([10.0, 100.0, -1000.0, -1000.0])[rows])


# ---- captured leaves -----------------------------------------------------------------------------


def test_parameters_of_different_branches_get_their_gradients(rg: Any) -> None:
    u, v, w = rg.Value(2.0), rg.Value(3.0), rg.Value(5.0)
    step = rg.compile(lambda x: u * x if x > 1 else v * x * x if x > 0 else w)
    x = np.array([2.0, 0.5, -1.0, 3.0, -2.0, 0.25])
    total = step.backward(x)
    assert total == pytest.approx(2 * 5 + 3 * (0.25 + 0.0625) + 2 * 5)
    assert [u.grad, v.grad, w.grad] == [5.0, 0.3125, 2.0]
    step.backward(x)
    assert [u.grad, v.grad, w.grad] == [10.0, 0.625, 4.0]


def test_a_parameter_that_turns_up_late_is_not_missed(
    rg: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from retrograde.program import routing

    monkeypatch.setattr(routing, "BATCH", 1024)
    u, v = rg.Value(2.0), rg.Value(3.0)
    step = rg.compile(lambda x: u * x if x > 0 else v * x)
    x = np.ones(5000)
    x[4000:] = -1.0
    x[2000] = -2.0
    step.backward(x)
    assert [u.grad, v.grad] == [3999.0, -1002.0]


# ---- the budget ----------------------------------------------------------------------------------


def splitting(x: Any) -> Any:
    for _ in range(8):
        x = 2 * x - 1 if x > 0.5 else 2 * x  # the line that splits
    return x


@pytest.mark.usefixtures("traces_alone")
def test_one_warning_names_the_line_that_splits_the_rows(rg: Any) -> None:
    f = rg.compile(splitting, trace_budget=4)
    x = (np.arange(64) + 0.5) / 64
    with pytest.warns(rg.errors.TraceBudgetWarning) as caught:
        first = f(x)
    line = line_of(__file__, "the line that splits")
    (warning,) = caught
    assert str(warning.message) == (
        "splitting takes more ways through its branches than the 4 traces it keeps: results are "
        "right, but the others are recorded again at every call. Most rows part at "
        f"{__file__}:{line}, in splitting: "
        "x = 2 * x - 1 if x > 0.5 else 2 * x  # the line that splits. "
        "Use rg.where, rg.maximum or rg.clip there, or raise trace_budget."
    )
    assert warning.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(f(x), first)  # once is enough
    assert len(f.traces) == 4
    assert same(first, rg.compile(splitting)(x))


def test_more_paths_than_rows(rg: Any) -> None:
    x = np.random.default_rng(3).random(200)
    values, slopes = rg.compile(splitting).value_and_grad(x)
    assert same(values, [splitting(number) for number in x.tolist()])
    assert same(slopes, np.full(200, 256.0))


@pytest.mark.usefixtures("traces_alone")
def test_traces_nobody_uses_make_room_for_those_in_use(rg: Any) -> None:
    f = rg.compile(lambda x: x if x < 1 else x * 2 if x < 2 else x * 3, trace_budget=2)
    f(np.array([0.5, 1.5]))
    with pytest.warns(rg.errors.TraceBudgetWarning):
        f(np.array([2.5, 2.5]))
    assert b"\x00\x00" in {trace.path for trace in f.traces}


@pytest.mark.parametrize("budget", [0, -1, 1.5, "many"])
def test_a_budget_is_a_whole_number(rg: Any, budget: Any) -> None:
    with pytest.raises(rg.errors.CompileError, match="trace_budget is how many traces are kept"):
        rg.compile(lambda x: x, trace_budget=budget)


def test_the_decorator_takes_a_budget(rg: Any) -> None:
    @rg.compile(trace_budget=3)
    def f(x: Any) -> Any:
        return x * 2

    assert f(2.0) == 4.0


# ---- what cannot be right ------------------------------------------------------------------------


def test_branches_that_return_different_nests_are_refused(rg: Any) -> None:
    f = rg.compile(lambda x: [x, x * 2] if x > 0 else x)
    with pytest.raises(rg.errors.FunctionResultError, match="on one branch and") as caught:
        f(np.array([1.0, -1.0]))
    assert "the result[0], the result[1] on one branch and the result on another" in str(
        caught.value
    )
    assert len(f.traces) == 1


def test_a_function_that_decides_otherwise_on_a_second_run_is_refused(rg: Any) -> None:
    calls = []

    @rg.compile
    def f(x: Any) -> Any:
        calls.append(1)
        if len(calls) > 1 or x > 0:
            return x * 2.0
        return x

    with pytest.raises(rg.errors.RecordingError, match="depends on something besides"):
        f(np.array([-1.0, 1.0]))


def test_what_the_function_raises_for_a_row_is_raised_and_nothing_is_lost(rg: Any) -> None:
    @rg.compile
    def f(x: Any) -> Any:
        if x < 0:
            raise ValueError("no roots of negative numbers")
        return rg.sqrt(x)

    x = np.array([4.0, 9.0])
    assert same(f(x), [2.0, 3.0])
    for _ in range(2):
        with pytest.raises(ValueError, match="no roots of negative numbers"):
            f(np.array([4.0, -1.0]))
        assert same(f(x), [2.0, 3.0])


def test_several_threads_may_find_traces_at_once(rg: Any) -> None:
    f = rg.compile(splitting)
    x = np.random.default_rng(5).random((4, 100))
    expected = [[splitting(number) for number in row] for row in x.tolist()]
    found: dict[int, Any] = {}

    def work(number: int) -> None:
        found[number] = f(x[number])

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(same(found[number], expected[number]) for number in range(4))
    assert same(f(x[0]), expected[0])


# ---- explain and routes --------------------------------------------------------------------------


def test_explain_shows_the_traces_their_rows_and_where_they_part(rg: Any) -> None:
    @rg.compile
    def f(x: Any) -> Any:
        if x > 0:  # the parting
            return x
        return -x

    f(np.array([1.0, 2.0, -1.0]))
    line = line_of(__file__, "the parting")
    text = f.explain()
    assert text.splitlines()[:3] == [
        "f: 2 trace(s)",
        "  trace 0: 2 rows",
        f"  trace 1: 1 rows, leaves trace 0 at {__file__}:{line}, in f, where false",
    ] or text.splitlines()[:3] == [
        "f: 2 trace(s)",
        "  trace 1: 1 rows",
        f"  trace 0: 2 rows, leaves trace 1 at {__file__}:{line}, in f, where true",
    ]


def _trace(path: str) -> Trace:
    guards = [Guard(0, step == "1") for step in path]
    return Trace(Rolled(Program(guards=guards, count=1)), [], None)


@steady(max_examples=100)
@given(st.sets(st.text("01", min_size=0, max_size=12), min_size=1, max_size=40))
def test_routes_lead_every_path_to_its_trace_in_few_steps(texts: set[str]) -> None:
    kept = [t for t in texts if not any(o != t and o.startswith(t) for o in texts)]
    traces = [_trace(text) for text in kept]
    root = routes(traces)
    for trace in traces:
        route, steps = root, 0
        while route.trace is not trace:
            guard = shared_length(trace.path, route.trace.path)
            assert guard >= route.start
            route, steps = route.others[guard], steps + 1
        assert steps <= math.log2(len(traces))


@given(st.binary(max_size=9), st.binary(max_size=9))
def test_shared_length(one: bytes, other: bytes) -> None:
    expected = 0
    while expected < min(len(one), len(other)) and one[expected] == other[expected]:
        expected += 1
    assert shared_length(one, other) == expected


def test_the_second_call_with_gradients_does_what_the_third_does(rg: Any) -> None:
    """All that is made once, gradients and plans among it, the first call makes."""

    def branches(x: Any, y: Any) -> Any:
        for _ in range(4):
            x = x * 1.1 - 0.3
            if x > y:
                x = x * 0.5
        return x * y if x > 0.0 else y

    compiled = rg.compile(branches, choices=False)
    rows = np.random.default_rng(1).normal(size=(2, 500))

    def entered() -> int:
        entries: list[str] = []
        gc.collect()
        gc.disable()  # what it lets go is not this call's
        sys.setprofile(lambda frame, event, _: entries.append(event))
        try:
            compiled.value_and_grad(*rows)
        finally:
            sys.setprofile(None)
            gc.enable()
        return entries.count("call")

    compiled.value_and_grad(*rows)
    assert len(compiled.traces) > 5
    second = entered()
    assert second <= entered()
