"""Calls of compiled functions on tensors: arguments, guards, names, captured leaves, bad input."""

from __future__ import annotations

import importlib
import sys
import threading
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

A = np.arange(6.0).reshape(2, 3) / 4.0 - 0.5


def annotated(rg: ModuleType, function: Any, **kinds: Any) -> Any:
    function.__annotations__ = {name: kind or rg.Tensor for name, kind in kinds.items()}
    return rg.compile(function)


def test_results_come_in_their_nest(rg: ModuleType) -> None:
    f = annotated(rg, lambda x: {"twice": x * 2.0, "all": [x.sum(), 3.0]}, x=None)
    found = f(A)
    assert np.array_equal(found["twice"], 2.0 * A)
    assert found["all"] == [A.sum(), 3.0]
    found["twice"][0] = 9.0  # the caller's own
    assert np.array_equal(f(A)["twice"], 2.0 * A)


def test_an_argument_or_a_view_may_be_the_result(rg: ModuleType) -> None:
    f = annotated(rg, lambda x: (x, x.T, x[1, ::-1], x[0, 1]), x=None)
    same, turned, back, one = f(A)
    assert np.array_equal(same, A)
    assert np.array_equal(turned, A.T)
    assert np.array_equal(back, A[1, ::-1])
    assert one == A[0, 1]


def test_arrays_of_three_axes_are_tensors_without_an_annotation(rg: ModuleType) -> None:
    f = rg.compile(lambda x: (x * x).sum())
    given = np.arange(8.0).reshape(2, 2, 2)
    value, gradient = f.value_and_grad(given)
    assert value == (given**2).sum()
    assert np.array_equal(gradient, 2.0 * given)


def test_strided_and_other_arrays_are_read_as_they_are(rg: ModuleType) -> None:
    f = annotated(rg, lambda x: (x * np.arange(2.0)).sum(), x=None)
    for given in (A.T, A[:, ::-1].T, A.T.astype(np.float32), A.T.tolist(), (4 * A.T).astype(int)):
        assert f(given) == pytest.approx((np.asarray(given, float) * np.arange(2.0)).sum())


def test_gradients_by_name_and_in_nests(rg: ModuleType) -> None:
    def f(pair: Any, t: Any) -> Any:
        return (pair["w"] * pair["x"][0]).sum() * t

    compiled = annotated(rg, f, pair=dict[str, rg.Tensor])
    given = {"w": A, "x": [A + 1.0]}
    value, (pair, t) = compiled.value_and_grad(given, 3.0)
    assert value == pytest.approx(3.0 * (A * (A + 1.0)).sum())
    assert np.allclose(pair["w"], 3.0 * (A + 1.0))
    assert np.allclose(pair["x"][0], 3.0 * A)
    assert t == pytest.approx((A * (A + 1.0)).sum())
    assert compiled.grad(given, 3.0, wrt="t") == pytest.approx((A * (A + 1.0)).sum())
    with pytest.raises(rg.errors.CompileError, match="its arguments are pair, t"):
        compiled.grad(given, 3.0, wrt="q")


def test_whole_numbers_are_those_of_the_call(rg: ModuleType) -> None:
    table = rg.Tensor(np.arange(12.0).reshape(4, 3))

    def f(n: Any) -> Any:
        return (table[n[:-1]] * table[n[1:]]).sum() + table[n[0], 1]

    compiled = annotated(rg, f, n=np.ndarray)
    for n in (np.array([0, 3, 2]), np.array([1, -1, 0]), np.array([2, 2, 2])):
        table.grad = None
        wanted = f(n)
        wanted.backward()
        eager, table.grad = np.array(table.grad), None
        assert compiled.backward(n) == pytest.approx(wanted.data)
        assert np.allclose(table.grad, eager)
    for wrong in (4, -5):
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds"):
            compiled(np.array([0, wrong, 1]))
    with pytest.raises(rg.errors.CompileError, match=r"Annotate it as rg\.Tensor"):
        compiled(np.array([0.0, 1.0, 2.0]))


def test_conditions_lead_every_call_its_own_way(rg: ModuleType) -> None:
    def f(x: Any) -> Any:
        if (x > 0).all():
            return x.sum()
        if x.max() > 1.0 and not (x < -2.0).any():
            return (x * x).sum()
        return rg.where(x > 0.0, x, -2.0 * x).sum()

    compiled = annotated(rg, f, x=None)
    rng = np.random.default_rng(1)
    for _ in range(12):
        given = rng.standard_normal(3) * 2.0 + rng.standard_normal()
        x = rg.Tensor(given)
        wanted = f(x)
        wanted.backward()
        value, gradient = compiled.value_and_grad(given)
        assert value == pytest.approx(wanted.data)
        assert np.allclose(gradient, x.grad)
    assert "guard" in compiled.explain()


