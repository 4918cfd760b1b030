"""Optimizers over tensors move every number as they move as many values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

SETTINGS: dict[str, tuple[int, tuple[float, ...]]] = {
    "sgd": (2, (0.1, 0.9, 0.0, 0.01, 1.0)),
    "adam": (3, (0.01, 0.9, 0.999, 1e-8, 0.02, 1.0)),
    "rmsprop": (4, (0.01, 0.9, 1e-8, 0.01, 0.5, 1.0)),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_tensors_move_as_their_numbers_would(native: Any, name: str) -> None:
    from retrograde.value import core

    arrays, settings = SETTINGS[name]
    rng = np.random.default_rng(1)
    start, gradients = rng.standard_normal(7), rng.standard_normal((4, 7))
    values = [native.Value(x) for x in start]
    things = [native.Value(start[0]), native.Tensor(start[1:].reshape(2, 3))]
    views = things[1].T, things[1].data
    states = [[np.zeros(7) for _ in range(arrays)] for _ in range(2)]
    for gradient in gradients:
        for value, number in zip(values, gradient):
            value.grad = number
        things[0].grad, things[1].grad = gradient[0], gradient[1:].reshape(2, 3)
        for leaves, state in zip((values, things), states):
            getattr(core, name)(leaves, *state, *settings)
    moved = np.concatenate([[things[0].data], things[1].data.ravel()])
    assert moved.tolist() == [value.data for value in values]
    assert np.array_equal(views[0].data, start[1:].reshape(2, 3).T)
    assert np.array_equal(views[1], start[1:].reshape(2, 3))
    for ours, theirs in zip(*states):
        assert np.array_equal(ours, theirs)


def test_gradients_of_tensors_are_measured_scaled_and_clipped(native: Any) -> None:
    from retrograde.value import core

    v, t, untouched = native.Value(1.0), native.Tensor([1.0, 2.0]), native.Tensor([3.0])
    v.grad, t.grad = 3.0, [0.0, -4.0]
    before = t.grad
    assert core.grad_norm([v, t, untouched], 2.0) == 5.0
    core.scale_grad([v, t, untouched], 2.0)
    core.clip_grad([v, t, untouched], 7.0)
    assert (v.grad, t.grad.tolist(), before.tolist()) == (6.0, [0.0, -7.0], [0.0, -4.0])


def test_a_step_makes_the_graph_before_it_stale(native: Any) -> None:
    from retrograde.value import core

    w = native.Tensor([1.0, 2.0])
    loss = (w * w).sum()
    loss.backward()
    core.sgd([w], np.zeros(2), np.zeros(2), 0.1, 0.0, 0.0, 0.0, 0.0)
    assert w.data.tolist() == [0.8, 1.6]
    with pytest.raises(native.errors.StaleGraph, match="whose data was changed since"):
        loss.backward()


def test_what_was_computed_is_not_moved(native: Any) -> None:
    from retrograde.value import core

    y = native.Tensor([1.0]) * 2.0
    with pytest.raises(native.errors.LeafError, match="data can be assigned to leaves only"):
        core.sgd([y], np.zeros(1), np.zeros(1), 0.1, 0.0, 0.0, 0.0, 0.0)
