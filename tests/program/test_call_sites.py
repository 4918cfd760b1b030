"""Call sites: steady calls take few Python calls, and give what the long way gives."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from .support import CASES, MOST_CALLS, bits, black_scholes, flat, numbers, python_calls, same

ONE = (100.0, 95.0, 0.03, 0.2, 1.0)
ROWS = (
    numbers(500, 60.0, 140.0, 1),
    numbers(500, 80.0, 120.0, 2),
    0.03,
    0.2,
    numbers(500, 0.2, 2.0),
)


@contextmanager
def the_long_way() -> Any:
    """Without sites."""
    from retrograde.program.callsites import MISS, CallSites

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CallSites, "find", lambda self, asked, args: MISS)
        yield


STEADY: dict[str, Callable[..., Any]] = {
    "value": lambda f, args: f(*args),
    "value and gradients": lambda f, args: f.value_and_grad(*args),
    "gradients": lambda f, args: f.grad(*args),
    "some": lambda f, args: f.value_and_grad(*args, wrt=("T", "S")),
    "one": lambda f, args: f.value_and_grad(*args, wrt="sigma"),
    "the sum": lambda f, args: f.value_and_grad(*args, reduce="sum"),
    "the mean": lambda f, args: f.value_and_grad(*args, reduce="mean"),
    "in one thread": lambda f, args: f.value_and_grad(*args, threads=1),
}


@pytest.mark.parametrize("args", [ONE, ROWS], ids=["one row", "arrays"])
@pytest.mark.parametrize("how", STEADY)
def test_a_steady_call_takes_few_python_calls(native: Any, how: str, args: Any) -> None:
    f = native.compile(black_scholes(native))
    for _ in range(2):
        STEADY[how](f, args)
    assert python_calls(lambda: STEADY[how](f, args)) <= MOST_CALLS


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("rows", [1, 5, 3000, 20_000])
@pytest.mark.parametrize("reduce", [None, "sum", "mean"])
def test_it_has_the_bits_of_the_long_way(native: Any, name: str, rows: int, reduce: Any) -> None:
    case = CASES[name]
    f = native.compile(case.make(native))
    args = tuple(case.columns(rows).values())
    calls = (
        lambda: f(*args), lambda: f.value_and_grad(*args, reduce=reduce),
        lambda: f.grad(*args, wrt=next(iter(case.columns(1))), reduce=reduce),
    )  # fmt: skip
    with the_long_way():
        expected = [flat(call()) for call in calls]
    for _ in range(2):
        for wanted, call in zip(expected, calls):
            got = flat(call())
            assert len(got) == len(wanted)
            for one, other in zip(got, wanted):
                assert type(one) is type(other)
                assert np.shape(one) == np.shape(other)
                assert (bits(one) == bits(other)).all()


def line(native: Any) -> Any:
    f = native.compile(lambda x, w: x * w + 1.0)
    f(2.0, 3.0), f(np.array([1.0, 2.0]), 3.0)
    return f


KINDS: dict[str, tuple[Any, Any]] = {
    "whole numbers": ((2, 3), 7.0),
    "a bool": ((True, 3.0), 4.0),
    "a number of NumPy": ((np.float64(2.0), 3.0), 7.0),
    "another number of NumPy": ((np.float32(2.0), np.int8(3)), 7.0),
    "an array without axes": ((np.array(2.0), 3.0), 7.0),
    "rows": ((np.array([2.0, 4.0]), 3.0), [7.0, 13.0]),
    "rows of float32": ((np.array([2.0, 4.0], dtype=np.float32), 3.0), [7.0, 13.0]),
    "rows of integers": ((np.array([2, 4]), 3.0), [7.0, 13.0]),
    "rows in another byte order": ((np.array([2.0, 4.0], dtype=">f8"), 3.0), [7.0, 13.0]),
    "rows that lie apart": ((np.array([2.0, 9.0, 4.0, 9.0])[::2], 3.0), [7.0, 13.0]),
    "rows backwards": ((np.array([4.0, 2.0])[::-1], 3.0), [7.0, 13.0]),
    "one number for many rows": ((np.broadcast_to(2.0, 2), 3.0), [7.0, 7.0]),
    "rows and rows": ((np.array([2.0, 4.0]), np.array([3.0, 1.0])), [7.0, 5.0]),
    "no rows": ((np.zeros(0), 3.0), []),
    "a read-only array": ((np.frombuffer(np.array([2.0]).tobytes()), 3.0), [7.0]),
}


@pytest.mark.parametrize("name", KINDS)
def test_arguments_of_every_kind(native: Any, name: str) -> None:
    f, (args, expected) = line(native), KINDS[name]
    for _ in range(3):
        assert same(f(*args), expected)


def test_huge_whole_numbers_are_refused_as_before(native: Any) -> None:
    with pytest.raises(OverflowError):
        line(native)(10**400, 3.0)


def test_arguments_that_do_not_fit_say_so_as_before(native: Any) -> None:
    f = line(native)
    with pytest.raises(native.errors.RowsError, match="2 rows"):
        f(np.ones(2), np.ones(3))
    with pytest.raises(native.errors.CompileError, match="missing a required argument"):
        f(2.0)
    with pytest.raises(native.errors.CompileError, match="wrt names"):
        f.value_and_grad(2.0, 3.0, wrt=[["x"]])
    with pytest.raises(native.errors.CompileError, match="no whole number"):
        f(2.0, 3.0, threads="all")
    with pytest.raises(native.errors.RowsError):
        f("2", 3.0)


def test_by_name_and_with_a_default(native: Any) -> None:
    f = native.compile(lambda x, w=3.0: x * w)
    for _ in range(3):
        assert (f(2.0), f(x=2.0), f(2.0, w=5.0), f(2.0, 5.0)) == (6.0, 6.0, 10.0, 10.0)


def test_arguments_by_name_take_few_calls_in_any_order(native: Any) -> None:
    f = native.compile(black_scholes(native))
    names = dict(zip("S K r sigma T".split(), ONE))
    expected = f.value_and_grad(*ONE)
    mixed = {name: names[name] for name in ("T", "r", "sigma")}
    for _ in range(2):
        assert f.value_and_grad(**names) == expected
        assert f.value_and_grad(*ONE[:2], **mixed) == expected
    assert python_calls(lambda: f.value_and_grad(*ONE[:2], **mixed)) <= MOST_CALLS
    with pytest.raises(native.errors.CompileError, match="multiple values"):
        f.value_and_grad(*ONE[:3], **mixed)
    with pytest.raises(native.errors.CompileError, match=r"unexpected keyword|missing"):
        f.value_and_grad(*ONE[:4], t=1.0)


def test_arguments_that_only_go_by_name_or_by_order(native: Any) -> None:
    def f(x: Any, /, y: Any, *, z: Any) -> Any:
        return x + 10.0 * y + 100.0 * z

    g = native.compile(f)
    for _ in range(3):
        assert g(1.0, 2.0, z=3.0) == g(1.0, z=3.0, y=2.0) == 321.0
        with pytest.raises(native.errors.CompileError):
            g(1.0, 2.0, 3.0)
        with pytest.raises(native.errors.CompileError):
            g(x=1.0, y=2.0, z=3.0)


RATE = 2.0


def test_a_name_that_is_rebound_is_seen(native: Any) -> None:
    global RATE
    f = native.compile(lambda x: x * RATE)
    for rate in (2.0, 3.0, 2.0, 4.0):
        RATE = rate
        for _ in range(3):
            assert f(5.0) == 5.0 * rate
            assert f.grad(5.0) == rate


def test_the_numbers_of_captured_leaves_are_read_at_each_call(native: Any) -> None:
    w = native.Value(2.0)
    f = native.compile(lambda x: x * w)
    for data in (2.0, 3.0, -1.0):
        w.data = data
        assert (f(5.0), f.grad(5.0)) == (5.0 * data, data)


def test_rows_that_go_another_way_are_led_there(native: Any) -> None:
    f = native.compile(lambda x: x * 2.0 if x > 0.0 else -x)
    assert [f(1.0), f(1.0), f(-3.0), f(1.0), f(-3.0)] == [2.0, 2.0, 3.0, 2.0, 3.0]
    rows = np.array([1.0, 2.0])

    @native.compile
    def g(x: Any) -> Any:
        if x > 0.0:
            return x * 2.0
        return -x

    for given in (rows, rows, -rows, rows * [1.0, -1.0], rows):
        assert same(g(given), np.where(given > 0.0, given * 2.0, -given))
    assert sum(trace.rows for trace in g.traces) == 10


def test_rows_are_counted(native: Any) -> None:
    f = native.compile(lambda x: x * 2.0)
    for _ in range(5):
        f(np.ones(7))
    f(1.0)
    f(1.0)
    assert sum(trace.rows for trace in f.traces) == 37


def test_refresh_forgets_them(native: Any) -> None:
    rates = [1.0, 2.0]
    f = native.compile(lambda x: x * sum(rates))
    assert [f(10.0), f(10.0)] == [30.0, 30.0]
    rates.append(4.0)
    f.refresh()
    assert [f(10.0), f(10.0)] == [70.0, 70.0]


def test_anomaly_mode_looks_at_steady_calls_too(native: Any) -> None:
    f = native.compile(lambda x: native.log(x))
    assert f(1.0) == f(1.0) == 0.0
    with native.anomaly(), pytest.raises(native.errors.AnomalyError):
        f(-1.0)
    assert math.isnan(f(-1.0))


def test_inside_a_recording_it_is_the_function_itself(native: Any) -> None:
    f = native.compile(lambda x: x * 3.0)
    f(1.0), f(1.0)
    g = native.compile(lambda x: f(x) + f.value_and_grad(2.0)[0] * 0.0)
    with pytest.raises(native.errors.RecordingError, match="replayed inside another recording"):
        g(2.0)
    assert native.compile(lambda x: f(x) + 1.0)(2.0) == 7.0
    value = f(native.Value(2.0))
    assert value.data == 6.0


def test_a_take_out_of_range_is_refused_again_and_again(native: Any) -> None:
    f = native.compile(lambda i: native.take([1.0, 2.0], i) * 3.0)
    for index in (1.0, 1.0, 2.0, 0.0, 5.0):
        if index < 2.0:
            assert f(index) == 3.0 * (index + 1.0)
        else:
            with pytest.raises(native.errors.TakeError):
                f(index)


def test_results_in_nests_and_in_arrays(native: Any) -> None:
    f = native.compile(lambda x: {"a": x * 2.0, "b": (x, x + 1.0)})
    g = native.compile(lambda x: np.array([x * 2.0, x + 1.0, x]))
    rows = np.array([1.0, 2.0, 3.0])
    for _ in range(3):
        assert f(2.0) == {"a": 4.0, "b": (2.0, 3.0)}
        assert same(f(rows)["b"][1], rows + 1.0)
        assert same(g(rows), np.stack([rows * 2.0, rows + 1.0, rows], axis=1))
        assert same(g(2.0), [4.0, 3.0, 2.0])


def test_results_do_not_share_memory(native: Any) -> None:
    f = native.compile(lambda x, y: x * y)
    x, y = np.ones(50), np.full(50, 2.0)
    f.value_and_grad(x, y)
    value, (by_x, by_y) = f.value_and_grad(x, y)
    again, _ = f.value_and_grad(x * 3.0, y)
    assert same(value, y)
    assert not any(np.shares_memory(value, other) for other in (by_x, by_y, again))


def test_a_loaded_function_has_them_too(native: Any, tmp_path: Any) -> None:
    w = native.Value(2.0, label="w")
    f = native.compile(lambda x: x * w)
    f(1.0)
    f.save(tmp_path / "f.rgp")
    loaded = native.load(tmp_path / "f.rgp")
    assert [loaded(3.0), loaded(3.0)] == [6.0, 6.0]
    loaded.set_parameters({"w": 5.0})
    assert [loaded(3.0), loaded.grad(3.0)] == [15.0, 5.0]
    assert python_calls(lambda: loaded.grad(3.0)) <= MOST_CALLS


def test_many_kinds_of_arguments_keep_few_sites(native: Any) -> None:
    f = native.compile(lambda xs: xs[0] * 2.0)
    for width in [*range(1, 40), 3, 4]:
        assert same(f(np.full((2, width), 3.0)), [6.0, 6.0])


def test_several_threads_at_once(native: Any) -> None:
    f = native.compile(lambda x, y: native.exp(x) * y if x > -50.0 else y)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        for turn in range(200):
            rows = 1 + (turn * seed) % 1500
            x, y = numbers(rows, seed=turn), float(turn)
            value, (_, by_y) = f.value_and_grad(x, y)
            if not same(value, by_y * y):
                wrong.append((seed, turn))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong
