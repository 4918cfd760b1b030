"""What happens between passes: stale, hasty, uphill, held; just below and above each limit."""

from __future__ import annotations

import math

import numpy as np
import pytest

import retrograde as rg
from retrograde.diagnose.motion import Step
from retrograde.diagnose.rebuilding import Rebuilding
from retrograde.diagnose.thresholds import Thresholds
from retrograde.diagnose.value_motion import ValueMotion as Motion


class Loop:
    """A training loop of numbers: what each pass brings, and what is done with it."""

    def __init__(self, *data, groups=None, **thresholds):
        self.values = [rg.Value(x) for x in data]
        numbers = np.array(groups or [0] * len(data))
        limits = Thresholds.chosen(thresholds)
        self.motion = Motion(self.values, numbers, int(numbers.max()) + 1, limits)
        self.number = 0

    def backward(self, *gradients, loss=1.0, reached=None):
        self.motion.settle(self.number)
        for value, gradient in zip(self.values, gradients):
            value.grad += gradient
        self.number += 1
        arrived = np.array(gradients, dtype=float)
        reached = arrived != 0.0 if reached is None else np.array(reached, dtype=bool)
        self.motion.passed(arrived, reached, (loss,), None)
        return self

    def step(self, *moves):
        for value, move in zip(self.values, moves):
            value.data += move
        return self

    def reset(self, *which):
        for number in which or range(len(self.values)):
            self.values[number].grad = 0.0
        return self

    def close(self):
        self.motion.settle(self.number)
        return self.motion

    def stepping(self, *mine, strangers=False, site=None, clock=None):
        numbers = np.array(mine, dtype=np.intp)
        self.motion.holding("SGD", numbers)
        clock = self.number if clock is None else clock
        self.motion.stepping(numbers, strangers, self.number, site, clock)
        return self


def test_a_step_in_sums():
    step = Step(
        np.array([9.0, 16.0]), np.array([4.0, 0.0]), np.array([100.0, 0.0]), np.array([5.0, 0.0])
    )
    assert (step.ratio, step.effect, step.cosine) == (0.5, 20.0, 0.5)
    nothing = Step(*[np.zeros(1)] * 4)
    assert math.isnan(nothing.ratio)
    assert math.isnan(nothing.cosine)


# ---- stale ------------------------------------------------------------------------------------


def test_gradients_are_stale_once_they_are_used_twice():
    loop = Loop(1.0, 1.0).backward(1.0, 1.0).step(-0.1, -0.1)
    loop.backward(1.0, 1.0).step(-0.1, -0.1)
    motion = loop.close()
    assert (motion.steps, motion.repeated) == (2, 1)
    assert motion.stale.tolist() == [1, 1]
    assert motion.stale_steps.times.tolist() == [1]
    assert int(motion.stale_steps.began[0]) == 2


@pytest.mark.parametrize(
    ("loop", "stale"),
    [
        # reset in time
        (Loop(1.0).backward(1.0).step(-0.1).reset().backward(1.0).step(-0.1), 0),
        # gathered over two passes
        (Loop(1.0).backward(1.0).backward(1.0).step(-0.1).reset().backward(1.0).step(-0.1), 0),
        # mixed, but reset before it is used
        (Loop(1.0).backward(1.0).step(-0.1).backward(1.0).reset().backward(1.0).step(-0.1), 0),
        # mixed, and nothing moves
        (Loop(1.0).backward(1.0).step(-0.1).backward(1.0).backward(1.0), 0),
        # the second pass brings nothing
        (Loop(1.0).backward(1.0).step(-0.1).backward(0.0).step(-0.1), 0),
        # moved without a gradient: nothing was used
        (Loop(1.0).backward(0.0).step(-0.1).backward(1.0).step(-0.1), 0),
        # clipped, not reset
        (Loop(1.0).backward(1.0).step(-0.1).backward(1.0).step(-0.1), 1),
        # thrice
        (Loop(1.0).backward(1.0).step(-1).backward(1.0).step(-1).backward(1.0).step(-1), 2),
    ],
)
def test_when_gradients_are_stale(loop, stale):
    assert loop.close().stale.tolist() == [stale]


def test_parameters_are_followed_apart():
    loop = Loop(1.0, 1.0)
    for _ in range(3):
        loop.backward(1.0, 1.0).step(-0.1, -0.1).reset(0)
    motion = loop.close()
    assert motion.stale.tolist() == [0, 2]
    assert motion.stale_steps.times.tolist() == [2]


def test_a_nan_that_stays_has_not_moved():
    loop = Loop(math.nan, 1.0).backward(1.0, 1.0).backward(1.0, 1.0)
    assert loop.close().steps == 0
    loop.step(0.0, math.nan)
    assert loop.close().updated.tolist() == [False, True]


def test_settling_twice_counts_once():
    loop = Loop(1.0).backward(1.0).step(-0.1)
    loop.close()
    assert loop.close().steps == 1
    assert Loop(1.0).close().steps == 0


