"""Recordings that grow without end or multiply say so early; ``rg.scan``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest


def limits(rg: Any, monkeypatch: pytest.MonkeyPatch, many: int, most: int) -> None:
    """Recordings that say where they are after a few operations."""
    from importlib import import_module

    record = import_module(f"{rg.__name__}.program.record")
    value = import_module(f"{rg.__name__}.value")
    monkeypatch.setattr(record, "MANY_OPERATIONS", many)
    monkeypatch.setattr(record, "MOST_OPERATIONS", most)
    value.core.tell_of(many, record._tell)


@pytest.fixture(autouse=True)
def _restored(rg: Any) -> Any:
    yield
    from importlib import import_module

    record = import_module(f"{rg.__name__}.program.record")
    import_module(f"{rg.__name__}.value").core.tell_of(record.MANY_OPERATIONS, record._tell)


def test_a_long_recording_says_where_it_is(rg: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    limits(rg, monkeypatch, 100, 10_000)

    def long(x: Any) -> Any:
        for _ in range(200):
            x = x * 0.5  # this line
        return x

    with pytest.warns(UserWarning, match="made 100 operations at .*this line") as caught:
        assert rg.compile(long)(1.0) == 0.5**200
    assert len(caught) == 1
    assert all(cure in str(caught[0].message) for cure in ("rg.scan", "rg.where"))


def test_a_recording_without_end_stops(rg: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    limits(rg, monkeypatch, 100, 1000)

    def endless(x: Any) -> Any:
        while x < 2.0:
            x = x * 0.5
        return x

    compiled = rg.compile(endless)
    with (
        pytest.warns(UserWarning, match="made 100 operations"),
        pytest.raises(Exception, match="stopped after 1,000") as caught,
    ):
        compiled(1.0)
    assert type(caught.value).__name__ == "RecordingError"
    assert "while x < 2.0" in str(caught.value) or "x = x * 0.5" in str(caught.value)
    assert "rg.scan" in str(caught.value)
    assert compiled(4.0) == 4.0  # the next recording begins anew


def test_a_while_without_end_stops_at_its_decisions(rg: Any, monkeypatch: Any) -> None:
    from importlib import import_module

    limits(rg, monkeypatch, 100, 10_000)
    monkeypatch.setattr(import_module(f"{rg.__name__}.program.record"), "MOST_DECISIONS", 200)

    def endless(x: Any) -> Any:
        while x < 2.0:
            x = x * 0.5
        return x

    with (
        pytest.warns(UserWarning, match="or after 200 decisions") as caught,
        pytest.raises(Exception, match=r"stopped after 2\d\d decisions at .*\n?.*endless"),
    ):
        rg.compile(endless)(1.0)
    assert len(caught) == 1


def test_the_limits_are_what_the_documentation_says(rg: Any) -> None:
    from importlib import import_module

    record = import_module(f"{rg.__name__}.program.record")
    assert (record.MANY_OPERATIONS, record.MOST_OPERATIONS) == (10**6, 2**25)
    assert record.MOST_DECISIONS == 2**21


def test_a_line_that_multiplies_traces_is_named_at_the_32nd(rg: Any) -> None:
    def shrink(x: Any) -> Any:
        while x > 1.0:  # the line that parts them
            x = x - 1.0
        return x

    rows = np.arange(1.0, 60.0)
    with pytest.warns(UserWarning, match="32 traces that part at .*the line that parts") as caught:
        rg.compile(shrink, choices=False)(rows)
    assert len(caught) == 1
    assert "rg.where" in str(caught[0].message)
    is_native = rg.value.core_name == "native"  # the reference keeps to traces
    assert ("without choices=False" in str(caught[0].message)) is is_native


def test_few_traces_say_nothing(rg: Any) -> None:
    def shrink(x: Any) -> Any:
        while x > 1.0:
            x = x - 1.0
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rg.compile(shrink)(np.arange(1.0, 20.0))


def test_scan_is_the_loop_it_says(rg: Any) -> None:
    def step(carry: Any, z: Any) -> Any:
        carry = carry * rg.exp(z) + 0.1
        return carry, carry * carry

    def scanned(Z: Any, a: Any) -> Any:
        last, squares = rg.scan(step, a, Z)
        return last + rg.sum(squares)

    def looped(Z: Any, a: Any) -> Any:
        squares = []
        for z in Z:
            a = a * rg.exp(z) + 0.1
            squares.append(a * a)
        return a + rg.sum(squares)

    rows = np.random.default_rng(0).normal(size=(6, 30)) * 0.1
    one, other = rg.compile(scanned), rg.compile(looped)
    for a, b in zip(
        one.value_and_grad(rows, 0.5, wrt="a"), other.value_and_grad(rows, 0.5, wrt="a")
    ):
        assert np.array_equal(a, b)


def test_scan_of_nothing_and_of_a_tree(rg: Any) -> None:
    assert rg.scan(lambda c, x: (c, x), 1.0, []) == (1.0, [])
    carry, listed = rg.scan(lambda c, x: ((c[0] + x, x), None), (rg.Value(1.0), 0.0), range(3))
    assert (carry[0].data, carry[1], listed) == (4.0, 2, [None] * 3)


def test_a_body_that_returns_one_thing_is_refused(rg: Any) -> None:
    def step(carry: Any, x: Any) -> Any:
        return carry + x

    with pytest.raises(TypeError, match=r"scan: step returned .* in round 0.*carries on"):
        rg.scan(step, 1.0, [1.0])
