"""The training loop: faults of every kind in several styles, and healthy loops that look alike."""

from __future__ import annotations

import pytest

from .loops import LOOPS, NAMES
from .networks import Network
from .step_faults import FROM_THE_START, STEP_FAULTS, too_long


def named(network):
    """The parameters as they are now, whatever the network makes of itself later."""
    return {
        f"layer{i}": {"w": [list(ws) for ws in layer["w"]], "b": list(layer["b"])}
        for i, layer in enumerate(network.layers)
    }


def watched_fault(rg, fault, seed, first):
    network = Network(rg, 60_000 + seed, rows=12)
    parameters = named(network)
    expected, loop = fault(network, first)
    with rg.doctor.watch(parameters) as watched:
        for _ in loop(16):
            pass
    return expected, watched.report()


def is_named(expected, report):
    kind, group = expected
    for verdict in report.alarms:
        groups = verdict.groups or ("",)
        if verdict.kind == kind and (group is None or any(g.startswith(group) for g in groups)):
            return verdict
    return None


BLOWN_UP = {"exploding", "saturated units", "dead units", "birth forward", "zero factor"}


@pytest.mark.bank(every=5, native=2)
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("fault", STEP_FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_of_the_loop_is_one_alarm(rg, fault, seed):
    first = (0, 0, 5)[seed]
    expected, report = watched_fault(rg, fault, 13 * seed + STEP_FAULTS.index(fault), first)
    verdict = is_named(expected, report)
    if verdict is None and fault is too_long:
        assert report.kinds() & BLOWN_UP
        return
    assert verdict is not None, [f"{v.severity} {v}" for v in report.verdicts]
    assert len(report.alarms) == 1, [str(v) for v in report.alarms]
    assert verdict.cure
    if first and fault not in FROM_THE_START:
        assert first <= verdict.began <= first + 2


@pytest.mark.bank
@pytest.mark.parametrize("count", [65, pytest.param(260, marks=pytest.mark.sweep)])
def test_the_rate_of_faults_of_the_loop(rg, count):
    wrong, many = [], []
    for seed in range(100, 100 + count):
        fault = STEP_FAULTS[seed % len(STEP_FAULTS)]
        expected, report = watched_fault(rg, fault, seed, (0, 0, 4, 7)[seed // 13 % 4])
        if is_named(expected, report) is None:
            wrong.append((fault.__name__, seed, sorted(report.kinds())))
        elif len(report.alarms) > 1:
            many.append((fault.__name__, seed, sorted(report.kinds())))
    assert len(wrong) <= 0.03 * count, wrong
    assert len(many) <= 0.03 * count, many


@pytest.mark.parametrize(
    ("seed", "shut"), [(123, "layer0.b"), (604, "layer2.w"), (799, "layer1.w")]
)
def test_units_that_long_steps_have_shut_are_told_under_the_learning_rate(native, seed, shut):
    """Their gradients are so small that most steps are short: the long ones come now and then."""
    expected, report = watched_fault(native, too_long, seed, (0, 0, 4, 7)[seed // 13 % 4])
    verdict = is_named(expected, report)
    assert report.alarms == (verdict,)
    (units,) = (v for v in verdict.consequences if v.kind == "saturated units" and v.group == shut)
    assert verdict.began < units.began
    assert "the loss has not recovered" in verdict.sentence
    assert verdict.cure.startswith("Divide the learning rate by about ")


def test_one_long_step_is_told_as_what_it_did(native):
    """A single one may have been an accident: the units say that a step was too long."""
    w, v = native.Value(1.0, label="w"), native.Value(1.0, label="v")
    with native.doctor.watch([w, v]) as watched:
        for step in range(8):
            native.zero_grad([w, v])
            native.mean([(v * native.tanh(w * x) - 2.0) ** 2 for x in range(1, 11)]).backward()
            w.data -= (900.0 if step == 1 else 1e-4) * w.grad
            v.data -= 1e-4 * v.grad
    (verdict,) = watched.report().alarms
    assert verdict.kind in ("saturated units", "saturated gate")
    assert "A step before pass 3 was too long" in verdict.cure


@pytest.mark.bank(every=7, native=2)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: NAMES[loop])
def test_a_healthy_loop_raises_no_alarm_at_any_time(rg, loop, seed):
    network = Network(rg, 90_000 + 24 * seed + LOOPS.index(loop), rows=12)
    steps = 24 if rg.__name__ == "retrograde" else 10
    with rg.doctor.watch(named(network)) as watched:
        for step, _ in enumerate(loop(network, steps)):
            if step % 4 == 3:
                assert [str(v) for v in watched.report().alarms] == []


@pytest.mark.parametrize("count", [24, pytest.param(144, marks=pytest.mark.sweep)])
def test_many_healthy_loops_raise_no_alarm(native, count):
    for seed in range(count):
        network = Network(native, 95_000 + seed)
        loop = LOOPS[seed % len(LOOPS)]
        with native.doctor.watch(named(network)) as watched:
            for step, _ in enumerate(loop(network, 40)):
                if step % 7 == 6:
                    alarms = [str(v) for v in watched.report().alarms]
                    assert not alarms, (seed, NAMES[loop], alarms)


# ---- two models that learn against each other -------------------------------------------------


def adversaries(rg, steps, critic=1, careless=False):
    """The standard loop: each optimizer resets its own parameters only."""
    g, d = rg.nn.MLP(1, [3, 1], seed=1), rg.nn.MLP(1, [3, 1], seed=2)
    slow, fast = rg.optim.SGD(g.parameters(), lr=0.02), rg.optim.SGD(d.parameters(), lr=0.02)
    noise = [[0.3 * i - 0.7] for i in range(6)]
    real = [[0.2 * i + 1.0] for i in range(6)]

    def mean(terms):
        return rg.mean(list(terms))

    for _ in range(steps):
        for _ in range(critic):
            if not careless:
                fast.zero_grad()
            fake = [g(z) for z in noise]
            loss = mean(rg.softplus(-d(x)) for x in real)
            (loss + mean(rg.softplus(d([f.detach()])) for f in fake)).backward()
            fast.step()
        slow.zero_grad()
        mean(rg.softplus(-d([g(z)])) for z in noise).backward()
        slow.step()
        yield {"g": g, "d": d}


def watch_adversaries(rg, steps=8, form=lambda both: both, **options):
    rounds = adversaries(rg, steps, **options)
    both = next(rounds)
    with rg.doctor.watch(form(both)) as watched:
        for _ in rounds:
            pass
    return watched.report()


@pytest.mark.parametrize("critic", [1, 4])
def test_the_standard_adversarial_loop_is_not_stale(rg, critic):
    report = watch_adversaries(rg, critic=critic)
    assert report.verdicts == () or report.healthy, str(report)
    assert "Stale" not in str(report)


def test_an_adversary_that_is_never_reset_is_stale(rg):
    report = watch_adversaries(rg, careless=True)
    (verdict,) = report.alarms
    assert verdict.kind == "stale"
    assert all(group.startswith("d.") for group in verdict.groups)


@pytest.mark.parametrize(
    "form",
    [
        lambda both: both,
        lambda both: list(both.values()),
        lambda both: [p for model in both.values() for p in model.parameters()],
    ],
    ids=["dict", "list", "flat"],
)
def test_two_models_with_the_same_labels_are_two(rg, form):
    report = watch_adversaries(rg, form=form)
    assert len(report.groups) == 4
    assert len({group.name for group in report.groups}) == 4
    assert sum(group.parameters for group in report.groups) == 20


def test_two_models_with_plain_labels_are_told_apart_by_their_passes(rg):
    def model():
        return [rg.Value(0.5, label="w"), rg.Value(0.1, label="b")]

    one, two = model(), model()
    with rg.doctor.watch(one + two) as watched:
        for step in range(6):
            w, b = one if step % 2 else two
            rg.zero_grad([w, b])
            w_used = w if step % 2 else w.detach()  # the second model's weight
            ((w_used * 2.0 + b - 1.0) ** 2).backward()
            for p in (w, b):
                p.data -= 0.01 * p.grad
    report = watched.report()
    assert {group.name for group in report.groups} >= {"b, model 1", "b, model 2"}
    (verdict,) = report.alarms
    assert verdict.kind == "detached"


# ---- stale gradients --------------------------------------------------------------------------


def test_clipping_does_not_hide_stale_gradients(rg):
    w, v = rg.Value(3.0, label="w"), rg.Value(2.0, label="v")
    with rg.doctor.watch([w, v]) as watched:
        for _ in range(6):
            ((w * v - 1.0) ** 2).backward()
            rg.optim.clip_grad_norm([w, v], 1.0)
            for p in (w, v):
                p.data -= 0.01 * p.grad
    assert [verdict.kind for verdict in watched.report().alarms] == ["stale"]


def test_gradients_kept_for_a_pass_without_a_step_are_not_stale(rg):
    """A look at gradients between two steps, reset before the next."""
    w = rg.Value(3.0, label="w")
    with rg.doctor.watch([w]) as watched:
        for _ in range(6):
            w.grad = 0.0
            ((w - 1.0) ** 2).backward()
            w.data -= 0.01 * w.grad
            (0.1 * w * w).backward()  # looked at, not used
    assert watched.report().healthy


def test_a_report_in_the_middle_changes_nothing(rg):
    def kinds(ask):
        w = rg.Value(3.0, label="w")
        with rg.doctor.watch([w]) as watched:
            for _ in range(6):
                ((w - 1.0) ** 2).backward()
                if ask:
                    watched.report()
                w.data -= 0.01 * w.grad
                if ask:
                    watched.report()
        return [v.sentence for v in watched.report().verdicts]

    assert kinds(True) == kinds(False)


# ---- memory -----------------------------------------------------------------------------------


def size_of(thing, seen):
    """The bytes of a record, but for values, code and what is shared.

    What was seen is kept: a dict made only now, of an object's attributes, could get the place, and
    so the id, of one that is gone.
    """
    import sys

    import numpy as np

    if id(thing) in seen or isinstance(thing, (type, str, int, float)) or callable(thing):
        return 0
    seen[id(thing)] = thing
    size = thing.nbytes if isinstance(thing, np.ndarray) else sys.getsizeof(thing)
    if isinstance(thing, dict):
        return size + sum(size_of(k, seen) + size_of(v, seen) for k, v in thing.items())
    if isinstance(thing, (list, tuple, set)) or type(thing).__name__ == "deque":
        return size + sum(size_of(each, seen) for each in thing)
    return size + size_of(getattr(thing, "__dict__", {}), seen)


def test_a_history_does_not_grow_with_the_passes(native):
    network = Network(native, 4, "relu", depth=2, rows=12)
    sizes = []
    with native.doctor.watch(network.parameters) as watched:
        for loop in (LOOPS[1], LOOPS[7], LOOPS[1]):
            for _ in loop(network, 300):
                pass
            sizes.append(size_of(watched._history, {}))
    assert sizes[-1] <= 1.5 * sizes[0]  # the history has its bound, and is thinned by halves
