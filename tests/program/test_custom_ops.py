"""Custom ops in compiled functions: recorded as ops with their own rule, or called over rows."""

from __future__ import annotations

import math
import pickle
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from .support import numbers

ROWS = 200
X = numbers(ROWS, seed=3)
Y = numbers(ROWS, 0.5, 2.0, seed=4)


def soft(rg: Any) -> Any:
    @rg.custom_op
    def softclip(x: Any) -> Any:
        return rg.tanh(x)

    @softclip.partials
    def _(x: Any, z: Any) -> Any:
        return 1 - z * z

    return softclip


def interpolated(rg: Any) -> Any:
    @rg.custom_op(vectorized=True)
    def interpolated(x: Any) -> Any:
        return np.interp(x, [-1.0, 0.0, 2.0], [2.0, 0.0, 1.0])

    @interpolated.vjp
    def _(upstream: Any, x: Any) -> Any:
        slopes = np.array([0.0, -2.0, 0.5, 0.0])
        return upstream * slopes[np.searchsorted([-1.0, 0.0, 2.0], x)]

    return interpolated


def agree(got: Any, wanted: Any) -> bool:
    return bool(np.allclose(got, wanted, rtol=1e-12, atol=1e-13))


def each(function: Any, *columns: Any) -> Any:
    return [function(*map(float, row)) for row in zip(*columns)]


# ---- given in terms of ops -----------------------------------------------------------------------


def test_values_and_derivatives_of_every_order_are_those_of_eager_code(rg: Any) -> None:
    clip = soft(rg)

    def f(x: Any) -> Any:
        return clip(x * x) * x

    compiled = rg.compile(f)
    value, slope = compiled.value_and_grad(X)
    assert agree(value, each(lambda x: rg.value_and_grad(f)(x)[0], X))
    assert agree(slope, each(rg.grad(f), X))
    assert agree(compiled.hessian(X), each(rg.grad(rg.grad(f)), X))
    third = rg.compile(lambda x: rg.grad(f)(x)).hessian(X)
    assert agree(third, each(rg.grad(rg.grad(rg.grad(f))), X))


def test_it_is_the_rule_that_counts_not_the_slopes_of_the_function(rg: Any) -> None:
    @rg.custom_op
    def rounded(x: Any) -> Any:
        return rg.floor(x + 0.5)

    @rounded.vjp
    def _(upstream: Any, x: Any) -> Any:
        return rg.clip(upstream, -1.0, 1.0) * x  # neither linear nor the slope of anything

    f = rg.compile(lambda x, y: rounded(x) * y**3)
    value, (by_x, by_y) = f.value_and_grad(X, Y)
    assert agree(value, np.floor(X + 0.5) * Y**3)
    assert agree(by_x, np.clip(Y**3, -1.0, 1.0) * X)
    assert agree(by_y, np.floor(X + 0.5) * 3 * Y**2)
    (xx, xy), (yx, yy) = f.hessian(X, Y)  # not symmetric: such a rule is no slope
    by_hand = rg.hessian(lambda v: rounded(v[0]) * v[1] ** 3)
    wanted = each(lambda x, y: np.ravel(by_hand([x, y])), X, Y)
    assert agree(np.stack([xx, xy, yx, yy], axis=1), wanted)
    assert not agree(xy, yx)


def test_several_inputs_numbers_among_them_and_ops_inside_ops(rg: Any) -> None:
    inner = soft(rg)

    @rg.custom_op
    def blend(x: Any, y: Any, share: Any) -> Any:
        return share * inner(x) + (1.0 - share) * y

    @blend.partials
    def _(x: Any, y: Any, share: Any) -> Any:
        return share * (1.0 - inner(x) ** 2), 1.0 - share, inner(x) - y

    def f(x: Any, y: Any) -> Any:
        return blend(x, y, 0.25) * blend(y, 2.0, x)

    compiled = rg.compile(f)
    wanted = each(rg.grad(f, (0, 1)), X, Y)
    assert agree(np.stack(compiled.grad(X, Y), axis=1), wanted)
    (xx, xy), _ = compiled.hessian(X, Y)
    wanted = [
        rg.hessian(lambda v: f(v[0], v[1]))([x, y])[0] for x, y in zip(X.tolist(), Y.tolist())
    ]
    assert agree(np.stack([xx, xy], axis=1), wanted)


def test_two_ops_of_one_name_stay_apart(rg: Any) -> None:
    def made(factor: float) -> Any:
        @rg.custom_op
        def op(x: Any) -> Any:
            return x * factor

        @op.partials
        def _(x: Any) -> Any:
            return 10.0 * factor

        return op

    one, two = made(2.0), made(3.0)
    value, slope = rg.compile(lambda x: one(x) + two(x) + one(x)).value_and_grad(X)
    assert agree(value, 7.0 * X)
    assert agree(slope, np.full(ROWS, 70.0))


