"""L-BFGS reaches the minima PyTorch reaches, goes on after being saved, and is strict."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="torch is an extra")


def rosenbrock(m, x):
    return sum(100 * (b - a**2) ** 2 + (1 - a) ** 2 for a, b in pairwise(x))


def bowl(m, x):
    return sum((i + 1) * (v - i) ** 2 for i, v in enumerate(x)) + x[0] * x[1]


def logistic(m, x):
    draw = random.Random(0)
    total = 0.05 * sum(v * v for v in x)
    for _ in range(30):
        features = [draw.gauss(0, 1) for _ in x]
        side = 1 if draw.random() < 0.6 else -1
        score = sum(v * f for v, f in zip(x, features))
        total = total + m.log(1 + m.exp(-side * score))
    return total


def quartic(m, x):
    return sum((v - 1) ** 4 + (v + i) ** 2 for i, v in enumerate(x))


PROBLEMS = {
    "rosenbrock": (rosenbrock, [-1.2, 1.0, -0.5, 0.8]),
    "bowl": (bowl, [3.0, -2.0, 5.0]),
    "logistic": (logistic, [0.0, 0.5, -0.5]),
    "quartic": (quartic, [2.0, -3.0, 0.5, 1.5, 4.0]),
}
SETTINGS = {"max_iter": 400, "max_eval": 2000, "tolerance_grad": 1e-12, "tolerance_change": 1e-16}


def minimise(rg, name, rounds=1, **settings):
    function, begin = PROBLEMS[name]
    leaves = [rg.Value(x) for x in begin]
    optimizer = rg.optim.LBFGS(leaves, **{**SETTINGS, **settings})

    def closure():
        optimizer.zero_grad()
        loss = function(rg, leaves)
        loss.backward()
        return loss

    for _ in range(rounds):
        optimizer.step(closure)
    return [leaf.data for leaf in leaves], closure().data


def minimise_torch(torch, name, **settings):
    function, begin = PROBLEMS[name]
    x = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in begin]
    optimizer = torch.optim.LBFGS(x, **{**SETTINGS, **settings})

    def closure():
        optimizer.zero_grad()
        loss = function(torch, x)
        loss.backward()
        return loss

    optimizer.step(closure)
    return [v.item() for v in x], closure().item()


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_reaches_pytorchs_minima(rg, torch, name):
    place, loss = minimise(rg, name, line_search_fn="strong_wolfe")
    expected, least = minimise_torch(torch, name, line_search_fn="strong_wolfe")
    assert place == pytest.approx(expected, abs=1e-8)
    assert loss == pytest.approx(least, abs=1e-8)


@pytest.mark.parametrize("name", ["bowl", "logistic"])
def test_without_a_line_search_too(rg, torch, name):
    place, _ = minimise(rg, name, lr=0.5)
    expected, _ = minimise_torch(torch, name, lr=0.5)
    assert place == pytest.approx(expected, abs=1e-8)


def test_steps_add_up(rg):
    place, _ = minimise(rg, "rosenbrock", rounds=60, max_iter=2, line_search_fn="strong_wolfe")
    assert place == pytest.approx([1.0] * 4, abs=1e-8)


def test_frozen_parameters_stay(rg):
    x, y = rg.Value(3.0), rg.Value(5.0)
    y.requires_grad = False
    optimizer = rg.optim.LBFGS([x, y], max_iter=50, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = (x - y) ** 2
        loss.backward()
        return loss

    optimizer.step(closure)
    assert y.data == 5.0
    assert x.data == pytest.approx(5.0, abs=1e-8)


def test_a_saved_state_goes_on_to_the_bit(rg):
    def make():
        leaves = [rg.Value(x) for x in PROBLEMS["rosenbrock"][1]]
        return leaves, rg.optim.LBFGS(leaves, max_iter=3, line_search_fn="strong_wolfe")

    def step(leaves, optimizer):
        def closure():
            optimizer.zero_grad()
            loss = rosenbrock(rg, leaves)
            loss.backward()
            return loss

        optimizer.step(closure)

    leaves, optimizer = make()
    for _ in range(3):
        step(leaves, optimizer)
    again, other = make()
    other.load_state_dict(optimizer.state_dict())
    for one, two in zip(again, leaves):
        one.data = two.data
    step(leaves, optimizer), step(again, other)
    assert [leaf.data for leaf in again] == [leaf.data for leaf in leaves]


def test_a_loss_that_becomes_infinite_on_the_way_is_survived(rg):
    x = rg.Value(5.0)
    optimizer = rg.optim.LBFGS([x], lr=100.0, max_iter=60, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = x - rg.log(x)  # NaN left of zero
        loss.backward()
        return loss

    optimizer.step(closure)
    assert x.data == pytest.approx(1.0, abs=1e-6)
    assert math.isfinite(closure().data)


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (lambda rg, x: rg.optim.LBFGS([x], line_search_fn="armijo"), "line_search_fn must be"),
        (lambda rg, x: rg.optim.LBFGS([x], max_iter=0), "max_iter must be a whole number"),
        (lambda rg, x: rg.optim.LBFGS([x], tolerance_grad="a"), "tolerance_grad must be a number"),
        (lambda rg, x: rg.optim.LBFGS([x]).step(), "closure must be a function"),
        (lambda rg, x: rg.optim.LBFGS([{"params": [x]}, {"params": [rg.Value(1.0)]}]), "one"),
    ],
)
def test_mistakes_are_named(rg, act, text):
    with pytest.raises(rg.errors.SettingError) as caught:
        act(rg, rg.Value(1.0))
    assert text in str(caught.value)
