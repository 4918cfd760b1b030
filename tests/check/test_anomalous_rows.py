"""rg.anomaly() around compiled calls, and NaNs that get lost on the way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from ..program.support import steady
from ..program.takes import takings

X = np.array([4.0, 1.0, -1.0, 0.0])


def test_a_nan_in_the_forward_pass_names_line_and_row(native):
    f = native.compile(lambda x: native.sqrt(x) + 1.0)  # here
    with native.anomaly(), pytest.raises(native.errors.AnomalyError) as caught:
        f(X)
    error = caught.value
    assert (error.row, error.phase, error.birth.op) == (2, "forward", "sqrt")
    assert str(error).startswith("row 2: sqrt produced nan in the forward pass.")
    assert "operand 'x' = -1.0" in str(error)
    assert "# here" in str(error)
    assert np.isnan(f(X)[2])  # outside it is IEEE arithmetic as ever
    with native.anomaly():
        assert f(X[:2]).tolist() == [3.0, 2.0]


def test_the_first_row_may_be_the_one(native):
    """Recording runs on it: anomaly() once raised there without saying which row it was."""
    f = native.compile(lambda x: native.log(x))
    with native.anomaly(), pytest.raises(native.errors.AnomalyError, match="row 0: log produced"):
        f(X[::-1])
    with native.anomaly(), pytest.raises(native.errors.AnomalyError, match=r"^log produced -inf"):
        f(0.0)


@pytest.mark.parametrize("ask", ["grad", "value_and_grad", "jacobian", "hessian"])
def test_a_slope_that_is_not_finite_names_line_and_row(native, ask):
    f = native.compile(lambda x: native.sqrt(native.abs(x)))
    with native.anomaly(), pytest.raises(native.errors.AnomalyError) as caught:
        getattr(f, ask)(X)
    assert (caught.value.row, caught.value.phase) == (3, "backward")
    assert caught.value.birth.op == "sqrt"
    with native.anomaly():
        f(X)  # the value alone is finite


def test_captured_parameters_and_weights(native):
    w = native.Value(0.0, label="w")
    f = native.compile(lambda x: x + native.sqrt(w) * x)
    with native.anomaly(), pytest.raises(native.errors.AnomalyError, match="row 0: sqrt made"):
        f.backward(X)
    assert w.grad == 0.0
    g = native.compile(lambda x: native.sqrt(x))
    with native.anomaly(), pytest.raises(native.errors.AnomalyError, match="row 1: sqrt made"):
        g.grad(np.array([1.0, 0.0]), weights=np.array([1.0, 0.0]))


def test_every_branch_and_loaded_functions(native, tmp_path):
    f = native.compile(lambda x: native.log(x - 1.0) if x > 0.0 else x)
    with native.anomaly(), pytest.raises(native.errors.AnomalyError) as caught:
        f(X)
    assert (caught.value.row, caught.value.birth.op) == (1, "log")
    f(X)
    f.save(tmp_path / "f.rgp")
    with native.anomaly(), pytest.raises(native.errors.AnomalyError, match="row 1: log produced"):
        native.load(tmp_path / "f.rgp")(X)


def test_a_given_nan_and_deliberate_infinities(native):
    f = native.compile(lambda x, m: native.exp(x + m))
    with native.anomaly():
        assert f(np.array([1.0, 2.0]), np.array([0.0, -math.inf]))[1] == 0.0
        with pytest.raises(native.errors.AnomalyError, match="row 1: a leaf 'x' was made with nan"):
            f(np.array([1.0, math.nan]), 0.0)


def test_nothing_is_written_and_no_mode_is_lost(native):
    from retrograde.value import core

    f = native.compile(lambda x: native.sqrt(x))
    out = np.zeros(4)
    with native.anomaly(), native.anomaly():
        with pytest.raises(native.errors.AnomalyError):
            f(X, out=out)
        assert core.in_anomaly()
    assert not core.in_anomaly()
    assert out.tolist() == [0.0] * 4


@steady(max_examples=150)
@given(takings(most=5))
def test_it_stops_where_eager_code_stops(drawn):
    import retrograde as rg
    from retrograde.value import core_name

    if core_name != "native":
        pytest.skip("compiled functions need the native core")
    w = rg.Value(drawn.w)
    f = rg.compile(drawn.function(rg, w))

    def stops(i, x, y):
        try:
            with rg.anomaly():
                values = [rg.Value(n) for n in (x, y, drawn.u)]
                root = drawn.function(rg, w)(i, *values)
                rg.births(root, raising=True)
                rg.backward([root])
        except rg.errors.AnomalyError:
            return True
        finally:
            w.grad = 0.0
        return False

    i, x, y, u = drawn.arguments()
    for row in range(len(i)):
        some = slice(row, row + 1)
        try:
            with rg.anomaly():
                f.grad(i[some], x[some], y[some], u, wrt=("x", "y", "u"))
            stopped = False
        except rg.errors.AnomalyError:
            stopped = True
        if stopped:
            assert stops(*(column[row] for column in (i.tolist(), x.tolist(), y.tolist())))


# ---- lost on the way -----------------------------------------------------------------------------


def lost(found):
    return [(g.birth.op, g.birth.target, g.rows.tolist()) for g in found.dropped]


def test_a_comparison_with_nan_that_chose_a_branch(native):
    def f(x):
        y = x * math.inf
        if y > 0.0:  # decided here
            return x
        return 2.0 * x

    found = native.compile(f).births(np.array([1.0, 0.0, -1.0]))
    assert found
    assert found.sick.tolist() == []
    ((op, target, rows),) = lost(found)
    assert (op, rows) == ("less", [1])
    assert target.startswith("the result of mul (line ")
    (group,) = found.dropped
    assert group.birth.source.endswith("# decided here")
    text = str(found)
    assert text.startswith("Every value and every gradient of 3 rows is finite.")
    assert "1 row (1), dropped:\nless lost a NaN: the result of mul" in text
    assert "a comparison with NaN is false" in text
    assert found.as_dict()["dropped"][0]["rows"] == [1]


def test_builtin_max_and_min(native):
    found = native.compile(lambda x: max(x, math.nan)).births(X)
    assert lost(found) == [("less", "a constant", [0, 1, 2, 3])]
    found = native.compile(lambda x, y: min(x, y)).births(X, np.array([1.0, math.nan, 1.0, 1.0]))
    assert lost(found) == [("less", "'y'", [1])]


def test_where_that_dropped_it(native):
    f = native.compile(lambda x: native.where(native.log(x).detach() > 0.0, x, 1.0))
    assert lost(f.births(X)) == [("less", lost(f.births(X))[0][1], [2])]
    g = native.compile(lambda x: native.where(x > 0.0, native.log(x).detach(), 1.0))
    ((op, target, rows),) = lost(g.births(X))
    assert (op, rows) == ("where", [2])
    assert target.startswith("the result of log")
    h = native.compile(lambda x: (x * math.inf).detach() ** 0.0 + x)
    assert [(op, rows) for op, _, rows in lost(h.births(X))] == [("pow", [3])]


def test_a_nan_value_with_a_finite_gradient_is_a_birth(native):
    found = native.compile(lambda x: x + native.log(x).detach()).births(X)
    assert [(g.birth.op, g.rows.tolist()) for g in found.forward] == [("log", [2, 3])]
    assert found.sick.tolist() == [2, 3]


def test_an_item_that_a_take_did_not_choose_is_not_lost_and_no_birth(native):
    f = native.compile(lambda i, x: native.take([x, native.log(x)], i) * native.sqrt(x + 1.0))
    found = f.births(np.array([0, 1, 0, 0]), X)
    assert [(g.phase, g.birth.op, g.rows.tolist()) for g in found.backward] == [
        ("backward", "sqrt", [2])
    ]
    assert not found.forward
    assert not found.dropped