def test_branches_stops_takes_and_captured_leaves(rg: Any) -> None:
    clip, w = soft(rg), rg.Value(0.5)

    def f(i: Any, x: Any) -> Any:
        with rg.no_grad():
            held = clip(x)
        kept = clip(x).detach()
        if clip(x) > 0.3:
            return clip(w * x) * held + kept
        return rg.take([clip(x), rg.log(x)], i) + held

    i = np.zeros(ROWS, dtype=int)
    compiled = rg.compile(f)
    slopes = compiled.grad(i, X, wrt="x")
    slope = rg.grad(lambda v: f(0, v))
    assert agree(slopes, each(lambda x: getattr(slope(x), "data", slope(x)), X))
    compiled.backward(i, X)
    wanted = 0.0
    for x in X.tolist():
        leaf = rg.Value(x)
        w.grad, before = 0.0, w.grad
        f(0, leaf).backward()
        wanted += w.grad
        w.grad = before
    assert math.isclose(w.grad, wanted, rel_tol=1e-12)


def test_a_rule_is_asked_only_where_a_row_gets_there(rg: Any) -> None:
    @rg.custom_op
    def root(x: Any) -> Any:
        return rg.sqrt(x)

    @root.vjp
    def _(upstream: Any, x: Any) -> Any:
        return upstream / (2.0 * rg.sqrt(x))

    compiled = rg.compile(lambda x: root(x))
    compiled(np.array([4.0, 1.0]))
    adjoint = import_module(f"{rg.__name__}.program.adjoint")
    row = import_module(f"{rg.__name__}.program.program").Input("row", "seed")
    program, seed = adjoint.with_input(compiled.traces[0].program, row)
    after, ((slope,),) = adjoint.adjoints(program, [((0,), [(program.outputs[0], seed)])], True)
    last = next(each for each in after.instructions if slope in each.results)
    zero, *_, rows = last.args
    assert (last.op, after.inputs[zero].number, rows) == ("take", 0.0, seed)


def test_what_is_not_written_with_ops_names_the_cure(rg: Any) -> None:
    @rg.custom_op
    def outside(x: Any) -> Any:
        return math.tanh(x)

    @outside.partials
    def _(x: Any, z: Any) -> Any:
        return 1 - z * z

    with pytest.raises(rg.errors.RecordingError) as caught:
        rg.compile(lambda x: outside(x) * x)(X)  # here it is used
    said = str(caught.value)
    assert said.startswith("'outside' has its rule in Python or as numbers only, so it cannot be ")
    assert "its function does not work on values: math.tanh(...)" in said
    assert "@rg.custom_op(vectorized=True)" in said
    assert "# here it is used" in said

    @rg.custom_op
    def numeric(x: Any) -> Any:
        return rg.tanh(x)

    @numeric.partials
    def _(x: Any) -> Any:
        return 1 / math.cosh(x) ** 2

    with pytest.raises(rg.errors.RecordingError, match=r"its rule fails on values: math\.cosh"):
        rg.compile(lambda x: numeric(x))(X)

    @rg.custom_op
    def deciding(x: Any) -> Any:
        return x * 2.0

    @deciding.partials
    def _(x: Any) -> Any:
        return 2.0 if x > 0 else 3.0

    with pytest.raises(rg.errors.RecordingError, match=r"decides by a number .* Use rg\.where"):
        rg.compile(lambda x: deciding(x))(X)
    w = rg.Value(2.0, label="w")

    @rg.custom_op
    def capturing(x: Any) -> Any:
        return x * 2.0

    @capturing.partials
    def _(x: Any) -> Any:
        return w * x

    with pytest.raises(rg.errors.RecordingError, match="uses 'w', a leaf from outside"):
        rg.compile(lambda x: capturing(x))(X)


def test_a_program_with_a_rule_is_not_saved(rg: Any, tmp_path: Any) -> None:
    clip = soft(rg)
    f = rg.compile(lambda x: clip(x))
    f(X)
    with pytest.raises(rg.errors.ProgramFileError, match="'softclip' has a rule of its own"):
        f.save(tmp_path / "f.rgp")


def test_the_story_of_a_row_is_that_of_eager_code(rg: Any) -> None:
    clip = soft(rg)
    f = rg.compile(lambda x: clip(x) * x)
    wanted = rg.story(clip(rg.Value(0.5, label="x")) * rg.Value(2.0))
    story = f.story(np.array([1.0, 0.5]), row=1)
    assert story.forward[1].words == wanted.forward[1].words
    assert story.backward[1].words == wanted.backward[1].words


