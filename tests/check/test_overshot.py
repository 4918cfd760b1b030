"""Long steps that the loss has not recovered from: when they are told as the cause of shut units,
and when a step counts as one of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from retrograde.diagnose.judge import report_of
from retrograde.diagnose.motion import Overshoot
from retrograde.diagnose.thresholds import Thresholds
from retrograde.diagnose.value_motion import ValueMotion as Motion

from .histories import record, spell, unit


def blown(steps=3, loss=2.0, before=1.0, began=18, shut=19, sick=True):
    """A record with units shut since a pass, after long steps that began at another."""
    made = record(30)
    made.motion.steps = 20
    made.motion._losses.append(loss)
    made.motion.overshoot = Overshoot(began, before, steps, 40.0, 1)
    if sick:
        unit(made, 0, 400, 120, run=100, passes=30 - shut + 1, began=shut, op="tanh")
    return made


def kinds(made):
    return [verdict.kind for verdict in report_of(made).alarms]


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (blown(), "learning rate"),
        (blown(steps=2), "saturated units"),  # too few: it may have been an accident
        (blown(loss=1.0), "learning rate"),  # it has not fallen below
        (blown(loss=0.99), "saturated units"),
        (blown(loss=math.nan), "learning rate"),
        (blown(began=19, shut=19), "saturated units"),  # they were shut before
        (blown(began=20, shut=19), "saturated units"),
    ],
)
def test_units_are_told_under_the_steps_that_shut_them(made, told):
    (alarm,) = report_of(made).alarms
    assert alarm.kind == told
    if told == "learning rate":
        assert [each.kind for each in alarm.consequences] == ["saturated units"]


def test_without_shut_units_nothing_is_said():
    assert kinds(blown(sick=False)) == []


def test_steps_that_are_too_long_now_are_told_once():
    made = blown()
    made.motion.loss_at["hasty"] = 1.0
    made.motion.ratio = 3.0
    spell(made.motion.hasty, 4, 18)
    (alarm,) = report_of(made).alarms
    assert alarm.sentence.startswith("Steps are too long since pass 18 of 30")


def test_it_is_said_in_these_words():
    (alarm,) = report_of(blown(steps=5)).alarms
    assert alarm.sentence == (
        "Steps were too long since pass 18 of 30: 5 of them were more than 0.5 of the weights they "
        "changed, up to 40 (usual are 0.001 to 0.01; most in 'b'), and the loss has not recovered: "
        "1, now 2."
    )
    assert (alarm.group, alarm.began) == ("b", 18)
    assert alarm.cure == "Divide the learning rate by about 4,000."


# ---- which steps count ---------------------------------------------------------------------------


def stepped(rg, *steps):
    """The overshoot after steps (loss before, factor of the gradient) of three weights of 1."""
    weights = [rg.Value(1.0) for _ in range(3)]
    motion = Motion(weights, np.array([0, 1, 1]), 2, Thresholds())
    for number, (loss, factors) in enumerate(steps, start=1):
        for value in weights:
            value.data, value.grad = 1.0, 1.0
        motion.passed(np.ones(3), np.ones(3, dtype=bool), (loss,), None)
        motion._losses.clear()
        motion._losses.append(loss)
        for value, factor in zip(weights, factors):
            value.data += factor
        motion.settle(number)
    return motion.overshoot


DOWN, UP, ASIDE, SHORT = (-2.0,) * 3, (2.0,) * 3, (2.0, -2.0, 0.0), (-0.1,) * 3


def test_steps_down_the_gradient_count_from_the_first(native):
    found = stepped(native, (1.0, SHORT), (1.0, DOWN), (5.0, SHORT), (4.0, (-0.6, -9.0, -0.6)))
    assert (found.began, found.loss, found.steps, found.group) == (2, 1.0, 2, 0)
    assert found.ratio == pytest.approx(math.sqrt((0.36 + 81.0 + 0.36) / 3.0))


@pytest.mark.parametrize("way", [UP, ASIDE, SHORT])
def test_others_do_not(native, way):
    assert stepped(native, (1.0, way), (1.0, way)).steps == 0


def test_a_loss_that_has_recovered_begins_anew(native):
    assert stepped(native, (3.0, DOWN), (3.0, DOWN), (2.9, DOWN)).began == 3
    assert stepped(native, (3.0, DOWN), (3.0, DOWN), (2.9, DOWN)).steps == 1
    assert stepped(native, (3.0, DOWN), (3.0, DOWN), (3.0, DOWN)).steps == 3
