"""A bank of sick programs, each with its known illness and the line it is on."""

from __future__ import annotations

import inspect
import math

import pytest

ROWS = [(math.sin(3.0 * i), math.cos(5.0 * i)) for i in range(16)]


def leaves(rg, name, *numbers):
    return [rg.Value(x, label=f"{name}[{i}]") for i, x in enumerate(numbers)]


def squares(rg, outputs):
    return rg.mean([(out - 0.3) ** 2 for out in outputs])


# Each program returns the loss and the parameters. The line of the illness ends in "# sick".


def unreachable(rg):
    w, unused = leaves(rg, "w", 0.5, 0.2), leaves(rg, "unused", 1.0, 2.0)
    return squares(rg, [rg.dot(w, x) for x in ROWS]), [w, unused]


def taken_out_by_data(rg):
    w, v = leaves(rg, "w", 0.5, 0.2), leaves(rg, "v", 0.7)
    hidden = [rg.Value(rg.dot(w, x).data) for x in ROWS]
    return squares(rg, [v[0] * h for h in hidden]), [w, v]


def detached_branch(rg):
    w, v, u = leaves(rg, "w", 0.5, 0.2), leaves(rg, "v", 0.7), leaves(rg, "u", -0.3, 0.4)
    hidden = [rg.tanh(rg.dot(w, x)).detach() for x in ROWS]  # sick
    return squares(rg, [v[0] * h + rg.dot(u, x) for h, x in zip(hidden, ROWS)]), [w, v, u]


def computed_without_gradients(rg):
    w, v = leaves(rg, "w", 0.5, 0.2), leaves(rg, "v", 0.7)
    with rg.no_grad():
        hidden = [rg.dot(w, x) for x in ROWS]  # sick
        hidden = [rg.tanh(h) for h in hidden]
    return squares(rg, [v[0] * h for h in hidden]), [w, v]


def dead_relu_layer(rg):
    w, b, v = (
        leaves(rg, "w", 0.5, 0.2, 0.4),
        leaves(rg, "b", -9.0, -9.0, -9.0),
        leaves(rg, "v", 1.0),
    )
    outputs = []
    for x in ROWS:
        units = [rg.relu(wi * x[0] + bi) for wi, bi in zip(w, b)]  # sick
        outputs.append(v[0] * x[1] + rg.sum(units))
    return squares(rg, outputs), [w, b, v]


def dead_gate(rg):
    """An arm that is never taken."""
    w, v = leaves(rg, "w", 0.5), leaves(rg, "v", 0.7)
    outputs = [rg.where(x[0] > 5.0, w[0] * x[1], v[0] * x[1]) for x in ROWS]  # sick
    return squares(rg, outputs), [w, v]


def clipped_away(rg):
    w, v = leaves(rg, "w", 50.0), leaves(rg, "v", 0.7)
    outputs = [v[0] * x[1] + rg.clip(w[0] + x[0], -1.0, 1.0) for x in ROWS]  # sick
    return squares(rg, outputs), [w, v]


def zero_factor(rg):
    w, v = leaves(rg, "w", 0.5, 0.1), leaves(rg, "v", 0.7)
    scale = 0.0
    outputs = [rg.dot(w, x) * scale + v[0] * x[1] for x in ROWS]  # sick
    return squares(rg, outputs), [w, v]


def zero_column(rg):
    """A feature that is always zero."""
    w, v = leaves(rg, "w", 0.5), leaves(rg, "v", 0.7)
    outputs = [w[0] * 0.0 + v[0] * x[1] for x in ROWS]  # sick
    return squares(rg, outputs), [w, v]


def two_zero_matrices(rg):
    """Both factors start at zero: neither can ever learn."""
    a, b, v = leaves(rg, "a", 0.0, 0.0), leaves(rg, "b", 0.0, 0.0), leaves(rg, "v", 0.7)
    outputs = [a[0] * b[0] * x[0] + a[1] * b[1] * x[1] + v[0] for x in ROWS]  # sick
    return squares(rg, outputs), [a, b, v]


