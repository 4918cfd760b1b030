"""gradcheck: verdicts, one-sided slopes, coverage, what it takes, and what it leaves alone."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import retrograde

RIGHT, WRONG, NOISE, KINK = "right", "wrong rule", "difference noise", "kink here"


def verdicts(report):
    return [entry.verdict for entry in report.entries]


def test_a_right_gradient_passes_with_a_table_an_input(rg):
    report = rg.gradcheck(lambda x, y: x * y.exp(), (3.0, 0.5))
    assert report.right
    assert [entry.place for entry in report.entries] == ["x", "y"]
    assert verdicts(report) == [RIGHT, RIGHT]
    for entry in report.entries:
        assert abs(entry.gradient - entry.difference) <= 8 * entry.error + 1e-12
    assert "✓  x" in str(report)
    assert all(len(line) <= 80 for line in str(report).splitlines())


@pytest.mark.parametrize("point", [2.0, [2.0, 0.5], {"a": 2.0, "b": [0.5, 1.0]}, np.ones((2, 2))])
def test_points_are_numbers_and_nests(rg, point):
    def function(p):
        if isinstance(p, dict):
            return p["a"] * p["b"][0] + p["b"][1].sin()
        if isinstance(p, list):
            return p[0] * p[1].tanh()
        if p.ndim == 2:
            return (p * p).sum()
        return p.exp()

    assert rg.gradcheck(function, point).right


def test_a_kink_gives_both_slopes_and_passes(rg):
    report = rg.gradcheck(lambda v: rg.relu(v[0]) + abs(v[1]) * 3.0, [0.0, 0.0])
    assert verdicts(report) == [KINK, KINK]
    assert (report.entries[0].left, report.entries[0].right) == pytest.approx((0.0, 1.0), abs=1e-9)
    assert (report.entries[1].left, report.entries[1].right) == pytest.approx((-3.0, 3.0))


def test_noise_is_told_from_a_wrong_rule(rg):
    rng = random.Random(1)

    @rg.custom_op
    def noisy(x):
        return x * x + rng.random(), (2 * x,)

    report = rg.gradcheck(noisy, 2.0, raises=False)
    assert verdicts(report) == [NOISE]
    assert report.verdict == NOISE
    assert "not the same twice" in str(report)


def test_the_edge_of_the_domain_is_one_sided(rg):
    report = rg.gradcheck(lambda x: rg.sqrt(x), 0.0)
    assert verdicts(report) == [RIGHT]
    assert report.entries[0].gradient == math.inf
    assert "edge of the domain" in report.entries[0].note
    assert rg.gradcheck(lambda x: rg.pow(x, 1.5), 0.0).right
    assert rg.gradcheck(lambda x: x**x, 0.0).right  # grows as a logarithm


def test_a_gradient_that_is_not_finite_fails_under_its_own_name(rg):
    report = rg.gradcheck(lambda x: rg.where(x > 1.0, x.sqrt(), x * 2.0), 0.0, raises=False)
    assert verdicts(report) == ["not finite"]
    assert report.verdict == "not finite"
    assert not report.right
    assert "rg.anomaly()" in report.causes[0]


def test_the_complex_step_decides_where_differences_drown(rg):
    report = rg.gradcheck(lambda x: (x + 1e20) - 1e20 + 0.0, 3.0)
    assert verdicts(report) == [RIGHT]
    assert report.entries[0].how == "complex step"
    assert report.coverage.complex_step == "applies"


def test_second_order(rg):
    report = rg.gradcheck(lambda x, y: x**3 * y.sin(), (2.0, 0.3), order=2)
    second = [entry for entry in report.entries if entry.of]
    assert len(second) == 4
    assert verdicts(report) == [RIGHT] * 6

    @rg.custom_op
    def cube(x):
        return x**3

    @cube.partials
    def _(x):
        return 3 * x * x if not hasattr(x, "data") else 3 * x * x.data  # right, but only once

    assert rg.gradcheck(cube, 2.0).right
    report = rg.gradcheck(cube, 2.0, order=2, raises=False)
    assert not report.right
    assert [entry.of for entry in report.entries if entry.verdict == WRONG] == ["d/dx"]


def test_many_inputs_second_order_goes_by_directions(rg):
    report = rg.gradcheck(
        lambda v: rg.sum([x**3 for x in v]), [0.1 * i for i in range(30)], order=2
    )
    assert {entry.place for entry in report.entries if entry.of} == {"direction 1", "direction 2"}


# ---- losses over parameters ---------------------------------------------------------------------


def test_a_loss_over_parameters_is_checked_in_place_and_put_back(rg):
    w = [rg.Value(0.5, label="w"), rg.Value(-1.5)]
    for leaf in w:
        leaf.grad = 7.0
    report = rg.gradcheck(lambda: (w[0] * 2.0 + w[1]).tanh() ** 2, w)
    assert [entry.place for entry in report.entries] == ["w", "parameters[1]"]
    assert [leaf.data for leaf in w] == [0.5, -1.5]
    assert [leaf.grad for leaf in w] == [7.0, 7.0]


def test_a_parameter_that_is_not_in_the_graph_has_gradient_zero(rg):
    w = [rg.Value(0.5), rg.Value(2.0)]
    report = rg.gradcheck(lambda: w[0] * 3.0, w)
    assert report.entries[1].gradient == 0.0
    assert verdicts(report) == [RIGHT, RIGHT]


def test_parameters_are_restored_when_the_function_raises(rg):
    w, calls = rg.Value(0.5), []

    def loss():
        calls.append(w.data)
        if w.data != 0.5:
            raise KeyError("no")
        return w * 2.0

    with pytest.raises(KeyError):
        rg.gradcheck(loss, [w])
    assert w.data == 0.5
    assert len(set(calls)) == 2


def network(rg, wrong=False):
    rng = random.Random(0)
    w1 = [[rg.Value(rng.gauss(0, 0.3)) for _ in range(30)] for _ in range(20)]
    w2 = [rg.Value(rng.gauss(0, 0.3)) for _ in range(20)]
    x = [rng.gauss(0, 1) for _ in range(30)]

    def loss():
        hidden = [rg.dot(row, x).tanh() for row in w1]
        total = (rg.dot(hidden, w2) - 0.3) ** 2
        if wrong:
            v = w1[7][11]
            total = total + rg.Value(v.data**2, (v,), (2.004 * v.data,))
        return total

    return loss, [*(v for row in w1 for v in row), *w2], w1


@pytest.mark.bank
def test_many_inputs_go_by_random_directions_and_say_so(rg):
    loss, parameters, _ = network(rg)
    report = rg.gradcheck(loss, parameters)
    assert report.coverage.directions == 6
    assert report.coverage.inputs == 620
    assert 8 <= report.coverage.one_by_one <= 20
    assert "6 random directions through all 620 inputs" in str(report)
    every = rg.gradcheck(loss, parameters, every=True)
    assert every.coverage.one_by_one == 620


@pytest.mark.slow
def test_one_wrong_input_among_hundreds_is_found_by_halving(rg):
    loss, parameters, w1 = network(rg, wrong=True)
    w1[7][11].label = "the culprit"
    report = rg.gradcheck(loss, parameters, raises=False)
    assert [entry.place for entry in report.entries if entry.verdict == WRONG] == ["the culprit"]


@pytest.mark.slow
def test_ten_thousand_parameters_in_seconds(native):
    import time

    rg, rng = native, random.Random(0)
    w1 = [[rg.Value(rng.gauss(0, 0.1)) for _ in range(100)] for _ in range(99)]
    w2 = [rg.Value(rng.gauss(0, 0.1)) for _ in range(99)]
    x = [rng.gauss(0, 1) for _ in range(100)]
    began = time.perf_counter()
    report = rg.gradcheck(
        lambda: (rg.dot([rg.dot(row, x).tanh() for row in w1], w2) - 1.0) ** 2,
        [*(v for row in w1 for v in row), *w2],
    )
    assert report.right
    assert time.perf_counter() - began < 30.0


# ---- compiled functions ------------------------------------------------------------------------


def test_compiled_functions_are_taken(native):
    rg = native

    @rg.compile
    def price(s, k):
        return rg.exp(-s * k) * s

    assert rg.gradcheck(price, (1.2, 0.4)).right
    rows = rg.gradcheck(price, (np.array([1.0, 2.0, 0.5]), 0.4))
    assert [entry.place for entry in rows.entries] == ["s[0]", "s[1]", "s[2]", "k"]
    assert rows.right
    weighted = rg.compile(lambda x, w: rg.dot(x, w).tanh())
    assert rg.gradcheck(weighted, (np.ones((3, 2)) * 0.3, rg.uniform(np.array([1.0, 2.0])))).right
    w = rg.Value(2.0)
    assert rg.gradcheck(rg.compile(lambda: (w * 3.0 - 1.0) ** 2), [w]).right
    assert w.grad == 0.0


def test_a_wrong_compiled_gradient_is_found(native, monkeypatch):
    rg = native
    f = rg.compile(lambda x, y: x * y.exp())
    right = type(f).value_and_grad

    def wrong(self, *args, **named):
        value, (dx, dy) = right(self, *args, **named)
        return value, (dx, dy * 1.001)

    monkeypatch.setattr(type(f), "value_and_grad", wrong)
    report = rg.gradcheck(f, (1.2, 0.4), raises=False)
    assert verdicts(report) == [RIGHT, WRONG]


# ---- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "point", "error", "text"),
    [
        (lambda rg: lambda x: [x, x], 1.0, "CheckError", "Check one output at a time"),
        (lambda rg: lambda x: None, 1.0, "FunctionResultError", "forget its return?"),
        (lambda rg: lambda x: 3.0, 1.0, "FunctionResultError", "has left the graph"),
        (lambda rg: lambda x: x.log(), -1.0, "CheckError", "is nan at this point"),
        (lambda rg: lambda x: x.log(), 0.0, "CheckError", "is -inf at this point"),
        (lambda rg: lambda x: x, "a", "CheckError", "a point is a number"),
        (lambda rg: lambda x: x, [], "CheckError", "holds no number"),
        (lambda rg: lambda x, y: x, [1.0, 2.0], "CheckError", "Give them as a tuple"),
        (
            lambda rg: lambda x: x,
            (1.0, 2.0),
            "CheckError",
            "takes 1 argument, but the point is a tup",
        ),
        (lambda rg: lambda x, y: x, (1.0,) * 3, "CheckError", "Write a function of 3."),
        (lambda rg: lambda: 3.0, 1.0, "CheckError", "give the values that it closes over"),
        (lambda rg: 3.0, 1.0, "CheckError", "takes a function"),
    ],
)
def test_bad_input_is_named(rg, make, point, error, text):
    with pytest.raises(getattr(rg.errors, error)) as caught:
        rg.gradcheck(make(rg), point)
    assert text in str(caught.value)


def test_parameters_must_be_leaves(rg):
    w = rg.Value(1.0)
    with pytest.raises(rg.errors.CheckError, match="was computed"):
        rg.gradcheck(lambda: w * 2, [w * 3])


def test_an_unknown_order_is_refused(rg):
    with pytest.raises(rg.errors.CheckError, match="write 1 or 2"):
        rg.gradcheck(lambda x: x, 1.0, order=3)


def test_it_works_inside_no_grad_and_changes_no_mode(rg):
    with rg.no_grad():
        assert rg.gradcheck(lambda x: x * x, 2.0).right
        assert not rg.grad_enabled()


def test_a_function_that_raises_off_the_point_has_an_edge_there(rg):
    @rg.custom_op
    def root(x):
        return math.sqrt(x), (0.5 / math.sqrt(x),)

    assert rg.gradcheck(root, 1e-9).right


# ---- the report --------------------------------------------------------------------------------


def test_the_report_is_plain_data(rg):
    report = rg.gradcheck(lambda x: rg.sqrt(x), 0.0)
    data = json.loads(json.dumps(report.data(), allow_nan=False))
    assert data["verdict"] == RIGHT
    assert data["entries"][0]["gradient"] == "inf"
    assert "<table>" in report._repr_html_()


def test_the_error_has_the_worst_entry_its_place_and_the_report(rg):
    @rg.custom_op
    def cube(x):
        return x**3, (3.003 * x**2,)

    with pytest.raises(rg.errors.GradcheckError) as caught:
        rg.gradcheck(lambda x, y: cube(x) * y, (2.0, 1.5))
    text = str(caught.value)
    assert "at x = 2 is 18.018, but central differences give 18" in text
    assert "off by 0.0999 %" in text
    assert "test_gradcheck.py:" in text
    assert "1 of 2 entries are wrong" in text
    assert isinstance(caught.value, AssertionError)
    assert not caught.value.report.right


def test_assert_gradients_returns_nothing_or_fails(rg):
    assert rg.assert_gradients(lambda x: x * x, 2.0) is None
    with pytest.raises(AssertionError):
        rg.assert_gradients(lambda x: x * x.data, 2.0)


def test_no_gradient_is_touched(rg):
    w = rg.Value(2.0)
    w.grad = 5.0
    rg.gradcheck(lambda x: x * w, 3.0)
    assert w.grad == 5.0


def test_the_same_check_finds_the_same(rg):
    loss, parameters, _ = network(rg)
    assert str(rg.gradcheck(loss, parameters)) == str(rg.gradcheck(loss, parameters))


def test_importing_the_package_loads_no_checker():
    code = "import sys, retrograde; print([m for m in sys.modules if 'retrograde.check' in m])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(retrograde.__file__).parent.parent)},
    )
    assert done.stdout.strip() == "[]"
    assert "gradcheck" in dir(retrograde)
