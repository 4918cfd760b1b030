"""Leaves met in a recording: captured, made inside, or kept from another recording."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def test_an_argument_kept_from_another_recording_is_refused(rg: Any) -> None:
    kept: list[Any] = []
    rg.compile(lambda x: kept.append(x) or x * 2.0)(3.0)
    with pytest.raises(rg.errors.RecordingError, match="an argument of another recording"):
        rg.compile(lambda y: y * kept[0])(1.0)


def test_a_parameter_of_any_age_is_captured(rg: Any) -> None:
    """The age of a node is kept modulo 2**16: a parameter must not pass for a constant inside."""
    w = rg.Value(2.0)
    begin = rg.value.core.begin_epoch
    now = begin()
    for _ in range(2**16 - 2):
        begin()
    for _ in range(4):
        f = rg.compile(lambda x: w * x)
        w.data = 2.0
        f(np.ones(1))
        w.data = 5.0
        assert f(np.ones(1)).tolist() == [5.0]
    assert begin() > now + 2**16


def test_a_value_made_inside_is_a_constant(rg: Any) -> None:
    f = rg.compile(lambda x: x * rg.Value(3.0))
    assert f(np.array([1.0, 2.0])).tolist() == [3.0, 6.0]
    assert f.traces[0].captured == []


def test_a_number_met_by_a_gradient_inside_is_a_constant(rg: Any) -> None:
    def slope(x: Any) -> Any:
        return rg.grad(lambda s: rg.exp(0.5 * s))(x)

    compiled = rg.compile(slope)
    compiled(1.0)
    assert compiled.traces[0].captured == []
