"""The doctor over a training loop: what only time shows, in bounded memory."""

from __future__ import annotations

import pickle
import sys

import pytest

from .networks import Network, train


def kinds(report):
    return {verdict.kind for verdict in report.alarms}


def test_gradients_nobody_reset_are_stale(rg):
    network = Network(rg, 1, "tanh", rows=12)
    with rg.doctor.watch(network.parameters) as watched:
        train(network, 4, zero=False)
    (verdict,) = watched.report().alarms
    assert verdict.kind == "stale"
    assert "in 3 of 3 steps" in verdict.sentence
    assert "zero_grad" in verdict.sentence
    assert verdict.site.function == "train"


def test_a_reset_now_and_then_is_stale_in_the_other_steps(rg):
    w = rg.Value(1.0, label="w")
    with rg.doctor.watch([w]) as watched:
        for step in range(9):
            if step % 4 == 0:
                w.grad = 0.0
            ((w - 3.0) ** 2).backward()
            w.data -= 0.01 * w.grad
    assert kinds(watched.report()) == {"stale"}


def test_parameters_updated_but_never_reached(rg):
    w, other = rg.Value(1.0, label="w"), rg.Value(1.0, label="other")
    with rg.doctor.watch([w, other]) as watched:
        for _ in range(3):
            rg.zero_grad([w])
            ((w - 3.0) ** 2).backward()
            w.data -= 0.01 * w.grad
            other.data *= 0.9  # weight decay
    found = {verdict.kind: verdict for verdict in watched.report().alarms}
    assert set(found) == {"never reached"}
    assert found["never reached"].group == "other"
    assert [each.kind for each in found["never reached"].consequences] == ["unreachable"]


def test_the_update_after_the_last_pass_counts(rg):
    w, other = rg.Value(1.0, label="w"), rg.Value(1.0, label="other")
    with rg.doctor.watch([w, other]) as watched:
        ((w - 3.0) ** 2).backward()
        other.data = 5.0
    assert "never reached" in kinds(watched.report())


def test_a_parameter_reached_once_is_reached(rg):
    a, b = rg.Value(1.0, label="a"), rg.Value(1.0, label="b")
    with rg.doctor.watch([a, b]) as watched:
        (a * a + 0.1 * a).backward()
        (b * b + 0.1 * b).backward()
    assert watched.report().healthy
    assert watched.passes == 2


def test_the_line_that_cut_is_named(rg):
    w, v = rg.Value(0.3, label="w"), rg.Value(0.4, label="v")
    with rg.doctor.watch([w, v]) as watched:
        hidden = (w * 2.0).detach()
        (hidden * v).backward()
    here = test_the_line_that_cut_is_named.__code__.co_firstlineno
    (verdict,) = watched.report().alarms
    assert (verdict.kind, verdict.group) == ("detached", "w")
    assert (verdict.site.file, verdict.site.line) == (__file__, here + 3)
    assert "detach() on line" in verdict.sentence


def test_nothing_watched_outlives_the_pass(rg):
    w, v = rg.Value(0.3, label="w"), rg.Value(0.4, label="v")
    with rg.doctor.watch([w, v]) as watched:
        inner = w * 2.0
        before = sys.getrefcount(inner)
        hidden = inner.detach()
        with rg.no_grad():
            plain = inner * 3.0
        loss = hidden * v + plain
        root_before = sys.getrefcount(loss)
        loss.backward()
        assert sys.getrefcount(inner) == before
        assert sys.getrefcount(loss) == root_before
    assert watched.passes == 1


def test_memory_does_not_grow_with_the_passes(rg):
    network = Network(rg, 3, "relu", depth=2, rows=12)
    sizes = []
    with rg.doctor.watch(network.parameters) as watched:
        for _ in range(4):
            train(network, 300 if rg.__name__ == "retrograde" else 8, 0.001)
            report = watched.report().as_dict()
            assert len(report.pop("history")) <= 257
            sizes.append(len(pickle.dumps(report)))
    assert sizes[-1] < 1.2 * sizes[1]


def test_the_history_is_thinned_and_keeps_its_ends(rg):
    w = rg.Value(5.0, label="w")
    with rg.doctor.watch([w]) as watched:
        for _ in range(1000):
            w.grad = 0.0
            ((w - 3.0) ** 2).backward()
            w.data -= 0.001 * w.grad
    history = watched.report().history
    assert history[0].number == 1
    assert 900 < history[-1].number <= 1000
    assert len(history) <= 257
    losses = [moment.loss for moment in history]
    assert losses == sorted(losses, reverse=True)


def test_outside_the_block_nothing_is_watched_and_all_is_as_it_was(rg):
    method, cut = rg.Value.__dict__["backward"], rg.Value.__dict__["detach"]
    w = rg.Value(1.0)
    with rg.doctor.watch([w]) as watched:
        (w * w).backward()
    assert rg.Value.__dict__["backward"] is method
    assert rg.Value.__dict__["detach"] is cut
    (w * w).backward()
    assert watched.passes == 1


def test_watches_may_be_nested(rg):
    a, b = rg.Value(1.0, label="a"), rg.Value(2.0, label="b")
    with rg.doctor.watch([a]) as outer:
        with rg.doctor.watch([b]) as inner:
            (a.detach() * b).backward()
        (a * b).backward()
    assert (outer.passes, inner.passes) == (2, 1)
    assert outer.report().healthy


def test_gradients_are_the_same_under_watch(rg):
    plain, watched = Network(rg, 9, "gelu", rows=12), Network(rg, 9, "gelu", rows=12)
    train(plain, 3)
    with rg.doctor.watch(watched.parameters):
        train(watched, 3)
    assert [p.data.hex() for p in plain.values()] == [p.data.hex() for p in watched.values()]


def test_a_failed_pass_is_not_counted(rg):
    w = rg.Value(1.0)
    node = rg.Value(1.0, (w,), "mine")
    with rg.doctor.watch([w]) as watched:
        with pytest.raises(rg.errors.MissingBackwardError):
            node.backward()
        (w * w).backward()
    assert watched.passes == 1


def test_a_block_without_passes_has_no_report(rg):
    with rg.doctor.watch([rg.Value(1.0)]) as watched:
        pass
    with pytest.raises(rg.errors.DoctorError, match="no backward pass was seen"):
        watched.report()
