"""Where gradcheck could be fooled: functions that change from call to call, points without
neighbours, inputs that others drown, kinks, whole numbers, rules that are wrong at one point."""

from __future__ import annotations

import random

import pytest


def custom(rg, value, rule):
    @rg.custom_op
    def op(*numbers):
        return value(*numbers), tuple(rule(*numbers))

    return op


@pytest.mark.parametrize("seed", range(3))
def test_a_function_that_is_not_the_same_twice_is_not_judged(rg, seed):
    source = random.Random(seed)
    calls = []

    def drifting(x):
        calls.append(1)
        return x * x + 1e-3 * len(calls)

    for function in (lambda x: x * source.random(), drifting):
        report = rg.gradcheck(function, 2.0, raises=False)
        assert [entry.verdict for entry in report.entries] == ["difference noise"]
        assert report.verdict == "difference noise"
        assert "not the same twice" in report.notes[0]


def test_a_missing_gradient_is_found_in_spite_of_some_noise(rg):
    source = random.Random(5)
    report = rg.gradcheck(
        lambda x: (x * x).detach() + 1e-4 * source.random(), 2.0, raises=False
    )  # fmt: skip
    assert not report.right


def test_a_point_without_neighbours_is_not_called_right(rg):
    def lonely(x):
        return x * 3.0 if x.data == 2.0 else x * float("nan")

    def guarded(x):
        if x.data != 2.0:
            raise ValueError("not here")
        return x * 3.0

    for function in (lonely, guarded):
        report = rg.gradcheck(function, 2.0, raises=False)
        (entry,) = report.entries
        assert entry.verdict == "difference noise"
        assert "no step on either side" in entry.note


@pytest.mark.bank(every=3)
@pytest.mark.parametrize("count", [70, 300])
def test_inputs_that_others_drown_are_checked_by_themselves(rg, count):
    def loss(v, cut):
        faint = [x * 0.1 for x in v[:3]]
        if cut:
            faint[1] = faint[1].detach()
        return rg.sum([x * x * 1e6 for x in v[3:]]) + rg.sum(faint)

    point = [1.0 + 0.01 * i for i in range(count)]
    assert rg.gradcheck(lambda v: loss(v, cut=False), point, raises=False).right
    report = rg.gradcheck(lambda v: loss(v, cut=True), point, raises=False)
    assert [entry.place for entry in report.entries if entry.verdict == "wrong rule"] == ["v[1]"]


def test_a_drowned_input_with_a_wrong_rule_is_found(rg):
    def faint(x):
        return rg.Value(0.1 * x.data, (x,), (0.11,))

    def loss(v):
        return rg.sum([x * x * 1e6 for x in v[1:]]) + faint(v[0])

    report = rg.gradcheck(loss, [1.0] * 80, raises=False)
    assert [entry.place for entry in report.entries if entry.verdict == "wrong rule"] == ["v[0]"]


@pytest.mark.parametrize(("partial", "right"), [(0.0, True), (0.5, True), (1.0, True), (1.1, False),
                                                (-0.1, False), (2.0, False)])  # fmt: skip
def test_at_a_kink_the_slopes_of_the_sides_are_named(rg, partial, right):
    op = custom(rg, lambda x: max(x, 0.0), lambda x: (partial if x == 0.0 else float(x > 0),))
    report = rg.gradcheck(op, 0.0, raises=False)
    assert report.right == right
    if not right:
        assert "not between the slopes of the two sides, 0 and 1" in report.causes[0]


def test_whole_numbers_that_count_are_explained(rg):
    assert rg.gradcheck(lambda x, n: x**n, (2.0, 3)).right
    for function in (
        lambda x, n: sum((x for _ in range(n)), x),
        lambda x, n: [x, x * 2.0, x * 3.0, x * 4.0][n],
    ):
        with pytest.raises(rg.errors.CheckError) as caught:
            rg.gradcheck(function, (2.0, 3))
        assert "n = 3 too" in str(caught.value)
        assert "lambda x: f(x, 3)" in str(caught.value)
    with pytest.raises(TypeError, match="cannot compute with str") as plain:
        rg.gradcheck(lambda x: x + "text", 2.0)
    assert not isinstance(plain.value, rg.errors.CheckError)


WRONG_AT_ONE_POINT = {
    "zero at zero": (lambda x: x * x + x, lambda x: (2 * x + 1 if x else 0.0,), 0.0),
    "safe root": (lambda x: x**0.5, lambda x: (0.5 * x**-0.5 if x > 0 else 0.0,), 0.0),
    "equal operands": (lambda x, y: x * y, lambda x, y: (y, 0.0 if x == y else x), (2.0, 2.0)),
    "past two": (lambda x: x**3, lambda x: (3 * x * x * (1.5 if x > 2 else 1.0),), 3.0),
}


@pytest.mark.parametrize("name", WRONG_AT_ONE_POINT)
def test_a_rule_that_is_wrong_at_one_point_is_found_there(rg, name):
    value, rule, point = WRONG_AT_ONE_POINT[name]
    assert not rg.gradcheck(custom(rg, value, rule), point, raises=False).right


@pytest.mark.slow
@pytest.mark.bank
def test_a_rule_that_is_wrong_for_one_row_of_many_is_found(rg):
    op = custom(rg, lambda x: x**3, lambda x: (3 * x * x * (1.5 if x > 2 else 1.0),))
    for count in (30, 300):
        point = [2.01 * i / count for i in range(1, count + 1)]
        report = rg.gradcheck(lambda v: rg.sum([op(x) for x in v]), point, raises=False)
        assert not report.right


@pytest.mark.parametrize("hidden", ["zero", "untaken", "cancelled"])
def test_a_wrong_rule_that_does_not_show_here_is_found(rg, hidden):
    op = custom(rg, lambda x: x**3, lambda x: (6 * x * x,))
    function = {
        "zero": lambda x: op(x) * 0.0 + x,
        "untaken": lambda x: rg.where(x > 10.0, op(x), x),
        "cancelled": lambda x: op(x) - op(x) + x,
    }[hidden]
    report = rg.gradcheck(function, 1.5, raises=False)
    assert report.faults[0].cause == "a factor 2 too many"


def test_what_returns_a_constant_is_right_only_where_it_is_one(rg):
    assert rg.gradcheck(lambda x: rg.Value(3.0) * 1.0, 1.0).right
    for function in (lambda x: rg.Value(x.data * 2.0), lambda x: 1.0 + x.detach() * 1e-9):
        assert not rg.gradcheck(function, 0.7, raises=False).right