def flat_op(rg):
    w, v = leaves(rg, "w", 0.5), leaves(rg, "v", 0.7)
    outputs = [rg.floor(w[0] * x[0]) + v[0] * x[1] for x in ROWS]  # sick
    return squares(rg, outputs), [w, v]


def saturated_for_good(rg):
    w, v = leaves(rg, "w", 0.5), leaves(rg, "v", 0.7)
    outputs = [v[0] * rg.tanh(w[0] * x[0] + 900.0) for x in ROWS]  # sick
    return squares(rg, outputs), [w, v]


def saturated_but_not_to_nothing(rg):
    w, v = leaves(rg, "w", 0.5), leaves(rg, "v", 0.7)
    outputs = [v[0] * rg.tanh(w[0] * x[0] + 90.0) for x in ROWS]  # sick
    return squares(rg, outputs), [w, v]


def saturated_units(rg):
    w, b, v = leaves(rg, "w", 0.5, -0.4), leaves(rg, "b", 9.0, -9.0), leaves(rg, "v", 0.7, 0.2)
    outputs = []
    for x in ROWS:
        units = [rg.sigmoid(wi * x[0] + bi) for wi, bi in zip(w, b)]  # sick
        outputs.append(rg.dot(v, units))
    return squares(rg, outputs), [w, b, v]


def nan_forward(rg):
    w = leaves(rg, "w", 0.5, 0.1)
    outputs = [rg.log(w[0] * x[0]) + w[1] for x in ROWS]  # sick
    return squares(rg, outputs), [w]


def zero_over_zero(rg):
    w = leaves(rg, "w", 0.5, 0.1)
    spread = w[0] - w[0]
    return spread / spread + w[1], [w]  # sick


def nan_backward(rg):
    """A distance of a point to itself: finite, and infinitely steep."""
    w = leaves(rg, "w", 0.5, 0.1)
    distance = rg.sqrt((w[0] - 0.5) ** 2 + (w[1] - 0.1) ** 2)  # sick
    return distance + w[0] * w[1], [w]


def infinite_untaken_arm(rg):
    w = leaves(rg, "w", 0.0, 0.4)
    safe = rg.where(w[0] > 0.0, 1.0 / w[0], w[1])  # sick
    return (safe - 1.0) ** 2, [w]


def root_of_an_untaken_arm(rg):
    w = leaves(rg, "w", 0.0, 0.4)
    root = rg.where(w[0] > 0.0, rg.sqrt(w[0]), w[1])  # sick
    return (root - 1.0) ** 2, [w]


def overflow_in_softmax(rg):
    w = leaves(rg, "w", 800.0, 790.0, 1.0)
    powers = [rg.exp(x) for x in w]  # sick
    shares = [power / rg.sum(powers) for power in powers]
    return -rg.log(shares[0]), [w]


def vanishing_through_fifty_sigmoids(rg):
    w = leaves(rg, "w", *[0.5 + 0.01 * i for i in range(50)])
    outputs = []
    for x in ROWS:
        h = x[0]
        for weight in w:
            h = rg.sigmoid(weight * h)
        outputs.append(h)
    return squares(rg, outputs), [w]


def vanishing_recurrence(rg):
    w, u = leaves(rg, "w", 0.4), leaves(rg, "u", 0.3)
    h = u[0] * 1.0
    for _ in range(40):
        h = rg.tanh(w[0] * h)
    return (h - 1.0) ** 2, [w, u]


def exploding_recurrence(rg):
    w, u = leaves(rg, "w", 2.5), leaves(rg, "u", 1e-9)
    h = u[0] * 1.0
    for _ in range(40):
        h = w[0] * h
    return (h * 1e-9 - 1.0) ** 2, [w, u]


def exploding_layers(rg):
    layers = [leaves(rg, f"layer{i}", 80.0, -60.0, 70.0) for i in range(5)]
    outputs = []
    for x in ROWS:
        h = [x[0], x[1], 1.0]
        for layer in layers:
            h = [rg.leaky_relu(rg.dot(layer, h)) for _ in range(3)]
        outputs.append(h[0])
    return squares(rg, outputs), layers


