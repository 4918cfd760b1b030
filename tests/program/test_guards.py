"""Conditions and guards: comparisons while recording, and rows that would have gone another way."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from .support import CASES, LEVELS, assert_within, eager, flat, kernels, numbers, same

X = np.array([0.5, 1.5, 2.0, 3.0])
MIXED = np.array([1.0, -2.0, 3.0, -4.0, 0.0, math.nan])


def guards_of(compiled: Any) -> list[bool]:
    """The outcomes a compiled function's one trace holds."""
    (trace,) = compiled.traces
    return [guard.outcome for guard in trace.program.guards]


# ---- what leaves a guard -------------------------------------------------------------------------


def two_loops(x: Any) -> Any:
    while x < 10.0:
        x = x * 2.0
    return x


BRANCHES: dict[str, tuple[Callable[..., Any], list[bool]]] = {
    "if": (lambda x: x if x > 0 else -x, [True]),
    "if false": (lambda x: -x if x < 0 else x, [False]),
    "elif": (lambda x: 1 * x if x < 0 else 2 * x if x == 0 else 3 * x, [False, False]),
    "while": (two_loops, [True, True, False]),
    "and": (lambda x: x if x > 0 and x < 10 else -x, [True, True]),
    "and, cut short": (lambda x: x if x < 0 and x < 10 else -x, [False]),
    "or": (lambda x: x if x < 0 or x > 1 else -x, [False, True]),
    "or, cut short": (lambda x: x if x > 0 or x > 1 else -x, [True]),
    "not": (lambda x: x if not x < 0 else -x, [False]),
    "value as truth": (lambda x: x if x else x + 1, [True]),
    "not value": (lambda x: x if not (x - x) else x + 1, [False]),
    "max": (lambda x: max(x, x - 1), [False]),
    "min": (lambda x: min(x, x - 1), [True]),
    "sorted": (lambda x: sorted([x, x - 1])[0], [True]),
    "any": (lambda x: x if any(v > 1 for v in (x, x + 1)) else -x, [True]),
    "all": (lambda x: x if all(v > 1 for v in (x, x + 1)) else -x, [True, True]),
    "assert": (lambda x: bool(x > 0) and x, [True]),
    "equality": (lambda x: x if x == 3.0 else -x, [True]),
    "inequality": (lambda x: x if x != 3.0 else -x, [False]),
    "le": (lambda x: x if x <= 3.0 else -x, [True]),
    "ge": (lambda x: x if x >= 4.0 else -x, [False]),
    "a number first": (lambda x: x if 0.0 < x else -x, [True]),  # noqa: SIM300
    "between values": (lambda x: x if x < x * 2 else -x, [True]),
    "chained": (lambda x: x if 0 < x < 5 else -x, [True, True]),
    "in": (lambda x: x if x in (1.0, 3.0) else -x, [False, True]),
    "as an index": (lambda x: (x, x * 2)[x > 0], [True]),
    "as a key": (lambda x: {True: x * 3, False: x}[x > 0], [True]),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_whatever_python_decides_is_a_guard(rg: Any, name: str) -> None:
    function, outcomes = BRANCHES[name]
    compiled = rg.compile(function)
    assert compiled(3.0) == function(3.0)
    recorded = guards_of(compiled)
    assert [outcome for outcome in recorded if outcome in (True, False)] == recorded
    if name != "as a key":  # a dict asks for the hash and for equality: more than one guard
        assert recorded == outcomes


@pytest.mark.parametrize("name", BRANCHES)
def test_no_row_gets_the_answer_of_another_branch(rg: Any, name: str) -> None:
    """Every number alone, and all together: its own eager answer."""
    function, _ = BRANCHES[name]
    compiled = rg.compile(function)
    compiled(np.array([3.0]))
    numbers = [3.0, 2.9, 12.0, 1.0, 0.5, 0.0, -0.0, -1.0, math.inf, math.nan]
    if name == "while":
        numbers = [number for number in numbers if not number <= 0.0]  # it would not end
    for number in numbers:
        assert same(compiled(np.array([number])), [function(number)])
    assert same(compiled(np.array(numbers)), [function(number) for number in numbers])
    assert same(rg.compile(function)(np.array(numbers)), [function(number) for number in numbers])


def test_abs_is_an_op_and_leaves_no_guard(rg: Any) -> None:
    f = rg.compile(lambda x: abs(x) * 2)
    assert same(f(MIXED), np.abs(MIXED) * 2)
    assert guards_of(f) == []


def test_not_recording_comparisons_are_bools(rg: Any) -> None:
    rg.compile(lambda x: x if x > 0 else -x)(X)
    assert (rg.Value(1.0) > 0) is True
    assert (rg.Value(1.0) == None) is False  # noqa: E711


@pytest.mark.usefixtures("traces_alone")
def test_comparisons_of_captured_leaves_are_guards_of_every_run(rg: Any) -> None:
    w = rg.Value(1.0)
    f = rg.compile(lambda x: x if w > 0 else -x)
    assert same(f(X), X)
    w.data = -1.0
    assert same(f(X), -X)
    w.data = 2.0
    assert same(f(X), X)
    assert len(f.traces) == 2


def test_comparison_with_none_or_a_word_is_no_condition(rg: Any) -> None:
    f = rg.compile(lambda x: x if x != None and x != "a" else -x)  # noqa: E711
    assert same(f(X), X)
    assert guards_of(f) == []


# ---- rows that disagree --------------------------------------------------------------------------


@pytest.mark.usefixtures("traces_alone")
@pytest.mark.parametrize("where", [1, 7, 8, 1023, 1024, 1025, 2999])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_single_row_is_found_wherever_it_is(rg: Any, where: int, threads: int) -> None:
    f = rg.compile(lambda x: x if x > 0 else 2 * x)
    x = np.ones(3000)
    x[where] = -1.0
    assert same(f(x, threads=threads), np.where(x > 0, x, 2 * x))
    assert [trace.rows for trace in f.traces] == [2999, 1]


@pytest.mark.parametrize("level", LEVELS)
def test_the_rows_found_are_the_same_at_every_simd_level(rg: Any, level: str) -> None:
    f = rg.compile(lambda x: x if rg.sin(x) < 0.5 else -x)
    x = numbers(2500)
    x[0] = 0.0
    with kernels(level):
        assert same(f(x), np.where(np.sin(x) < 0.5, x, -x))


def test_nan_takes_the_branch_python_takes(rg: Any) -> None:
    x = np.array([math.nan, math.nan])
    for function in (
        lambda x: 1 * x if x > 0 else 2 + x, lambda x: x if not x < 0 else 2 + x,
        lambda x: x if x == x else rg.Value(7.0), lambda x: x if x != x else rg.Value(7.0),
    ):  # fmt: skip
        compiled = rg.compile(function)
        one = function(rg.Value(math.nan)).data
        assert same(compiled(x), [one, one])
    f = rg.compile(lambda x: 1 * x if x <= 0 else 2 + x)
    assert same(f(np.array([1.0, math.nan])), [3.0, math.nan])


def test_a_row_that_takes_another_branch_may_be_out_of_reach_of_a_take(rg: Any) -> None:
    f = rg.compile(lambda i: rg.take([10.0, 20.0], i) if i < 2 else i * 0.0)
    assert same(f(np.array([0.0, 1.0])), [10.0, 20.0])
    assert same(f(np.array([0.0, 5.0])), [10.0, 0.0])


def test_so_may_an_index_that_is_the_same_for_all_rows(rg: Any) -> None:
    f = rg.compile(lambda i, x: rg.take([x, 2 * x], i) if i < 2 else x * 0.0)
    g = rg.compile(lambda i, x: rg.take([10.0, 20.0], i) * x if i < 2 else x * 0.0)
    for compiled in (f, g):
        compiled(1, X)
        assert same(compiled(5, X), X * 0.0)


def test_a_call_without_rows_bakes_no_branch_in(rg: Any) -> None:
    f = rg.compile(lambda x: x if x > 0 else -x)
    assert f(np.empty(0)).shape == (0,)
    assert same(f(np.array([-1.0, -2.0])), [1.0, 2.0])


# ---- conditions as data --------------------------------------------------------------------------


def test_where_uses_a_condition_without_a_guard(rg: Any) -> None:
    f = rg.compile(lambda x: rg.where(x > 0, x, x * 10))
    assert same(f(MIXED), np.where(MIXED > 0, MIXED, MIXED * 10))
    assert guards_of(f) == []


SYMBOLS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "and": (lambda a, b: a & b, np.logical_and),
    "or": (lambda a, b: a | b, np.logical_or),
    "xor": (lambda a, b: a ^ b, np.logical_xor),
    "equal": (lambda a, b: a == b, np.equal),
    "unequal": (lambda a, b: a != b, np.not_equal),
    "not": (lambda a, b: ~a, lambda a, b: ~a),
    "not both": (lambda a, b: ~(a & b), lambda a, b: ~(a & b)),
    "with True": (lambda a, b: a & True | b, np.logical_or),
    "True first": (lambda a, b: True & a | (False | b), np.logical_or),
    "equal to True": (lambda a, b: a == True, lambda a, b: a),  # noqa: E712
    "unequal to True": (lambda a, b: True != a, lambda a, b: ~a),  # noqa: E712, SIM300
}