# ---- over arrays of rows -------------------------------------------------------------------------


@pytest.mark.parametrize("reduce", [None, "sum", "mean"])
@pytest.mark.parametrize("threads", [1, 2])
def test_values_and_gradients_over_rows(rg: Any, reduce: Any, threads: int) -> None:
    table = interpolated(rg)

    def f(x: Any, a: Any) -> Any:
        return table(a * x) * x + rg.tanh(table(x))

    compiled = rg.compile(f)
    value, (by_x, by_a) = compiled.value_and_grad(X, 0.7, reduce=reduce, threads=threads)
    rows = each(lambda x: rg.value_and_grad(f, (0, 1))(x, 0.7), X)
    values, slopes = np.array([v for v, _ in rows]), np.array([g for _, g in rows])
    scale = {None: 1.0, "sum": 1.0, "mean": 1.0 / ROWS}[reduce]
    assert agree(by_x, slopes[:, 0] * scale)
    assert agree(value, values if reduce is None else values.sum() * scale)
    assert agree(by_a, slopes[:, 1] if reduce is None else slopes[:, 1].sum() * scale)


def test_blocks_chunks_and_rows_that_lie_apart(rg: Any, monkeypatch: Any) -> None:
    staged = import_module(f"{rg.__name__}.program.staged")

    table = interpolated(rg)
    seen: list[int] = []

    @rg.custom_op(vectorized=True)
    def counted(x: Any) -> Any:
        seen.append(len(x))
        return x * 2.0

    @counted.partials
    def _(x: Any) -> Any:
        return np.full(x.shape, 2.0)

    def f(x: Any) -> Any:
        return counted(x) * table(x) if x > 0.0 else x * x

    x = numbers(5000, seed=8)
    wanted = rg.compile(f).value_and_grad(x), rg.compile(f).value_and_grad(x, reduce="sum")
    monkeypatch.setattr(staged, "BLOCK", 1024)
    monkeypatch.setattr(staged, "SPREAD", 1500)
    seen.clear()
    got = rg.compile(f).value_and_grad(x), rg.compile(f).value_and_grad(x, reduce="sum")
    assert max(seen) <= 1024
    assert np.array_equal(got[0], wanted[0])
    assert got[1][0] == wanted[1][0]
    assert np.array_equal(got[1][1], wanted[1][1])
    assert agree(got[0][0], np.where(x > 0.0, 2 * x * np.interp(x, [0, 2], [0, 1]), x * x))


def test_python_is_called_with_the_rows_that_get_there(rg: Any) -> None:
    seen: list[Any] = []

    @rg.custom_op(vectorized=True)
    def watched(x: Any) -> Any:
        seen.append(x.copy())
        return np.sqrt(x)

    @watched.partials
    def _(x: Any, z: Any) -> Any:
        return 0.5 / z

    @rg.compile
    def f(x: Any) -> Any:
        return watched(x) if x > 0.0 else -x

    for _ in range(3):
        f.value_and_grad(X)
    assert all((rows > 0.0).all() and rows.ndim == 1 for rows in seen)
    assert agree(f(X), np.where(X > 0.0, np.sqrt(np.abs(X)), -X))


def test_a_call_may_decide_and_feed_another(rg: Any) -> None:
    table = interpolated(rg)

    def f(x: Any, y: Any) -> Any:
        first = table(x)
        if table(first * y) > 0.2:
            return first * y
        return table(table(first + x)) - y

    compiled = rg.compile(f)
    value, grads = compiled.value_and_grad(X, Y)
    rows = each(rg.value_and_grad(f, (0, 1)), X, Y)
    assert agree(value, [v for v, _ in rows])
    assert agree(np.stack(grads, axis=1), [g for _, g in rows])


def test_a_rule_in_terms_of_ops_can_be_differentiated_again(rg: Any) -> None:
    @rg.custom_op(vectorized=True)
    def power(x: Any, a: Any) -> Any:
        return np.exp(x) * a

    @power.partials
    def _(x: Any, a: Any, z: Any) -> Any:
        return z, z / a

    f = rg.compile(lambda x, a: power(x, a) * x)
    (xx, xa), (_, aa) = f.hessian(X, Y)
    assert agree(xx, np.exp(X) * Y * (X + 2.0))
    assert agree(xa, np.exp(X) * (X + 1.0))
    assert agree(aa, 0.0 * X)
    table = interpolated(rg)
    with pytest.raises(
        rg.errors.NotTwiceDifferentiable, match="the rule of 'interpolated' is over"
    ):
        rg.compile(lambda x: table(x)).hessian(X)
    bell = rg.custom_op(lambda x: np.exp(-x * x), vectorized=True)
    bell.vjp(lambda upstream, x: -2.0 * upstream * x * np.exp(-x * x))
    assert rg.grad(rg.grad(bell))(0.5) == pytest.approx(-np.exp(-0.25), rel=1e-13)
    assert agree(rg.compile(lambda x: rg.grad(table)(x))(X), each(rg.grad(table), X))