def overwriting_rule(rg):
    """= for += in a closure-style op: of two uses of x one is lost."""
    x = rg.Value(0.7, label="x")

    def cube(v):
        out = rg.Value(v.data**3, (v,), "cube")

        def backward():  # sick
            v.grad = 3 * v.data**2 * out.grad

        out._backward = backward
        return out

    return cube(x) + x * 2.0, [x]


def nan_in_the_data(rg):
    w = leaves(rg, "w", 0.5, 0.1)
    row = rg.Value(math.nan, requires_grad=False, label="row")  # sick
    return (w[0] * row + w[1]) ** 2, [w]


KNOWN = {
    unreachable: ("unreachable", "unused"),
    taken_out_by_data: ("unreachable", "w"),
    detached_branch: ("detached", "w"),
    computed_without_gradients: ("detached", "w"),
    dead_relu_layer: ("dead units", "b"),
    dead_gate: ("dead gate", "w"),
    clipped_away: ("dead gate", "w"),
    zero_factor: ("zero factor", "w"),
    zero_column: ("zero factor", "w"),
    two_zero_matrices: ("zero factor", "a"),
    flat_op: ("flat", "w"),
    saturated_for_good: ("saturated gate", "w"),
    saturated_but_not_to_nothing: ("saturated units", "w"),
    saturated_units: ("saturated units", "b"),
    nan_forward: ("birth forward", ""),
    zero_over_zero: ("birth forward", ""),
    nan_backward: ("birth backward", ""),
    infinite_untaken_arm: ("birth backward", ""),
    root_of_an_untaken_arm: ("birth backward", ""),
    overflow_in_softmax: ("birth forward", ""),
    vanishing_through_fifty_sigmoids: ("vanishing", None),
    vanishing_recurrence: ("vanishing", None),
    exploding_recurrence: ("exploding", None),
    exploding_layers: ("exploding", None),
    overwriting_rule: ("overwrites", ""),
    nan_in_the_data: ("birth forward", ""),
}


def sick_line(program):
    lines, first = inspect.getsourcelines(program)
    found = [first + i for i, line in enumerate(lines) if line.rstrip().endswith("# sick")]
    return found[0] if found else None


@pytest.mark.parametrize("program", KNOWN, ids=lambda p: p.__name__)
def test_the_illness_is_found_with_its_line(rg, program):
    kind, group = KNOWN[program]
    if kind == "detached":
        report = watched_report(rg, program)
    else:
        loss, parameters = program(rg)
        report = rg.doctor(loss, parameters)
    found = [v for v in report.alarms if v.kind == kind and group in (None, v.group)]
    assert found, [f"{v.severity} {v.kind} {v.group}: {v}" for v in report.verdicts]
    line = sick_line(program)
    if line is not None:
        assert found[0].site is not None, found[0]
        assert (found[0].site.file, found[0].site.line) == (__file__, line)


def watched_report(rg, program):
    """The report of a pass watched from before its parameters are used."""
    made = {}
    real = leaves

    def remembered(module, name, *numbers):
        return made.setdefault(name, real(module, name, *numbers))

    globals()["leaves"] = remembered
    try:
        program(rg)  # makes the parameters
        with rg.doctor.watch(dict(made)) as watched:
            loss, _ = program(rg)
            loss.backward()
    finally:
        globals()["leaves"] = real
    return watched.report()


@pytest.mark.parametrize("program", [p for p in KNOWN if KNOWN[p][0].startswith("birth")],
                         ids=lambda p: p.__name__)  # fmt: skip
def test_births_name_the_line_after_the_fact(rg, program):
    loss, _ = program(rg)
    found = rg.births(loss)
    phase = KNOWN[program][0].partition(" ")[2]
    first = getattr(found, phase)[0]
    assert first.site.line == sick_line(program)
    assert first.source.endswith("# sick")


@pytest.mark.parametrize("program", [p for p in KNOWN if KNOWN[p][0].startswith("birth")],
                         ids=lambda p: p.__name__)  # fmt: skip
def test_anomaly_mode_stops_on_the_same_line(rg, program):
    with pytest.raises(rg.errors.AnomalyError) as caught, rg.anomaly():
        program(rg)[0].backward()
    assert caught.value.birth.site.line == sick_line(program)
