"""Random functions with helpers whose settings change and whose text is printed: as eager code."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from .wild import WildFunction, wild_functions

ROWS = np.array([0.5, -1.25, 2.0, -3.0, 0.0, 1.0])


@pytest.mark.bank
@settings(
    max_examples=80,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(wild=wild_functions())
def test_settings_that_change_are_seen_wherever_they_are(rg: Any, wild: WildFunction) -> None:
    """By numbers and by leaves: values, gradients, and the leaf that backward goes into."""
    scope: dict[str, Any] = {"rg": rg}
    exec(wild.source, scope)
    function, put = scope["f"], scope["put"]
    compiled = rg.compile(lambda x: function(x))
    leaves: dict[int, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for turn, (number, setting) in enumerate(wild.settings):
            leaves.pop(number, None)
            if turn % 2:
                leaves[number] = rg.Value(setting)
            put(number, leaves.get(number, setting))
            if turn + 1 < len({n for n, _ in wild.settings}):
                continue  # some place has nothing in it yet
            check(rg, compiled, function, list(leaves.values()))


def check(rg: Any, compiled: Any, function: Any, leaves: list[Any]) -> None:
    """Compiled, a row has the number, the slope and the gradients of leaves that it has eagerly."""
    found, slopes = compiled.value_and_grad(ROWS)
    rg.zero_grad(leaves)
    for row, value, slope in zip(ROWS, found, slopes):
        x = rg.Value(row)
        result = function(x)
        result.backward()
        assert value == result.data
        assert slope == pytest.approx(x.grad, rel=1e-12, abs=1e-12)
    wanted = [leaf.grad for leaf in leaves]
    rg.zero_grad(leaves)
    captured = {id(leaf) for trace in compiled.traces for leaf in trace.captured}
    if any(id(leaf) in captured for leaf in leaves):
        compiled.backward(ROWS)
        assert [leaf.grad for leaf in leaves] == pytest.approx(wanted, rel=1e-9, abs=1e-9)
