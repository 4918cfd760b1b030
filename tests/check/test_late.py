"""Faults that begin after the first pass, and that end again: how it is now, and since when."""

from __future__ import annotations

import pytest

from .faults import is_right
from .late import LATE, injected_late
from .networks import Network, train

NAMES = [fault.__name__ for fault in LATE]


def told(case, report):
    """Whether the illness is named: as the alarm, or as what follows from its only cause."""
    kinds = {v.kind for alarm in report.alarms for v in (alarm, *alarm.consequences)}
    return is_right(case, report) or (case.kind == "exploding" and case.kind in kinds)


@pytest.mark.bank(every=5, native=3)
@pytest.mark.parametrize("seed", range(len(LATE)), ids=NAMES)
@pytest.mark.parametrize("first", [2, 5])
def test_a_fault_that_begins_late_is_found_with_its_beginning(rg, seed, first):
    _, case, report = injected_late(rg, seed, first, last=99, passes=first + 7)
    assert told(case, report), [f"{v.severity} {v}" for v in report.verdicts]
    assert len(report.alarms) == 1
    for verdict in report.alarms:
        if verdict.kind == case.kind:
            assert first <= verdict.began <= first + 1
            assert verdict.cure


@pytest.mark.bank(every=5, native=2)
@pytest.mark.parametrize("seed", range(len(LATE)), ids=NAMES)
def test_a_fault_that_has_ended_is_a_note(rg, seed):
    fault, case, report = injected_late(rg, seed, first=3, last=7, passes=16)
    assert report.healthy, [f"{v.severity} {v}" for v in report.verdicts]
    over = [v for v in report.notes if v.ended]
    assert over
    if fault.__name__ != "exploding":  # it may have ended in infinities
        mine = [v for v in over if v.kind == case.kind]
        assert mine
        assert mine[0].began in (3, 4)
        assert mine[0].ended == 7


@pytest.mark.bank
@pytest.mark.slow
@pytest.mark.parametrize("count", [50, pytest.param(150, marks=pytest.mark.sweep)])
def test_the_rate_of_late_faults(rg, count):
    wrong, many = [], 0
    for seed in range(count):
        fault, case, report = injected_late(rg, 100 + seed, 2 + seed % 5, 99, 9 + seed % 5)
        many += len(report.alarms) > 1
        if not told(case, report):
            wrong.append((fault.__name__, seed))
    assert len(wrong) <= 0.02 * count, wrong
    assert many <= 0.02 * count


def test_relus_that_die_at_the_second_of_sixty_steps(rg):
    network = Network(rg, 3, "relu", depth=2, rows=12)
    steps = 60 if rg.__name__ == "retrograde" else 12
    with rg.doctor.watch(network.parameters) as watched:
        for step in range(steps):
            train(network, 1, 0.01)
            if step == 0:
                for b in network.layers[1]["b"]:
                    b.data = -1e3
    (verdict,) = watched.report().alarms
    assert (verdict.kind, verdict.group, verdict.began) == ("dead units", "layer1.b", 2)
    assert f"dead since pass 2 of {steps}" in verdict.sentence
    assert {each.kind for each in verdict.consequences} == {"dead gate", "zero factor"}
    assert "A step before pass 2 was too long. Lower the learning rate" in verdict.cure
    assert "sqrt(2 / inputs)" in verdict.cure


def test_relus_that_die_of_one_long_step(rg):
    """The real thing: a step that is too long throws the biases far down."""
    rows = [0.1 * i for i in range(10)]
    w, b, v = (rg.Value(x, label=name) for x, name in ((1.0, "w"), (0.5, "b"), (1.0, "v")))
    with rg.doctor.watch([w, b, v]) as watched:
        for step in range(12):
            rg.zero_grad([w, b, v])
            rg.mean([(v * rg.relu(w * x + b) - 0.2) ** 2 for x in rows]).backward()
            for p in (w, b, v):
                p.data -= (3.0 if step == 0 else 0.01) * p.grad
    report = watched.report()
    (verdict,) = report.alarms
    assert verdict.kind in ("dead units", "dead gate")
    assert verdict.began == 2


def test_a_detach_from_the_second_pass_on(rg):
    w, v = rg.Value(0.3, label="w"), rg.Value(0.4, label="v")
    with rg.doctor.watch([w, v]) as watched:
        for step in range(30):
            rg.zero_grad([w, v])
            hidden = w * 2.0
            if step >= 1:
                hidden = hidden.detach()
            ((hidden * v - 1.0) ** 2).backward()
            for p in (w, v):
                p.data -= 0.01 * p.grad
            if step == 1:
                assert watched.report().healthy  # one pass says nothing yet
    here = test_a_detach_from_the_second_pass_on.__code__.co_firstlineno
    (verdict,) = watched.report().alarms
    assert (verdict.kind, verdict.group, verdict.began) == ("detached", "w", 2)
    assert "detached since pass 2 of 30, detach() on line" in verdict.sentence
    assert verdict.site.line == here + 7


def test_one_parameter_of_a_group_cut_by_detach_is_not_healthy(rg):
    w = [rg.Value(0.3 + 0.1 * i, label=f"w[{i}]") for i in range(4)]
    with rg.doctor.watch(w) as watched:
        for _ in range(3):
            rg.zero_grad(w)
            ((w[0] * w[1] + w[2] + (w[3] * 2.0).detach() - 1.0) ** 2).backward()
    (verdict,) = watched.report().alarms
    assert verdict.kind == "detached"
    assert verdict.sentence.startswith("'w[3]': detached, detach() on line")


def test_a_harmless_mask_does_not_hide_a_later_birth(rg):
    """Minus infinity in a mask is met in every pass; the NaN of pass 4 is another matter."""
    w = [rg.Value(0.1 * k, label=f"w[{k}]") for k in range(3)]
    mask = rg.Value(float("-inf"), requires_grad=False)
    with rg.doctor.watch(w) as watched:
        for step in range(6):
            rg.zero_grad(w)
            scores = [w[0], w[1] * 2.0, w[2] + mask]
            loss = -rg.log(rg.softmax(scores)[0]) + w[2] * w[2]
            if step >= 3:
                loss = loss + rg.log(w[0] - 5.0)
            loss.backward()
            if step == 2:
                assert watched.report().healthy
    (verdict,) = watched.report().alarms
    assert (verdict.kind, verdict.began) == ("birth forward", 4)
    assert "log made nan" in verdict.sentence
    assert verdict.cure


def test_a_perfect_hinge_has_nothing_left_to_learn(rg):
    w = rg.Value(0.1, label="w")
    with rg.doctor.watch([w]) as watched:
        for _ in range(30):
            w.grad = 0.0
            rg.sum([rg.relu(1.0 - w * x) for x in (1.0, 2.0, 3.0)]).backward()
            w.data -= 0.05 * w.grad
    report = watched.report()
    assert report.healthy
    assert "nothing is left to learn" in str(report)


@pytest.mark.parametrize("every", [2, 5])
def test_a_part_that_learns_now_and_then_is_not_sick(rg, every):
    shared, rare = rg.Value(0.5, label="shared"), rg.Value(0.4, label="rare")
    with rg.doctor.watch([shared, rare]) as watched:
        for step in range(23):
            rg.zero_grad([shared, rare])
            out = shared * (rare if step % every == 0 else 1.0)
            ((out - 1.0) ** 2).backward()
            for p in (shared, rare):
                p.data -= 0.01 * p.grad
            if step > 2 * every:
                assert watched.report().healthy