@pytest.mark.parametrize("name", SYMBOLS)
def test_conditions_combine_as_data(rg: Any, name: str) -> None:
    ours, numpys = SYMBOLS[name]
    x, y = np.array([1.0, -1.0, 2.0, -2.0]), np.array([1.0, 1.0, -1.0, -1.0])
    f = rg.compile(lambda x, y: rg.where(ours(x > 0, y > 0), x, y * 10))
    assert same(f(x, y), np.where(numpys(x > 0, y > 0), x, y * 10))
    assert guards_of(f) == []


@pytest.mark.parametrize(
    "compare",
    [
        lambda x, y: x < y, lambda x, y: x <= y, lambda x, y: x == y, lambda x, y: x != y,
        lambda x, y: x > y, lambda x, y: x >= y, lambda x, y: x < 1.0, lambda x, y: y >= 1.0,
        lambda x, y: 1.0 < x, lambda x, y: 1.0 == y,  # noqa: SIM300
    ],
)  # fmt: skip
def test_every_comparison_as_data_is_ieees(rg: Any, compare: Callable[..., Any]) -> None:
    ends = np.array([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan])
    x, y = (side.ravel() for side in np.meshgrid(ends, ends))
    f = rg.compile(lambda x, y: rg.where(compare(x, y), 1.0 + 0 * x, 2.0 + 0 * x))
    kept = np.isfinite(x)
    got = f(x[kept], y[kept])
    assert same(got, np.where(compare(x, y)[kept], 1.0, 2.0))