# ---- direction --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moves", "uphill"),
    [
        ((0.1, 0.0), True),
        ((-0.1, 0.0), False),
        ((0.09, 1.0), False),  # a cosine of 0.09
        ((0.11, 1.0), True),
    ],
)
def test_which_way_a_step_goes(moves, uphill):
    motion = Loop(1.0, 1.0).backward(1.0, 0.0).step(*moves).close()
    assert bool(motion.ascent.began[0]) == uphill
    assert motion.ascent.total.tolist() == [1]


def test_groups_go_their_own_way_and_the_loss_is_kept_from_where_they_began():
    loop = Loop(1.0, 1.0, groups=[0, 1]).backward(1.0, 1.0, loss=4.0).step(-0.1, -0.1).reset()
    assert loop.close().ascent.began.tolist() == [0, 0]
    loop.backward(1.0, 1.0, loss=2.0).step(0.1, -0.1).reset()
    assert loop.close().ascent.began.tolist() == [2, 0]
    assert loop.motion.loss_at["ascent"] == 3.0
    loop.backward(1.0, 1.0, loss=9.0).step(0.1, 0.1).reset()
    assert loop.close().ascent.began.tolist() == [2, 3]
    assert loop.motion.loss_at["ascent"] == 3.0
    assert loop.motion.loss == 5.0
    loop.backward(1.0, 1.0, loss=1.0)
    assert loop.motion.loss == 4.0  # of the latest three


def test_a_step_without_gradient_has_no_direction():
    motion = Loop(1.0).backward(0.0).step(0.1).close()
    assert motion.ascent.total.tolist() == [0]
    motion = Loop(1.0).backward(math.inf).step(0.1).close()
    assert motion.ascent.total.tolist() == [0]


@pytest.mark.parametrize(
    ("count", "side", "closely"),
    [(8, 0.0, True), (7, 0.0, False), (8, 0.47, True), (8, 0.5, False), (8, -2.0, False)],
)
def test_a_step_straight_up_is_told_from_overshooting(count, side, closely):
    """Of every two numbers one goes further and one less far: a cosine of 1 / sqrt(1 + side²)."""
    moves = [0.1 * (1 + (side if i % 2 else -side)) for i in range(count)]
    motion = Loop(*[1.0] * count).backward(*[1.0] * count).step(*moves).close()
    assert bool(motion.closely.began[0]) == closely


# ---- length -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("move", "hasty"), [(-0.49, False), (-0.51, True), (0.51, True)])
def test_how_long_a_step_is(move, hasty):
    motion = Loop(1.0).backward(1.0, loss=7.0).step(move).close()
    assert bool(motion.hasty.began[0]) == hasty
    assert motion.ratio == pytest.approx(abs(move))
    assert math.isnan(motion.loss_at["hasty"]) != hasty


def test_only_what_moves_is_measured():
    motion = Loop(1.0, 100.0).backward(1.0, 1.0).step(-0.6, 0.0).close()
    assert motion.ratio == pytest.approx(0.6)
    motion = Loop(0.0).backward(1.0).step(-0.6).close()
    assert math.isnan(motion.ratio)
    assert motion.hasty.total.tolist() == [0]


def test_the_group_that_goes_furthest_is_remembered():
    motion = Loop(1.0, 1.0, groups=[0, 1]).backward(1.0, 1.0).step(-0.6, -0.9).close()
    assert motion.hastiest == 1
    motion = Loop(1.0, 5.0, groups=[0, 1]).backward(1.0, 1.0).step(-0.9, -3.0).close()
    assert motion.hastiest == 0


def test_the_loss_is_that_of_the_beginning():
    loop = Loop(1.0)
    for loss in (4.0, 5.0, 6.0):
        loop.backward(1.0, loss=loss).step(5.0).reset()
    assert loop.close().loss_at["hasty"] == 4.0


@pytest.mark.parametrize(
    ("move", "gradient", "loss", "idle"),
    [
        (-0.9e-6, 1.0, 1.0, True),
        (-1.1e-6, 1.0, 1.0, False),
        (-0.9e-6, 1.1e-3, 1.0, True),
        (-0.9e-6, 0.9e-3, 1.0, False),  # nothing to learn from
        (-0.9e-6, 1.1e-3, 2.0, False),
        (-0.9e-6, 1.1e-3, -0.5, True),
    ],
)
def test_how_short_a_step_is(move, gradient, loss, idle):
    motion = Loop(1.0).backward(gradient, loss=loss).step(move).close()
    assert bool(motion.idle.began[0]) == idle
    assert motion.idle.total.tolist() == [1]


# ---- optimizers -------------------------------------------------------------------------------


def test_who_is_held():
    motion = Loop(1.0, 1.0, 1.0).backward(1.0, 1.0, 1.0).stepping(0, 2).motion
    assert motion.held.tolist() == [True, False, True]
    assert (motion.optimizer, motion.optimizer_steps) == ("SGD", 1)


