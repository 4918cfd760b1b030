"""Where digits were once lost: far tails and ends of the range, in units of the number itself, and
derivatives to third order out there, eagerly and compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograde.ops import OPS

from ..program.support import LEVELS, kernels
from . import exact
from .digits import Truth, ulp, ulps_off
from .exact import mp, settled
from .test_digits import in_every_core

TAILS = {
    "tanh": (2.0, 5.0, 18.0, 19.5, 25.0, 100.0, 300.0, 354.0, 370.0),
    "sigmoid": (3.0, 20.0, 37.0, 39.0, 100.0, 700.0, 740.0),
    "expm1": (-1.0, -10.0, -29.0, -37.0, -50.0, -400.0, -708.0),
    "erf": (1.0, 3.0, 5.5, 10.0, 20.0, 26.0, -26.0),
    "erfc": (1.0, 3.0, 10.0, 20.0, 26.0, -5.0),
    "norm_cdf": (-1.0, -5.0, -10.0, -20.0, -30.0, -37.0, 8.0),
    "norm_pdf": (-1.0, -5.0, -10.0, -20.0, -30.0, -37.0),
    "gauss": (1.0, 5.0, 15.0, 26.0),
    "gelu": (-5.0, -10.0, -20.0, -30.0, -37.0),
    "silu": (-5.0, -30.0, -100.0, -700.0),
    "softplus": (-5.0, -40.0, -700.0),
    "atan": (1e5, -1e100, 1e153),
    "log10": (1e-300, 1e300, 1.5e308),
}
"""Points where value and slope are far from 1, and both are normal numbers."""

HIGHEST = 8.0
"""Units of the number itself, whatever its condition: x² may be hundreds out there."""


def beside(x: float, steps: int = 6) -> list[float]:
    """Numbers around one, none of them round."""
    return [x * (1.0 + 0.0137 * step) for step in range(-steps, 1)]


@pytest.mark.parametrize("name", TAILS)
def test_tails_have_the_digits_of_the_number_itself(native: Any, reference: Any, name: str) -> None:
    op = OPS[name]
    where = [(x,) for centre in TAILS[name] for x in beside(centre)]
    rights = []
    for point in where:
        inputs = tuple(map(mp.mpf, point))
        value, _ = settled(lambda *at: exact.value(op, at), inputs)
        slope, _ = settled(lambda *at: exact.partial(op, 0, at), inputs)
        rights.append([Truth(number, ulp(number)) for number in (value, slope)])
    for core, found in in_every_core(native, reference, lambda rg: getattr(rg, name), where):
        for point, numbers, right in zip(where, found, rights):
            off = [ulps_off(got, truth) for got, truth in zip(numbers, right)]
            assert max(off) <= HIGHEST, (core, point, numbers, off)


THIRD = {
    "tanh": (0.3, 3.0, 19.5, 100.0, 300.0, 400.0, 800.0, 1e10),
    "sigmoid": (0.3, -3.0, 20.0, 39.0, -100.0, 700.0, 800.0, -800.0),
    "expm1": (0.3, -29.0, -400.0, -800.0),
    "sech2": (0.3, 19.5, 300.0, 800.0),
    "erf": (0.3, 3.0, 10.0, 20.0),
    "norm_cdf": (0.3, -3.0, -10.0, -30.0),
    "norm_pdf": (0.3, -3.0, -10.0, -30.0),
    "gauss": (0.3, 3.0, 10.0, 20.0),
    "gelu": (0.3, -3.0, -10.0, -30.0),
    "silu": (0.3, -3.0, -100.0, -600.0),
    "softplus": (0.3, -30.0, 30.0, -600.0),
    "atan": (0.0, 0.3, 1e5, -1e20, 1e50),
    "log10": (1e-50, 1e50),
}


def thrice(rg: Any, function: Any, x: float) -> list[float]:
    """The first three derivatives, eagerly."""
    orders = [rg.grad(function), rg.grad(rg.grad(function)), rg.grad(rg.grad(rg.grad(function)))]
    return [order(x) for order in orders]


@pytest.mark.parametrize("name", THIRD)
def test_derivatives_in_the_tails_are_right_to_third_order(rg: Any, name: str) -> None:
    op = OPS[name]
    for x in THIRD[name]:
        exactly = derivatives(op, x)
        for order, (got, right) in enumerate(zip(thrice(rg, getattr(rg, name), x), exactly), 1):
            assert close(got, right), (x, order, got, float(right))


@pytest.mark.parametrize("name", THIRD)
def test_compiled_second_derivatives_in_the_tails_are_right(native: Any, name: str) -> None:
    function = getattr(native, name)
    compiled = native.compile(lambda x: function(x))
    where = np.array(THIRD[name])
    for level in LEVELS:
        with kernels(level):
            found = compiled.hessian(where)
        for x, got in zip(where.tolist(), found.ravel().tolist()):
            assert close(got, derivatives(OPS[name], x)[1]), (level, x, got)


def derivatives(op: Any, x: float) -> list[Any]:
    """The first three derivatives of a row's value, by mpmath."""
    with mp.workprec(3000):
        at = mp.mpf(x)
        step = mp.ldexp(min(abs(at), 1) or 1, -300)
        left, middle, right = (exact.partial(op, 0, (at + s,)) for s in (-step, 0, step))
        return [middle, (right - left) / (2 * step), (right - 2 * middle + left) / step**2]


def close(got: float, right: Any) -> bool:
    return bool(abs(mp.mpf(got) - right) <= max(abs(right) * mp.mpf(1e-11), mp.mpf(1e-300)))


@pytest.mark.parametrize("exponent", [-2, -3, -5, -8])
def test_gradients_of_negative_powers_do_not_vanish(rg: Any, exponent: int) -> None:
    for x in (3.086e20, 1e80 if exponent == -2 else 1e30, 1e-30):
        value = rg.Value(x)
        (value**exponent).backward()
        with mp.workprec(200):
            right = exponent * mp.mpf(x) ** (exponent - 1)
        assert abs(value.grad - right) <= abs(right) * 1e-14


def test_pow_at_denormals_and_to_the_power_of_nothing(rg: Any) -> None:
    for x in (5e-324, 3e-320, 1e-308, 1.0, 1e308):
        base = rg.Value(x)
        rg.pow(base, 0.0).backward()
        assert base.grad == 0.0
    base, exponent = rg.Value(3e-320), rg.Value(3e-320)
    rg.pow(base, exponent).backward()
    assert base.grad == 1.0


def test_a_length_that_overflows_keeps_its_slopes(rg: Any) -> None:
    x, y = rg.Value(1.5e308), rg.Value(1.5e308)
    rg.hypot(x, y).backward()
    assert [x.grad, y.grad] == pytest.approx([0.5**0.5] * 2, rel=1e-15)