@pytest.mark.parametrize(
    "join", [lambda c: c | (c + True), lambda c: c & 2, lambda c: 0.5 ^ c, lambda c: c | None]
)
def test_conditions_join_no_numbers(rg: Any, join: Any) -> None:
    """Python joins the bits of integers: 3 for True | 2, where a program would have said 1."""
    with pytest.raises(TypeError, match=r"cannot join a condition with .*compare it, as in x != 0"):
        rg.compile(lambda x: rg.where(join(x > 0.0), x, 0.0))(1.0)
    assert rg.compile(lambda x: rg.where((x > 0.0) & True & 1, x, 0.0))(1.0) == 1.0


def test_a_condition_as_data_may_also_become_a_guard(rg: Any) -> None:
    @rg.compile
    def f(x: Any) -> Any:
        positive = x > 0
        return rg.where(positive, x, 0.0) + (1.0 if positive & (x < 5) else 2.0)

    assert same(f(X), X + 1.0)
    assert guards_of(f) == [True]
    inside = (MIXED > 0) & (MIXED < 5)
    expected = np.where(MIXED > 0, MIXED, 0.0) + np.where(inside, 1.0, 2.0)
    assert same(f(MIXED), expected)


def test_no_gradient_flows_through_a_condition(rg: Any) -> None:
    values, grad = rg.compile(lambda x: rg.where(x > 0, 2 * x, 3 * x)).value_and_grad(MIXED[:4])
    assert same(values, np.where(MIXED > 0, 2 * MIXED, 3 * MIXED)[:4])
    assert same(grad, [2.0, 3.0, 2.0, 3.0])


