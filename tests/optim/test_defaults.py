"""Settings that are left out or given alone: each counts; nothing is done where nothing is due."""

from __future__ import annotations

import math

import pytest


def stepped(rg, method, gradient=3.0, **settings):
    """Where one step of an optimizer leaves a parameter that was 1."""
    x = rg.Value(1.0)
    optimizer = getattr(rg.optim, method)([x], **settings)
    x.grad = gradient
    optimizer.step()
    return x.data


RATES = {"SGD": 1e-3, "Adam": 1e-3, "AdamW": 1e-3, "RMSprop": 1e-2}


@pytest.mark.parametrize("method", RATES)
def test_the_rate_is_pytorchs_where_none_is_given(rg, method):
    assert stepped(rg, method) == stepped(rg, method, lr=RATES[method])
    assert stepped(rg, method) != stepped(rg, method, lr=2.0 * RATES[method])


def test_plain_descent_subtracts_a_thousandth_of_the_gradient(rg):
    assert stepped(rg, "SGD", 4.0) == 1.0 - 1e-3 * 4.0


@pytest.mark.parametrize("method", ["Adam", "AdamW", "RMSprop"])
@pytest.mark.parametrize("eps", [1e-8, 1e-2, 1.0])
def test_eps_is_added_to_the_root(rg, method, eps):
    """After one step the mean is the gradient and the root of the square its size."""
    gradient, settings = 1e-2, {"lr": 1e-3, "eps": eps}
    if method == "RMSprop":
        settings |= {"alpha": 0.0}
    if method == "AdamW":
        settings |= {"weight_decay": 0.0}
    expected = 1.0 - 1e-3 * gradient / (gradient + eps)
    assert stepped(rg, method, gradient, **settings) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(("method", "decay"), [("Adam", 0.0), ("AdamW", 1e-2), ("RMSprop", 0.0)])
def test_the_decay_where_none_is_given(rg, method, decay):
    assert stepped(rg, method) == stepped(rg, method, weight_decay=decay)
    assert stepped(rg, method, 1e-9) != stepped(rg, method, 1e-9, weight_decay=decay + 0.5)


@pytest.mark.parametrize("short", [0.999, 0.6, 0.5001])
def test_gradients_short_enough_are_left_alone(rg, short):
    """Also where they would not be twice as long: nothing is ever made longer."""
    x, y = rg.Value(1.0), rg.Value(1.0)
    x.grad, y.grad = 0.6 * short, 0.8 * short
    assert rg.optim.clip_grad_norm([x, y], 1.0) == pytest.approx(short)
    assert (x.grad, y.grad) == (0.6 * short, 0.8 * short)


def test_an_accumulator_of_one_steps_every_time(rg):
    x = rg.Value(0.0)
    accumulator = rg.optim.Accumulator(rg.optim.SGD([x], lr=1.0), every=1)
    for place in range(3):
        (x * 2.0).backward()
        assert accumulator.step() is True
        assert x.data == -2.0 * (place + 1)
    assert accumulator.flush() is False
    assert math.isfinite(x.data)


@pytest.mark.parametrize("every", [0, -1, 1.0, "2"])
def test_an_accumulator_counts_whole_passes(rg, every):
    optimizer = rg.optim.SGD([rg.Value(0.0)])
    with pytest.raises(rg.errors.SettingError, match="every must be a whole number from 1 up"):
        rg.optim.Accumulator(optimizer, every=every)


def test_nothing_may_be_left_of_a_gradient(rg):
    """A bound of 0 is one; a bound below is none."""
    x = rg.Value(1.0)
    x.grad = 3.0
    rg.optim.clip_grad_value([x], 0.0)
    assert x.grad == 0.0
    x.grad = 3.0
    assert rg.optim.clip_grad_norm([x], 0.0) == 3.0
    assert x.grad == 0.0
    for clip in (rg.optim.clip_grad_value, rg.optim.clip_grad_norm):
        for bound in (-1e-300, math.nan, "1"):
            with pytest.raises(rg.errors.SettingError, match="must be a number from 0 up"):
                clip([x], bound)
    for kind in (0.0, -1.0, math.nan):
        with pytest.raises(rg.errors.SettingError, match="must be a number above 0, or inf"):
            rg.optim.clip_grad_norm([x], 1.0, kind)
