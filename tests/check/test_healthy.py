"""The doctor says nothing of healthy programs: of many kinds, at the start and while they learn."""

from __future__ import annotations

import math
import random

import pytest

from .networks import ACTIVATIONS, Network, train


def alarms(report):
    return [f"{verdict.kind}: {verdict.sentence}" for verdict in report.alarms]


SEEDS = range(40)


@pytest.mark.bank(every=5)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_alarm_on_a_healthy_network(rg, seed):
    network = Network(rg, 1000 + seed, ACTIVATIONS[seed % len(ACTIVATIONS)])
    assert alarms(rg.doctor(network.loss(), network.parameters)) == []


@pytest.mark.bank(every=5)
@pytest.mark.parametrize("seed", range(14))
def test_no_alarm_while_a_healthy_network_learns(rg, seed):
    network = Network(rg, 2000 + seed, ACTIVATIONS[seed % len(ACTIVATIONS)], rows=12)
    with rg.doctor.watch(network.parameters) as watched:
        train(network, 8)
    assert alarms(watched.report()) == []
    assert watched.passes == 8


def recurrence(rg):
    w, u, b = (rg.Value(x, label=name) for x, name in ((0.9, "w"), (0.5, "u"), (0.1, "b")))
    h = rg.Value(0.0, requires_grad=False)
    for t in range(12):
        h = rg.tanh(w * h + u * math.sin(t) + b)
    return (h - 0.5) ** 2, [w, u, b]


def attention(rg):
    """One head over five tokens, embeddings for nine, a matrix that starts at zero."""
    source = random.Random(3)
    width = 4

    def matrix(rows, columns, scale=0.4):
        return [[rg.Value(source.gauss(0, scale)) for _ in range(columns)] for _ in range(rows)]

    p = {
        "embed": matrix(9, width),
        "place": matrix(8, width),
        "query": matrix(width, width),
        "key": matrix(width, width),
        "value": matrix(width, width),
        "out": [[rg.Value(0.0) for _ in range(width)] for _ in range(width)],
        "head": matrix(9, width),
    }

    def times(m, x):
        return [rg.dot(row, x) for row in m]

    tokens = [1, 4, 2, 4, 3]
    xs = [[e + q for e, q in zip(p["embed"][t], p["place"][i])] for i, t in enumerate(tokens)]
    keys, values = [times(p["key"], x) for x in xs], [times(p["value"], x) for x in xs]
    losses = []
    for i in range(len(tokens) - 1):
        query = times(p["query"], xs[i])
        weights = rg.softmax([rg.dot(query, keys[j]) * 0.5 for j in range(i + 1)])
        mixed = [rg.dot(weights, [values[j][c] for j in range(i + 1)]) for c in range(width)]
        hidden = [x + y for x, y in zip(xs[i], times(p["out"], mixed))]
        square = rg.mean([h * h for h in hidden])
        hidden = [h * (square + 1e-5) ** -0.5 for h in hidden]
        logits = times(p["head"], hidden)
        losses.append(rg.logsumexp(logits) - logits[tokens[i + 1]])
    return rg.mean(losses), p


def masked_softmax(rg):
    """A mask of minus infinity, as attention has them."""
    w = [rg.Value(0.1 * k, label=f"w[{k}]") for k in range(4)]
    scores = [w[0], w[1] * 2, w[2] + rg.Value(-math.inf, requires_grad=False), w[3]]
    return -rg.log(rg.softmax(scores)[0]) + w[2] * w[2], w


def linear_regression(rg):
    w = [rg.Value(0.0, label=f"w[{k}]") for k in range(3)]
    rows = [[math.sin(i * (k + 1)) for k in range(3)] for i in range(20)]
    return rg.mean([(rg.dot(w, x) - x[0]) ** 2 for x in rows]), w


def ill_scaled(rg):
    """Inputs in millions beside inputs in thousandths."""
    w = [rg.Value(1e-7, label="big"), rg.Value(0.3, label="small"), rg.Value(0.0, label="b")]
    rows = [(1e6 * (1 + i % 5), 1e-3 * i) for i in range(20)]
    return rg.mean([(rg.dot(w, [*x, 1.0]) - 0.5) ** 2 for x in rows]), w


def many_rows(rg):
    """A mean over a thousand rows: each one's part is small, and that is no illness."""
    a, b = rg.Value(0.5, label="a"), rg.Value(0.1, label="b")
    losses = [(rg.tanh(a * (i / 500 - 1)) + b - 0.3) ** 2 for i in range(1000)]
    return sum(losses) / 1000.0, [a, b]


def scaled_loss(rg):
    a, b = rg.Value(0.5, label="a"), rg.Value(0.1, label="b")
    return 1e-9 * sum((rg.tanh(a * i) * b - 0.3) ** 2 for i in range(10)), [a, b]


def at_its_minimum(rg):
    w = rg.Value(2.0, label="w")
    return sum((w * x - 2.0 * x) ** 2 for x in (1.0, 2.0, 3.0)), [w]