def test_not_even_where_the_upstream_is_infinite(rg: Any) -> None:
    """0 × inf would be NaN."""
    f = rg.compile(lambda x: rg.log(rg.where((x >= 0) & (x < 9), x, 1.0)))
    values, grad = f.value_and_grad(np.array([0.0, 2.0]))
    assert same(values, [-math.inf, math.log(2.0)])
    assert same(grad, [math.inf, 0.5])


def test_a_condition_prints_no_answer(rg: Any) -> None:
    seen = []
    rg.compile(lambda x: seen.append(f"is {x > 0!r}") or x)(X)
    assert re.fullmatch(r"is Condition\(<stop#[a-z]+: no number while recording>\)", seen[0])


def test_a_condition_is_no_result(rg: Any) -> None:
    with pytest.raises(rg.errors.FunctionResultError, match="returned Condition"):
        rg.compile(lambda x: x > 0)(X)


@pytest.mark.parametrize("name", CASES)
def test_branch_free_functions_hold_for_every_row(rg: Any, name: str) -> None:
    case = CASES[name]
    arguments = case.columns(300)
    compiled = rg.compile(case.make(rg))
    values, grads = compiled.value_and_grad(**arguments)
    expected = eager(rg, case.make(rg), arguments, 300)
    assert guards_of(compiled) == []
    assert_within(values, expected.values, expected.value_scales)
    assert_within(np.array(flat(grads)).T, expected.grads, expected.grad_scales)


def test_a_uniform_condition_known_early_does_not_hide_an_earlier_one_of_the_row(rg: Any) -> None:
    def sorted_out(x: Any, a: Any) -> Any:
        y = 0.0 * x
        if x > 0.0:
            y = y + 1.0
        if x > 1.0:
            y = y + 10.0
        if a > 0.0:  # the same for all rows, so checked before any of them
            y = y + 100.0
        return y

    compiled = rg.compile(sorted_out)
    assert compiled(np.array([2.0, 3.0]), 1.0).tolist() == [111.0, 111.0]
    assert compiled(np.array([0.5, 0.6]), -1.0).tolist() == [1.0, 1.0]
    assert compiled(np.array([0.5, 2.0, -1.0]), -1.0).tolist() == [1.0, 11.0, 0.0]


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "a mask": lambda x, y: (x > 0) * x,
    "a mask behind": lambda x, y: x * (x > 0),
    "a count": lambda x, y: sum([x > 0, y > 0, x > y]) + 0.0 * x,
    "one minus": lambda x, y: (1 - (x > 0)) * y,
    "minus one": lambda x, y: ((x > 0) - 1) * y,
    "of two": lambda x, y: ((x > 0) - (y > 0)) * x,
    "negated": lambda x, y: -(x > 0) * y,
    "plus a value": lambda x, y: (x > 0) + y,
}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_in_arithmetic_a_condition_is_one_or_zero_without_a_guard(rg: Any, name: str) -> None:
    function = ARITHMETIC[name]
    x, y = np.array([1.0, -1.0, 2.0, -2.0]), np.array([1.0, 1.0, -1.0, -1.0])
    f = rg.compile(function)
    expected = eager(rg, function, {"x": x, "y": y}, 4)
    values, grads = f.value_and_grad(x, y)
    assert same(values, expected.values)
    assert np.array_equal(np.column_stack(grads), expected.grads)
    assert guards_of(f) == []