def test_value_and_partials_together(rg: Any) -> None:
    @rg.custom_op(vectorized=True)
    def cube(x: Any) -> Any:
        return x**3, (3 * x**2,)

    assert agree(rg.compile(lambda x: cube(x) * 2.0).grad(X), 6 * X**2)
    assert rg.grad(cube)(2.0) == 12.0
    assert cube(2.0) == 8.0


def test_births_anomaly_jacobians_weights_and_results_in_place(rg: Any) -> None:
    @rg.custom_op(vectorized=True)
    def logarithm(x: Any) -> Any:
        return np.log(x)

    @logarithm.partials
    def _(x: Any) -> Any:
        return 1.0 / np.asarray(x)

    f = rg.compile(lambda x: logarithm(x) * 2.0)
    x = np.array([1.0, -1.0, 2.0])
    found = f.births(x)
    assert found.sick.tolist() == [1]
    assert [(g.birth.op, g.rows.tolist()) for g in found.forward] == [("logarithm", [1])]
    with rg.anomaly(), pytest.raises(rg.errors.AnomalyError, match="row 1: logarithm produced nan"):
        f(x)
    assert agree(f.jacobian(x), 2.0 / x)
    assert agree(f.grad(x, weights=x), [2.0, 2.0, 2.0])
    out = np.empty(3)
    assert f.grad(x, out=out) is out
    assert f(np.empty(0)).shape == (0,)
    assert f(1.0) == 0.0


def test_what_it_costs_is_said(rg: Any, tmp_path: Any) -> None:
    table = interpolated(rg)
    f = rg.compile(lambda x: table(x))
    f.grad(X)
    assert (
        "calls Python: interpolated, once a block of 65,536 rows, holding the GIL." in f.explain()
    )
    assert "It cannot be saved" in f.explain()
    assert "= call interpolated %0" in f.explain()
    with pytest.raises(rg.errors.ProgramFileError, match="'interpolated' is computed by Python"):
        f.save(tmp_path / "f.rgp")
    with pytest.raises(rg.errors.ProgramFileError, match="computed by Python"):
        pickle.dumps(f)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (lambda x: x[:-1], "an array of shape (199,) and type float64"),
        (lambda x: (x, x), "it returned 2 arrays for 1 the value"),
        (lambda x: x.astype(str), "type <U"),
        (lambda x: None, "type object"),
    ],
)
def test_arrays_of_another_shape_raise(rg: Any, returned: Any, said: str) -> None:
    @rg.custom_op(vectorized=True)
    def wrong(x: Any) -> Any:
        return x if len(x) == 1 else returned(x)

    @wrong.partials
    def _(x: Any) -> Any:
        return x

    with pytest.raises(rg.errors.CustomOpError) as caught:
        rg.compile(lambda x: wrong(x))(X)
    assert said in str(caught.value)


def test_what_python_raises_comes_through(rg: Any) -> None:
    @rg.custom_op(vectorized=True)
    def failing(x: Any) -> Any:
        if len(x) > 1:
            raise KeyError("rows")
        return x

    @failing.partials
    def _(x: Any) -> Any:
        return x

    f = rg.compile(lambda x: failing(x))
    with pytest.raises(KeyError, match="rows"):
        f(X)
    assert f(2.0) == 2.0


def test_its_rule_is_checked_as_any_other(rg: Any) -> None:
    @rg.custom_op(vectorized=True)
    def wave(x: Any, y: Any) -> Any:
        out = np.sin(x)
        out[x > 1.0] = 1.0  # arrays, also for one number
        return out * y

    @wave.partials
    def _(x: Any, y: Any) -> Any:
        return np.cos(x) * y * (x <= 1.0), np.where(x > 1.0, 1.0, np.sin(x))

    assert rg.gradcheck(lambda v: wave(v[0], v[1]) * v[0], [0.5, 2.0]).verdict == "right"
    assert rg.gradcheck(rg.compile(lambda v: wave(v[0], v[1])), [0.5, 2.0]).verdict == "right"
    assert wave(0.5, 2.0) == 2.0 * math.sin(0.5)
    wave._partials = lambda x, y: (np.sin(x) * y, np.sin(x))
    with pytest.raises(rg.errors.GradcheckError):
        rg.gradcheck(lambda v: wave(v[0], v[1]) * v[0], [0.5, 2.0])