def frozen_layer(rg):
    a, b = rg.Value(0.5, label="a"), rg.Value(0.1, label="b")
    rg.freeze([a])
    return sum((rg.tanh(a * i) * b - 0.3) ** 2 for i in range(10)), [a, b]


def normalised(rg):
    """Layer normalisation: the bias before it has no gradient but rounding."""
    w = [rg.Value(0.3 * k - 0.4, label=f"w[{k}]") for k in range(4)]
    shift = rg.Value(0.7, label="shift")
    losses = []
    for i in range(10):
        zs = [v * math.sin(i + k) + shift for k, v in enumerate(w)]
        middle = rg.mean(zs)
        spread = rg.mean([(z - middle) ** 2 for z in zs])
        losses.append(((zs[0] - middle) / rg.sqrt(spread + 1e-5) - 0.5) ** 2)
    return rg.mean(losses), [w, shift]


def one_row(rg):
    """One row through small relu layers: some of them off is the usual thing."""
    network = Network(rg, 5, "relu", rows=12)
    network.data, network.labels = network.data[:1], network.labels[:1]
    return network.loss(), network.parameters


def black_scholes(rg):
    s, k, r, v, t = (rg.Value(x, label=n) for x, n in zip((100.0, 95.0, 0.03, 0.2, 1.0), "skrvt"))
    d = (rg.log(s / k) + (r + v * v / 2) * t) / (v * rg.sqrt(t))
    price = s * rg.norm_cdf(d) - k * rg.exp(-r * t) * rg.norm_cdf(d - v * rg.sqrt(t))
    return price, [s, k, r, v, t]


PROGRAMS = (
    recurrence, attention, masked_softmax, linear_regression, ill_scaled, many_rows, scaled_loss,
    at_its_minimum, frozen_layer, normalised, one_row, black_scholes,
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_no_alarm_on_a_healthy_program(rg, program):
    loss, parameters = program(rg)
    assert alarms(rg.doctor(loss, parameters)) == []


def momentum(parameters, state):
    for p in parameters:
        state[id(p)] = 0.9 * state.get(id(p), 0.0) + p.grad
        p.data -= 0.02 * state[id(p)]


def adam(parameters, state):
    state["t"] = state.get("t", 0) + 1
    for p in parameters:
        m, v = state.get(id(p), (0.0, 0.0))
        m, v = 0.9 * m + 0.1 * p.grad, 0.99 * v + 0.01 * p.grad**2
        state[id(p)] = (m, v)
        step = (m / (1 - 0.9 ** state["t"])) / ((v / (1 - 0.99 ** state["t"])) ** 0.5 + 1e-8)
        p.data -= 0.01 * step


@pytest.mark.parametrize("optimizer", [momentum, adam], ids=lambda f: f.__name__)
def test_no_alarm_with_optimizers_that_remember(rg, optimizer):
    network, state = Network(rg, 77, "tanh", rows=12), {}
    with rg.doctor.watch(network.parameters) as watched:
        for _ in range(6):
            rg.zero_grad(network.values())
            network.loss().backward()
            optimizer(network.values(), state)
    assert alarms(watched.report()) == []


def test_gradients_accumulated_over_batches_are_not_stale(rg):
    network = Network(rg, 78, "tanh", rows=12)
    data, labels = network.data, network.labels
    with rg.doctor.watch(network.parameters) as watched:
        for _ in range(4):
            rg.zero_grad(network.values())
            for half in (slice(0, 6), slice(6, 12)):
                network.data, network.labels = data[half], labels[half]
                network.loss().backward()
            for p in network.values():
                p.data -= 0.01 * p.grad
    assert alarms(watched.report()) == []


def test_evaluation_without_gradients_is_no_detached_parameter(rg):
    network = Network(rg, 79, "tanh", rows=12)
    with rg.doctor.watch(network.parameters) as watched:
        for _ in range(3):
            train(network, 1)
            with rg.no_grad():
                network.loss()
            network.loss().detach()
    assert alarms(watched.report()) == []


def test_two_losses_that_take_turns(rg):
    one, two = Network(rg, 80, "tanh", rows=12), Network(rg, 81, "tanh", rows=12)
    with rg.doctor.watch({"one": one.parameters, "two": two.parameters}) as watched:
        for network in (one, two, one, two):
            train(network, 1)
    assert alarms(watched.report()) == []


def test_a_matrix_that_starts_at_zero_alarms_nobody(rg):
    """Some hidden units are off in every row; what matters is the zero on the way to `up`."""
    up = [[rg.Value(w) for w in row] for row in ([1.0, 0.5], [-1.0, -0.5], [0.3, 2.0])]
    down = [rg.Value(0.0) for _ in up]
    losses = []
    for x in ([1.0, 2.0], [0.5, 1.5]):
        hidden = [rg.dot(row, x).relu() ** 2 for row in up]
        losses.append((rg.dot(down, hidden) - 1.0) ** 2)
    report = rg.doctor(rg.sum(losses), {"up": up, "down": down})
    assert report.healthy, str(report)
    assert "parameter which learns" in str(report)
