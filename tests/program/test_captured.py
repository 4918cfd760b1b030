"""What a function uses from outside: captured leaves, closure cells, globals, containers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from .support import same

X = np.array([0.5, 1.5, -2.0, 3.0])

RATE: Any = 2.0


# ---- leaves --------------------------------------------------------------------------------------


def test_a_captured_leaf_is_read_afresh_at_each_run(rg: Any) -> None:
    calls = []
    w = rg.Value(2.0)

    @rg.compile
    def f(x: Any) -> Any:
        calls.append(1)
        return w * x

    for number in (2.0, -3.0, 0.0, math.inf):
        w.data = number
        assert same(f(np.ones(3)), np.full(3, number))
        assert f(1.0) == number
    assert len(calls) == 2  # one with rows, one without


def test_gradients_read_captured_leaves_afresh(rg: Any) -> None:
    w = rg.Value(2.0)
    f = rg.compile(lambda x: w * x**2)
    assert same(f.grad(X), 4 * X)
    w.data = 5.0
    assert same(f.grad(X), 10 * X)
    assert f.backward(X) == 5.0 * (X**2).sum()
    assert w.grad == (X**2).sum()


def test_frozen_leaves_are_read_afresh_too(rg: Any) -> None:
    frozen = rg.Value(2.0, requires_grad=False)
    detached = (rg.Value(3.0) * 1).detach()
    f = rg.compile(lambda x: frozen * x + detached + frozen * detached)
    assert same(f(X), 2 * X + 9)
    frozen.data, detached.data = 5.0, 7.0
    assert same(f(X), 5 * X + 42)


def test_bulk_assignment_and_in_place_steps_are_seen(rg: Any) -> None:
    ws = [rg.Value(float(k)) for k in range(3)]
    f = rg.compile(lambda x: rg.dot(ws, [x, x * x, 1.0]))
    assert same(f(X), X * X + 2)
    rg.assign(ws, np.array([5.0, 0.0, -1.0]))
    assert same(f(X), 5 * X - 1)


def test_a_leaf_used_in_many_places_is_one_input(rg: Any) -> None:
    w = rg.Value(2.0, label="w")
    f = rg.compile(lambda x: w * x + w / x - w)
    f(X)
    (trace,) = f.traces
    assert [given.name for given in trace.program.inputs.values() if given.kind == "captured"] == [
        "w"
    ]
    assert trace.captured == [w]


def test_leaves_are_named_by_their_labels_or_counted(rg: Any) -> None:
    a, b = rg.Value(1.0, label="alpha"), rg.Value(2.0)
    f = rg.compile(lambda x: a * x + b)
    f(X)
    text = f.explain()
    assert "captured alpha" in text
    assert "captured captured 2" in text


def test_leaves_inside_containers_and_objects(rg: Any) -> None:
    class Model:
        def __init__(self) -> None:
            self.layers = {"w": [rg.Value(2.0), rg.Value(3.0)]}

    model = Model()
    f = rg.compile(lambda x: model.layers["w"][0] * x + model.layers["w"][1])
    assert same(f(X), 2 * X + 3)
    model.layers["w"][1].data = 10.0
    assert same(f(X), 2 * X + 10)


def test_only_the_leaves_a_function_uses_are_captured(rg: Any) -> None:
    used, unused = rg.Value(1.0), rg.Value(2.0)

    @rg.compile
    def f(x: Any) -> Any:
        _ = unused * x
        return used * x

    f(X)
    assert f.traces[0].captured == [used]


def test_a_leaf_of_a_subclass(rg: Any) -> None:
    class Parameter(rg.Value):  # type: ignore[misc, name-defined]
        pass

    w = Parameter(2.0)
    f = rg.compile(lambda x: w * x)
    assert same(f(X), 2 * X)
    f.backward(X)
    assert w.grad == X.sum()


# ---- names ---------------------------------------------------------------------------------------


def counted(rg: Any, make: Any) -> tuple[Any, list[int]]:
    """A compiled function, and a list that grows with each recording."""
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        return make(x)

    return rg.compile(f), calls


def test_a_rebound_closure_cell_is_recorded_anew(rg: Any) -> None:
    rate = 2.0

    @rg.compile
    def f(x: Any) -> Any:
        return x * rate

    assert same(f(X), X * 2)
    rate = 3.0
    assert same(f(X), X * 3)
    assert same(f.grad(X), np.full(4, 3.0))
    rate = rg.Value(4.0)
    assert same(f(X), X * 4)


def test_a_rebound_global_is_recorded_anew(rg: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    f = rg.compile(lambda x: x * RATE)
    assert same(f(X), X * 2)
    monkeypatch.setitem(globals(), "RATE", 5.0)
    assert same(f(X), X * 5)
    monkeypatch.setitem(globals(), "RATE", rg.Value(7.0))
    assert same(f(X), X * 7)


def test_names_inside_nested_functions_and_comprehensions_count(
    rg: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = rg.compile(lambda x: rg.sum([(lambda v: v * RATE)(x) for _ in range(2)]))
    assert same(f(X), X * 4)
    monkeypatch.setitem(globals(), "RATE", 5.0)
    assert same(f(X), X * 10)


def test_a_rebound_helper_is_recorded_anew(rg: Any) -> None:
    def one(x: Any) -> Any:
        return x + 1

    def two(x: Any) -> Any:
        return x + 2

    helper = one
    f = rg.compile(lambda x: helper(x))
    assert same(f(X), X + 1)
    helper = two
    assert same(f(X), X + 2)


def test_an_unbound_cell_that_is_bound_later(rg: Any) -> None:
    @rg.compile
    def f(x: Any) -> Any:
        return x * later if x > 0 else -x

    with pytest.raises(NameError):
        f(np.ones(2))
    later = 3.0
    assert same(f(np.ones(2)), np.full(2, later))


def test_the_same_names_record_once(rg: Any) -> None:
    f, calls = counted(rg, lambda x: x * RATE)
    for _ in range(5):
        f(X)
        f.grad(X)
    assert len(calls) == 1


def test_a_rebound_captured_leaf_is_the_new_one(rg: Any) -> None:
    w = rg.Value(2.0)
    f = rg.compile(lambda x: w * x)
    assert f.backward(X) == (2 * X).sum()
    old, w = w, rg.Value(3.0)
    assert f.backward(X) == (3 * X).sum()
    assert (old.grad, w.grad) == (X.sum(), X.sum())


def test_numbers_inside_containers_are_seen_where_their_place_is_constant(rg: Any) -> None:
    settings = {"scale": 2.0, "weight": rg.Value(3.0)}
    f = rg.compile(lambda x: x * settings["scale"] + settings["weight"])
    assert same(f(X), 2 * X + 3)
    settings["scale"] = 100.0
    settings["weight"].data = 4.0
    assert same(f(X), 100 * X + 4)
    settings = {"scale": 5.0, "weight": rg.Value(1.0)}
    assert same(f(X), 5 * X + 1)


# ---- values computed outside ---------------------------------------------------------------------


def test_a_captured_interior_value_raises_and_names_the_cure(rg: Any) -> None:
    outside = rg.Value(2.0) * 3
    for function in (
        lambda x: outside * x, lambda x: [x, outside], lambda x: x if outside > 0 else -x,
        lambda x: rg.where(outside > 0, x, -x), lambda x: rg.sum([x, outside]),
    ):  # fmt: skip
        with pytest.raises(rg.errors.RecordingError) as caught:
            rg.compile(function)(X)
        assert "the function uses a result of mul, which was computed outside" in str(caught.value)
        assert "Pass it in as an argument, or detach() it outside." in str(caught.value)
        assert "outside = rg.Value(2.0) * 3" in str(caught.value)


def test_a_labelled_interior_value_is_named(rg: Any) -> None:
    outside = rg.Value(2.0).exp()
    outside.label = "rate"
    with pytest.raises(rg.errors.RecordingError, match="uses 'rate', which was computed outside"):
        rg.compile(lambda x: outside * x)(X)


def test_detached_outside_it_is_a_leaf(rg: Any) -> None:
    detached = (rg.Value(2.0) * 3).detach()
    assert same(rg.compile(lambda x: detached * x)(X), 6 * X)
    with rg.no_grad():
        quiet = rg.Value(2.0) * 4
    assert same(rg.compile(lambda x: quiet * x)(X), 8 * X)
