"""Schedules at the ends of what they allow, and where one takes over from another."""

from __future__ import annotations

import pytest


def made(rg, lr=1.0):
    return rg.optim.SGD([rg.Value(1.0)], lr=lr)


def rates(schedule, steps):
    """The rate now, and after each of so many steps."""
    found = [*schedule.get_last_lr()]
    for _ in range(steps):
        schedule.step()
        found += schedule.get_last_lr()
    return found


def test_one_step_is_long_enough(rg):
    assert rates(rg.optim.StepLR(made(rg), 1, gamma=0.5), 2) == [1.0, 0.5, 0.25]
    assert rates(rg.optim.LinearLR(made(rg), 0.5, 1.0, total_iters=1), 2) == [0.5, 1.0, 1.0]
    assert rates(rg.optim.CosineAnnealingLR(made(rg), 1), 1) == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize("count", [0, -1])
def test_none_is_not(rg, count):
    for make in (
        lambda: rg.optim.StepLR(made(rg), count),
        lambda: rg.optim.LinearLR(made(rg), total_iters=count),
        lambda: rg.optim.CosineAnnealingLR(made(rg), count),
    ):
        with pytest.raises(rg.errors.SettingError, match="must be a whole number from 1 up"):
            make()


def test_what_is_left_out_is_as_in_pytorch(rg):
    assert rates(rg.optim.StepLR(made(rg), 1), 1) == pytest.approx([1.0, 0.1])
    assert rates(rg.optim.MultiStepLR(made(rg), [1]), 1) == pytest.approx([1.0, 0.1])
    third = 1.0 / 3
    line = [third + (1.0 - third) * done / 5 for done in range(6)]
    assert rates(rg.optim.LinearLR(made(rg)), 6) == pytest.approx([*line, 1.0])
    assert rates(rg.optim.CosineAnnealingLR(made(rg), 2), 2)[-1] == pytest.approx(0.0)


def test_each_begins_anew_at_its_milestone(rg):
    """Three of them: the third counts from the second milestone, not from the first."""
    optimizer = made(rg)
    parts = [rg.optim.ExponentialLR(optimizer, gamma) for gamma in (0.5, 0.25, 0.125)]
    chained = rg.optim.SequentialLR(optimizer, parts, milestones=[2, 3])
    assert rates(chained, 5) == [1.0, 0.5, 1.0, 1.0, 0.125, 0.125**2]


def test_the_first_of_several_sets_the_rate_at_once(rg):
    """It begins with a third of the rate, although the second would begin with all of it."""
    optimizer = made(rg, lr=0.9)
    warm, flat = rg.optim.LinearLR(optimizer), rg.optim.ExponentialLR(optimizer, 1.0)
    chained = rg.optim.SequentialLR(optimizer, [warm, flat], milestones=[5])
    assert chained.get_last_lr() == pytest.approx([0.3])
    assert chained.base_lrs == [0.9]


def test_a_schedule_that_is_loaded_sets_the_rate_at_once(rg):
    one = rg.optim.ExponentialLR(made(rg, lr=2.0), 0.5)
    one.step()
    other = rg.optim.ExponentialLR(made(rg, lr=8.0), 0.5)
    other.load_state_dict(one.state_dict())
    assert other.get_last_lr() == [1.0]
    assert other.state_dict() == {"last_step": 1, "base_lrs": [2.0]}


def test_functions_are_one_a_group(rg):
    optimizer = rg.optim.SGD([{"params": [rg.Value(1.0)]}, {"params": [rg.Value(1.0)], "lr": 0.5}],
                             lr=1.0)  # fmt: skip
    both = rg.optim.LambdaLR(optimizer, [lambda step: 1.0 + step, lambda step: 2.0])
    assert rates(both, 1) == [1.0, 1.0, 2.0, 1.0]
    with pytest.raises(rg.errors.SettingError, match="2 functions, one a group"):
        rg.optim.LambdaLR(optimizer, [lambda step: 1.0])
    with pytest.raises(rg.errors.SettingError, match="1 steps, one between each two schedules"):
        rg.optim.SequentialLR(optimizer, [both, both], milestones=[])


def test_one_that_is_over_at_once_leaves_its_rate_to_the_next(rg):
    optimizer = made(rg, lr=0.9)
    warm, flat = rg.optim.LinearLR(optimizer), rg.optim.ExponentialLR(optimizer, 1.0)
    assert rg.optim.SequentialLR(optimizer, [warm, flat], milestones=[0]).get_last_lr() == [0.9]
