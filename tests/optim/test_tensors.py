"""Optimizers over tensors: bit for bit what they do to values, one number after the other."""

from __future__ import annotations

import numpy as np
import pytest

RNG = np.random.default_rng(11)

METHODS = {
    "SGD": lambda rg, p: rg.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "Nesterov": lambda rg, p: rg.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "Adam": lambda rg, p: rg.optim.Adam(p, lr=0.05, weight_decay=0.01),
    "AdamW": lambda rg, p: rg.optim.AdamW(p, lr=0.05),
    "RMSprop": lambda rg, p: rg.optim.RMSprop(p, lr=0.05, momentum=0.5, centered=True),
}


def leaves(rg):
    """The same numbers as tensors with a value between them, and as values."""
    parts = [RNG.normal(size=(2, 3)), RNG.normal(), RNG.normal(size=4)]
    mixed = [rg.Tensor(p) if np.ndim(p) else rg.Value(p) for p in parts]
    return mixed, [rg.Value(float(n)) for part in parts for n in np.ravel(part)]


def numbers(rg, params):
    return np.concatenate([np.ravel(p.data) for p in params])


@pytest.mark.parametrize("name", METHODS)
def test_steps_are_those_of_values(rg, name):
    mixed, values = leaves(rg)
    ours, theirs = METHODS[name](rg, mixed), METHODS[name](rg, values)
    for _ in range(4):
        slopes = RNG.normal(size=len(values))
        for value, slope in zip(values, slopes):
            value.grad = slope
        mixed[0].grad, mixed[1].grad, mixed[2].grad = (
            slopes[:6].reshape(2, 3),
            slopes[6],
            slopes[7:],
        )
        ours.step()
        theirs.step()
        np.testing.assert_array_equal(numbers(rg, mixed), numbers(rg, values))
    for one, other in zip(ours.state, theirs.state):
        for key in one:
            np.testing.assert_array_equal(one[key], other[key])
    theirs.load_state_dict(ours.state_dict())


def test_a_frozen_tensor_is_passed_over(rg):
    frozen, free = rg.Tensor(np.ones(3), requires_grad=False), rg.Tensor(np.ones(2))
    optimizer = rg.optim.SGD([frozen, free], lr=1.0)
    free.grad = np.ones(2)
    optimizer.step()
    assert (frozen.data == 1.0).all()
    assert (free.data == 0.0).all()
    optimizer.zero_grad()
    assert (free.grad == 0.0).all()


def test_clipping_sees_all_numbers(rg):
    a, b = rg.Tensor(np.zeros(2)), rg.Value(0.0)
    a.grad, b.grad = np.array([3.0, 0.0]), 4.0
    assert rg.optim.clip_grad_norm([a, b], 1.0) == 5.0
    np.testing.assert_allclose([*a.grad, b.grad], [0.6, 0.0, 0.8], rtol=1e-6)
    a.grad = np.array([7.0, np.nan])
    rg.optim.clip_grad_value([a], 2.0)
    assert a.grad[0] == 2.0
    assert np.isnan(a.grad[1])


def test_lbfgs_moves_tensors(rg):
    x = rg.Tensor(np.array([-1.0, 2.0]))
    optimizer = rg.optim.LBFGS([x], max_iter=100, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        total = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
        total.backward()
        return total

    optimizer.step(loss)
    np.testing.assert_allclose(x.data, 1.0, atol=1e-5)


def test_a_step_between_forward_and_backward_is_noticed(rg):
    w = rg.Tensor(np.ones(3))
    loss = (w * w).sum()
    w.grad = np.ones(3)
    rg.optim.SGD([w], lr=0.1).step()
    before = w.grad.copy()
    with pytest.raises(rg.errors.StaleGraph):
        loss.backward()
    np.testing.assert_array_equal(w.grad, before)