def test_nan_takes_the_way_that_python_takes(rg: ModuleType) -> None:
    f = annotated(rg, lambda x: x.sum() if (x > 0).all() else (x * 2.0).sum(), x=None)
    assert f(np.ones(2)) == 2.0
    assert np.isnan(f(np.array([1.0, np.nan])))
    assert f(np.array([-1.0, 1.0])) == 0.0


def test_captured_leaves_are_read_at_every_call(rg: ModuleType) -> None:
    w, v = rg.Tensor(A), rg.Value(2.0)
    f = annotated(rg, lambda x: (w * x).sum() * v, x=None)
    assert f(A) == pytest.approx(2.0 * (A * A).sum())
    rg.assign(w, A + 1.0)
    v.data = 3.0
    assert f(A) == pytest.approx(3.0 * ((A + 1.0) * A).sum())
    assert f.backward(A) == f(A)
    assert np.allclose(w.grad, 3.0 * A)
    assert v.grad == pytest.approx(((A + 1.0) * A).sum())
    f.backward(A)
    assert np.allclose(w.grad, 6.0 * A)  # added
    w.requires_grad = False
    before = np.array(w.grad)
    f.backward(A)
    assert np.array_equal(w.grad, before)
    assert v.grad == pytest.approx(3 * ((A + 1.0) * A).sum())


def test_hooks_see_the_gradient_first(rg: ModuleType) -> None:
    w = rg.Tensor(A)
    f = annotated(rg, lambda x: (w * x).sum(), x=None)
    f.backward(A)
    w.grad = None
    w.register_hook(lambda gradient: 10.0 * gradient)
    f.backward(A)
    assert np.allclose(w.grad, 10.0 * A)


def test_rebound_names_are_seen(rg: ModuleType) -> None:
    scale = [2.0]

    def f(x: Any) -> Any:
        return (x * scale[0]).sum()

    compiled = annotated(rg, f, x=None)
    assert compiled(A) == pytest.approx(2.0 * A.sum())
    assert compiled(A) == pytest.approx(2.0 * A.sum())
    scale[0] = 5.0
    assert compiled(A) == pytest.approx(5.0 * A.sum())


def test_other_shapes_are_recorded_and_many_are_named(rg: ModuleType) -> None:
    f = annotated(rg, lambda x: (x * x).sum(), x=None)
    for length in range(1, 16):
        assert f(np.full(length, 2.0)) == 4.0 * length
    with pytest.warns(rg.errors.RecordingWarning, match="16 different shapes"):
        f(np.ones(16))
    f(np.ones(17))
    assert "17 kind(s) of arguments" in f.explain()


def test_empty_arrays_give_what_tensors_give(rg: ModuleType) -> None:
    def f(x: Any) -> Any:
        return (x * 2.0).sum() + (x @ np.ones(3)).sum() + rg.concatenate([x, x]).sum()

    compiled = annotated(rg, f, x=None)
    empty = np.ones((0, 3))
    value, gradient = compiled.value_and_grad(empty)
    assert value == f(rg.Tensor(empty)).data == 0.0
    assert gradient.shape == (0, 3)


def test_no_gradient_passes_what_is_stopped(rg: ModuleType) -> None:
    def f(x: Any) -> Any:
        with rg.no_grad():
            still = x * 3.0
        return (x * still + x.detach()).sum()

    compiled = annotated(rg, f, x=None)
    assert np.allclose(compiled.grad(A), 3.0 * A)


def test_births_are_named_under_anomaly(rg: ModuleType) -> None:
    f = annotated(rg, lambda x: rg.log(x).sum(), x=None)
    with rg.anomaly(), pytest.raises(rg.errors.AnomalyError, match="log"):
        f(np.array([1.0, -1.0]))
    assert np.isnan(f(np.array([1.0, -1.0])))


def test_threads_run_one_function_at_a_time_or_together(rg: ModuleType) -> None:
    f = annotated(rg, lambda x: (rg.tanh(x @ x.T)).sum(), x=None)
    given = [np.random.default_rng(n).standard_normal((30, 30)) for n in range(4)]
    wanted = [f(x) for x in given]
    found: list[Any] = [None] * 4

    def work(number: int) -> None:
        for _ in range(20):
            found[number] = f(given[number])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == wanted