@pytest.mark.parametrize(
    ("loop", "wiped"),
    [
        (Loop(1.0).backward(1.0).stepping(0), [0, 1]),
        (Loop(1.0).backward(1.0).reset().stepping(0), [1, 1]),
        (Loop(1.0).backward(0.0).stepping(0), [0, 0]),  # nothing was there to be wiped
        (Loop(1.0).backward(1.0).stepping(0).reset().stepping(0), [0, 1]),  # no pass between
        (Loop(1.0, 1.0).backward(1.0, 1.0).reset(0).stepping(0, 1), [0, 1]),  # some are left
        (Loop(1.0, 1.0).backward(1.0, 1.0).reset(0).stepping(1), [0, 1]),  # another's
        (Loop(1.0, 1.0).backward(1.0, 1.0).reset(0).stepping(0), [1, 1]),
        (Loop(1.0, 1.0).backward(1.0, 0.0).reset(0).stepping(0, 1), [1, 1]),
    ],
)
def test_gradients_wiped_before_a_step(loop, wiped):
    spells = loop.motion.wiped
    assert [int(spells.times[0]), int(spells.total[0])] == wiped


def test_the_line_of_the_latest_wiped_step_is_kept():
    loop = Loop(1.0).backward(1.0).reset().stepping(0, site="one")
    loop.backward(1.0).stepping(0, site="two")
    assert loop.motion.wiped_site == "one"


@pytest.mark.parametrize(
    ("loop", "astray"),
    [
        (Loop(1.0, 1.0).backward(1.0, 0.0).stepping(0), 0),
        (Loop(1.0, 1.0).backward(0.0, 1.0).stepping(0), 0),  # it may have been reached before
        (Loop(1.0, 1.0).backward(1.0, 0.0).stepping(0).backward(0.0, 1.0).stepping(0), 1),
        (Loop(1.0, 1.0).backward(1.0, 0.0).stepping(0).backward(1.0, 0.0).stepping(0), 0),
        (Loop(1.0, 1.0).backward(1.0, 0.0).stepping(0).stepping(0), 0),  # no pass between
        (Loop(1.0, 1.0).backward(1.0, 0.0).stepping(0).stepping(0, clock=5), 1),
        (Loop(1.0, 1.0).backward(1.0, 1.0).stepping(0, 1).backward(0.0, 1.0).stepping(0, 1), 0),
        (Loop(1.0).backward(1.0).stepping(strangers=True), 1),
        (Loop(1.0).backward(1.0).stepping(), 0),
        (Loop(1.0).backward(1.0).stepping(0).backward(0.0, reached=[1]).stepping(0), 0),
    ],
)
def test_steps_astray(loop, astray):
    assert loop.motion.astray == astray


# ---- values that take the place of others -----------------------------------------------------


def test_new_values_are_a_step_of_the_old_ones_and_begin_with_no_gradient():
    loop = Loop(1.0, 2.0).backward(1.0, 1.0).step(-0.1, 0.0)
    loop.close()
    anew = [rg.Value(0.5), loop.values[1]]
    anew[0].grad = 3.0
    loop.motion.adopt(anew, [0], loop.number)
    assert loop.motion.steps == 2
    assert loop.motion.values == anew
    assert loop.motion.after[0].tolist() == [0.5, 2.0]
    assert loop.motion.after[1].tolist() == [0.0, 1.0]
    assert loop.motion._used.tolist() == [False, False]


def test_successors_stand_where_the_lost_ones_stood():
    a, b, x, y, c = (rg.Value(1.0) for _ in range(5))
    place = {id(a): 0, id(b): 1}
    found = Rebuilding()
    assert found.is_first
    assert found.successors([x, y], np.array([True, True]), place) == {}
    found.learn([c, a, b], place)
    assert not found.is_first
    assert found.successors([c, x, y], np.array([True, True]), place) == {0: x, 1: y}
    assert found.successors([c, x, b], np.array([True, False]), place) == {0: x}
    assert found.successors([c, x], np.array([True, True]), place) == {}
    assert found.successors([c, a, y], np.array([True, True]), place) == {}
    assert found.successors([y, x, b], np.array([True, False]), place) == {0: x}


@pytest.mark.parametrize(
    ("change", "step"),
    [
        ((-1.0, 0.0), True),
        ((1.0, 0.0), False),
        ((-1.0, 1.7), True),
        ((-1.0, 1.8), False),
        ((0.0, 0.0), False),
    ],
)
def test_new_values_are_a_step_where_they_go_downhill(change, step):
    data, grads = np.array([9.0, 5.0, 7.0]), np.array([9.0, 2.0, 0.0])
    new = {1: rg.Value(5.0 + change[0]), 2: rg.Value(7.0 + change[1])}
    assert Rebuilding().is_step(new, data, grads) == step


def test_rebuilding_is_counted():
    found = Rebuilding()
    found.note(4, step=True)
    found.note(5, step=False)
    found.note(6, step=False)
    assert (found.began, found.stepped, found.replaced) == (4, 1, 2)
