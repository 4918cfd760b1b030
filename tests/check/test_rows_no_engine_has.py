"""A row that PyTorch or JAX has no function for is compared by its own value in their functions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from retrograde.check import engines
from retrograde.ops import OPS
from retrograde.ops.expr import Num, Var, function, where
from retrograde.ops.op import Op

ENGINES = ["torch", "jax"]
x, y = Var("x"), Var("y")
atan2, expm1, hypot, logaddexp, maximum, sqrt = map(
    function, ("atan2", "expm1", "hypot", "logaddexp", "maximum", "sqrt")
)

UNHEARD_OF = [
    Op("constants_on_the_left", atan2(1, x) + hypot(2, x) + maximum(0.5, x),
       (Num(0),), kind="custom"),
    Op("of_a_constant_alone", x * sqrt(2) + logaddexp(0, x), (Num(0),), kind="custom"),
    Op("other_arm_overflows", where(x > 0, x, expm1(x * 1000)), (Num(0),), kind="custom"),
    Op("other_arm_has_no_value", where(x > 0, sqrt(x), x), (Num(0),), kind="custom"),
    Op("calls_a_row_without_one", function("elu")(x, y) * function("sech2")(x),
       (Num(0), Num(0)), kind="custom"),
    Op("calls_a_routine", function("log_gamma")(x + 5) + function("lgamma")(x + 4),
       (Num(0),), kind="custom"),
    Op("a_number_in_the_end", where(x < 9, 1, x), (Num(0),), kind="custom"),
]  # fmt: skip


def engine(name: str) -> engines.Engine:
    pytest.importorskip(name, reason=f"{name} is not installed")
    return engines.engine(name)


def slopes(it: engines.Engine, function, at):
    """The value and gradient of a function of the engine's numbers."""
    if it.name == "torch":
        given = [it.scalar(number).requires_grad_() for number in at]
        value = function(*given)
        if not value.requires_grad:
            return float(value), [0.0] * len(at)
        import torch

        found = torch.autograd.grad(value, given, allow_unused=True)
        return float(value.detach()), [0.0 if g is None else float(g) for g in found]
    import jax

    with it._in_float64():
        places = tuple(range(len(at)))
        value, found = jax.value_and_grad(function, places)(*[it.scalar(n) for n in at])
        return float(value), [float(g) for g in found]


def differences(op: Op, at):
    """Central differences of the row's own value."""
    found = []
    for place in range(len(at)):
        step = 1e-6
        up, down = ([*at[:place], at[place] + s, *at[place + 1 :]] for s in (step, -step))
        found.append((op.evaluate(*up) - op.evaluate(*down)) / (2 * step))
    return found


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("op", UNHEARD_OF, ids=lambda op: op.name)
def test_a_new_row_runs_on_their_functions(monkeypatch, name, op):
    it = engine(name)
    monkeypatch.setattr(engines, "OPS", {**OPS, op.name: op})
    for first in (2.5, -0.7):
        at = (first, 1.3)[: op.arity]
        value, gradient = slopes(it, it.function(op.name), at)
        assert math.isclose(value, op.evaluate(*at), rel_tol=1e-12)
        np.testing.assert_allclose(gradient, differences(op, at), rtol=1e-7, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_every_row_can_do_without_a_counterpart(name):
    it = engine(name)
    for op in OPS.values():
        shares = (0.37, 0.58, 0.21)  # apart: on a seam a formula has the slope of one side
        at = tuple(low + part * (high - low) for part, (low, high) in zip(shares, op.domain))
        value, gradient = slopes(it, it.spelled_out(op.name), at)
        expected = op.evaluate(*at)
        assert math.isclose(value, expected, rel_tol=1e-12), op.name
        if not op.absent:
            partials = op.evaluate_partials(*at, expected)
            np.testing.assert_allclose(gradient, partials, rtol=1e-8, atol=1e-12, err_msg=op.name)


@pytest.mark.parametrize("name", ENGINES)
def test_counterparts_name_what_is_there(name):
    it = engine(name)
    for op in it._counterparts:
        assert op in OPS
        assert it._counterpart(op) is not None, op


@pytest.mark.parametrize("name", ENGINES)
def test_compare_of_rows_without_a_counterpart(rg, name):
    it = engine(name)
    assert not {"elu", "celu", "sech2", "where", "less"} & it._counterparts.keys()

    def f(x, y):
        return rg.elu(x, y) + rg.celu(-x, y) * rg.where(rg.less(x, y), rg.sech2(x), y)

    for at in ((800.0, 1.5), (-0.4, 0.9)):
        assert rg.compare(f, at, against=name).agrees