REFUSED = {
    "data": (lambda rg, x: x.data.sum() * x.sum(), "RecordingError", "rg.where"),
    "item": (lambda rg, x: x[0, 0] * x[0, 0].item(), "RecordingError", "record"),
    "mask": (lambda rg, x: x[x > 0].sum(), "RecordingError", "rg.where(t > 0, a, b)"),
    "part of argsort": (lambda rg, x: x.ravel()[x.ravel().argsort()[:2]].sum(), "RecordingError",
                        "np.take_along_axis"),
    "argmax as a number": (lambda rg, x: x.sum() * int(x.argmax()), "RecordingError", "rg.where"),
    "argmax of a longer axis": (lambda rg, x: x[x.argmin(axis=1), 0].sum(), "RecordingError",
                                "an axis of length 2"),
    "backward": (lambda rg, x: (x * x).sum().backward(), "RecordingError", "value_and_grad"),
    "truth of many": (lambda rg, x: x if x > 0 else -x, "TensorError", "any"),
    "print": (lambda rg, x: float(str(x)[8:10]) * x.sum(), "RecordingError", "record"),
    "nothing": (lambda rg, x: None, "FunctionResultError", "return"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_cannot_be_replayed_is_refused(rg: ModuleType, name: str) -> None:
    function, error, cure = REFUSED[name]
    f = annotated(rg, lambda x: function(rg, x), x=None)
    with pytest.raises(getattr(rg.errors, error)) as caught:
        f(A)
    assert cure in str(caught.value)
    assert not rg.value.core.in_recording()


def test_gradients_are_those_of_one_number(rg: ModuleType) -> None:
    with pytest.raises(rg.errors.FunctionResultError, match="Return its sum"):
        annotated(rg, lambda x: x * x, x=None).grad(A)


def test_functions_on_values_stay_as_they_are(rg: ModuleType) -> None:
    f = rg.compile(lambda x, y: x * y + 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(f(np.arange(3.0), 2.0), 2.0 * np.arange(3.0) + 1.0)
    assert not f._tensors.families


def test_a_compiled_function_is_part_of_another(rg: ModuleType) -> None:
    inner = annotated(rg, lambda x: rg.tanh(x), x=None)
    outer = annotated(rg, lambda x: (inner(x) * x).sum(), x=None)
    x = rg.Tensor(A)
    wanted = (rg.tanh(x) * x).sum()
    wanted.backward()
    value, gradient = outer.value_and_grad(A)
    assert value == pytest.approx(wanted.data)
    assert np.allclose(gradient, x.grad)


def test_products_with_the_hessian_agree_with_differences(rg: ModuleType) -> None:
    w = rg.Tensor(A)

    def f(x: Any, t: Any) -> Any:
        return (rg.tanh(x * w) @ x.T).sum() * t + rg.softmax(x * t, axis=1).max(axis=1).sum()

    compiled = annotated(rg, f, x=None)
    along = (A[::-1] + 0.25, 0.5)
    found = compiled.hvp(A + 0.1, 0.7, vector=along)
    step = 1e-6
    plus = compiled.grad(A + 0.1 + step * along[0], 0.7 + step * along[1])
    minus = compiled.grad(A + 0.1 - step * along[0], 0.7 - step * along[1])
    for product, high, low in zip(found, plus, minus):
        assert np.allclose(product, (np.asarray(high) - np.asarray(low)) / (2 * step), atol=1e-6)
    alone = compiled.hvp(A, 0.7, vector=A, wrt="x")
    assert alone.shape == A.shape
    with pytest.raises(rg.errors.CompileError, match="shapes of the arguments"):
        compiled.hvp(A, 0.7, vector=A.T, wrt="x")


def test_many_axes_take_the_long_way(rg: ModuleType) -> None:
    shape = (2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1)
    other = tuple(3 - n for n in shape)
    f = annotated(rg, lambda x, y: rg.tanh(x * y).sum(), x=None, y=None)
    x, y = np.arange(1024.0).reshape(shape) / 1024.0, np.arange(1024.0).reshape(other) / 512.0
    value, (slope, _) = f.value_and_grad(x, y)
    assert value == pytest.approx(np.tanh(x * y).sum())
    wanted = (y * (1.0 - np.tanh(x * y) ** 2)).sum(axis=tuple(range(1, 20, 2)), keepdims=True)
    assert np.allclose(slope, wanted)


def test_values_and_tensors_stand_in_one_program(rg: ModuleType) -> None:
    w, v = rg.Tensor(A), [rg.Value(0.5), rg.Value(-2.0)]

    def f(t: Any) -> Any:
        parts = rg.sum([t, 2.0 * v[0], 3.0]) + rg.dot([t, v[0], 1.0], [v[1], t, t])
        return (w * t).sum() * parts + rg.stack([t, v[0], t * v[1]]).max()

    compiled = rg.compile(f)
    t = rg.Value(0.7)
    wanted = f(t)
    wanted.backward()
    value, slope = compiled.value_and_grad(0.7)
    assert (value, slope) == (pytest.approx(wanted.data), pytest.approx(t.grad))
    eager = [np.array(w.grad), v[0].grad, v[1].grad]
    rg.zero_grad([w, *v])
    compiled.backward(0.7)
    for found, one in zip((w.grad, v[0].grad, v[1].grad), eager):
        assert np.allclose(found, one)


def test_second_derivatives_are_those_of_tensors(rg: ModuleType) -> None:
    w = rg.Tensor(A)

    def f(x: Any, t: Any) -> Any:
        return (rg.tanh(x * w) @ x.T).sum() * t * t

    compiled = annotated(rg, f, x=None)
    found = compiled.hessian(A, 0.7, wrt="x")
    wanted = rg.hessian(lambda x: f(x, 0.7))(A)
    wanted = (
        wanted.data if hasattr(wanted, "data") and not isinstance(wanted, np.ndarray) else wanted
    )
    assert found.shape == (2, 3, 2, 3)
    assert np.allclose(found, np.asarray(wanted))
    (both, _), (_, alone) = compiled.hessian(A, 0.7)
    assert np.allclose(both, found)
    assert alone == pytest.approx(2.0 * compiled(A, 1.0))


# ---- calls made before -----------------------------------------------------------------------


def test_a_call_that_failed_leaves_nothing_for_another(rg: Any) -> None:
    """By name it is not found again; what was asked before it must not be taken for it."""
    compiled = annotated(rg, lambda x: x * 2.0, x=rg.Tensor)
    for _ in range(2):
        with pytest.raises(rg.errors.FunctionResultError, match=r"Return its sum\(\)"):
            compiled.value_and_grad(np.ones(3))
        assert compiled(x=np.ones(3)).tolist() == [2.0, 2.0, 2.0]


def test_threads_call_with_shapes_of_one_size(rg: Any) -> None:
    compiled = annotated(rg, lambda x: x.sum(axis=0), x=rg.Tensor)
    arrays = [np.arange(12.0).reshape(shape) for shape in ((3, 4), (4, 3), (2, 6), (6, 2), (1, 12))]
    wrong: list[Any] = []

    def work(first: int) -> None:
        for turn in range(40):
            array = arrays[(first + turn) % len(arrays)]
            try:
                found = compiled(array)
                if not np.array_equal(found, array.sum(axis=0)):
                    wrong.append((array.shape, found))
            except Exception as error:
                wrong.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(n,)) for n in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


def test_rows_annotated_as_numpy_arrays_stay_rows(rg: Any) -> None:
    compiled = annotated(rg, lambda S, K: rg.maximum(S - K, 0.0), S=np.ndarray, K=float)
    S = np.array([1.0, 2.0, 3.0])
    for _ in range(2):
        assert compiled(S, 1.5).tolist() == [0.0, 0.5, 1.5]
        value, slope = compiled.value_and_grad(S, 1.5, wrt="S")
        assert (value.tolist(), slope.tolist()) == ([0.0, 0.5, 1.5], [0.0, 1.0, 1.0])


def test_settings_that_make_no_sense_are_told(rg: Any) -> None:
    compiled = annotated(rg, lambda x: (x * x).sum(), x=rg.Tensor)
    with pytest.raises(rg.errors.CompileError, match="is no whole number; None is all cores"):
        compiled(np.ones(3), threads="two")
    with pytest.raises(rg.errors.CompileError, match=r"wrt names '\['x'\]'"):
        compiled.value_and_grad(np.ones(3), wrt=["x"])
    assert compiled(np.ones(3), threads=2) == 3.0


def test_shapes_that_do_not_fit_are_told_without_lines_of_ours(rg: Any) -> None:
    compiled = annotated(rg, lambda x, w: (x @ w).sum(), x=rg.Tensor, w=rg.Tensor)
    with pytest.raises(rg.errors.FitError) as caught:
        compiled(np.ones((2, 4)), np.ones((3, 2)))
    assert "'x' of shape (2, 4)" in str(caught.value)
    assert "/program/shaped/" not in str(caught.value)


def test_memory_past_the_limit_is_refused_before_it_is_taken(
    rg: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = importlib.import_module(f"{rg.__name__}.program.shaped.memory")
    f = annotated(rg, lambda x: rg.tanh(x[:, None] * x).sum(), x=None)
    monkeypatch.setattr(memory, "limit", 8 * 50 * 50)
    assert np.isfinite(f(np.ones(20)))
    with pytest.raises(rg.errors.CompileError, match="It is not made"):
        f.hessian(np.ones(60))
    with pytest.raises(rg.errors.CompileError, match="would take 28,800 bytes"):
        f(np.ones(60))


def test_kinds_of_arguments_past_the_most_make_room(
    rg: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = importlib.import_module(f"{rg.__name__}.program.shaped.leading")
    monkeypatch.setattr(calls, "MOST_FAMILIES", 3)
    f = annotated(rg, lambda x: (x * x).sum(), x=None)
    for length in (1, 2, 3, 1, 4, 5, 1):
        assert f(np.ones(length)) == length
    assert len(f._tensors.families) == 3
    assert [key[2][0][2] for key in f._tensors.families] == [(4,), (5,), (1,)]
