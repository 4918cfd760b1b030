"""Faults to put into healthy networks: each knows the verdict that is right, and where it sits.

A fault is a function of (network, place, source) that changes the network or returns what to do
between layers; the function a line lives in is how tests know the line is right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .networks import Network, train

SMOOTH = ("tanh", "sigmoid", "gelu", "silu", "softplus")


@dataclass
class Case:
    """What was done, and what the doctor should say of it."""

    kind: str
    group: str | None = None  # a layer that must be named
    line_in: str | None = None  # the function the blamed line lies in
    between: Any = None
    watched: bool = False
    zero: bool = True
    parameters: Any = None
    step: Any = None


def on_layer(place, change):
    """Between layers: change what the layer at a place gives."""

    def between(i, xs):
        return change(xs) if i == place else xs

    return between


def detached(network, place):
    def cut_by_detach(xs):
        return [x.detach() for x in xs]

    return Case("detached", f"layer{place}", "cut_by_detach", on_layer(place, cut_by_detach), True)


def without_gradients(network, place):
    def cut_by_no_grad(xs):
        with network.rg.no_grad():
            return [x * 1.0 for x in xs]

    between = on_layer(place, cut_by_no_grad)
    return Case("detached", f"layer{place}", "cut_by_no_grad", between, True)


def taken_out(network, place):
    def by_data(xs):
        return [network.rg.Value(x.data) for x in xs]

    return Case("unreachable", f"layer{place}", None, on_layer(place, by_data))


def unused(network, place):
    spare = [network.rg.Value(network.source.gauss(0, 1)) for _ in range(3)]
    return Case("unreachable", "spare", parameters={**network.parameters, "spare": spare})


def dead_layer(network, place):
    for b in network.layers[place]["b"]:
        b.data = -1e3
    return Case("dead units", f"layer{place}")


def zero_factor(network, place):
    def by_zero(xs):
        return [x * 0.0 for x in xs]

    return Case("zero factor", f"layer{place}", "by_zero", on_layer(place, by_zero))


def saturated(network, place):
    for b in network.layers[place]["b"]:
        b.data = network.source.choice((-1, 1)) * network.source.uniform(30.0, 40.0)
    return Case("saturated units", f"layer{place}")


def flat(network, place):
    def by_floor(xs):
        return [network.rg.floor(x * 4.0) for x in xs]

    return Case("flat", f"layer{place}", "by_floor", on_layer(place, by_floor))


def nan_forward(network, place):
    def by_log(xs):
        return [network.rg.log(x - 50.0) for x in xs]

    return Case("birth forward", "", "by_log", on_layer(place, by_log))


def overflow(network, place):
    def by_exp(xs):
        return [network.rg.exp(800.0 + x) * x for x in xs]

    return Case("birth forward", "", "by_exp", on_layer(place, by_exp))


def nan_backward(network, place):
    def by_sqrt(xs):
        return [x + network.rg.sqrt(x - x) for x in xs]

    return Case("birth backward", "", "by_sqrt", on_layer(place, by_sqrt))


def untaken_arm(network, place):
    def by_where(xs):
        rg = network.rg
        return [rg.where(1.0, x, rg.sqrt((x - x) * 2.0)) for x in xs]

    return Case("birth backward", "", "by_where", on_layer(place, by_where))


def vanishing(network, place):
    for layer in network.layers[place : place + 3]:
        for ws in layer["w"]:
            for w in ws:
                w.data *= 1e-4
    return Case("vanishing")


def exploding(network, place):
    for layer in network.layers[place : place + 3]:
        for ws in layer["w"]:
            for w in ws:
                w.data *= 1e4
    return Case("exploding")


def stale(network, place):
    return Case("stale", watched=True, zero=False)


def never_reached(network, place):
    spare = [network.rg.Value(1.0) for _ in range(3)]

    def decay():
        for p in spare:
            p.data *= 0.99

    parameters = {**network.parameters, "spare": spare}
    return Case("never reached", "spare", watched=True, parameters=parameters, step=decay)


def overwriting(network, place):
    def own_op(xs):
        return [closure(x) for x in xs]

    def closure(x):
        out = network.rg.Value(math.tanh(x.data), (x,), "own")

        def rule():
            x.grad = (1 - out.data**2) * out.grad

        out._backward = rule
        return out

    return Case("overwrites", "", "rule", on_layer(place, own_op))


FAULTS = (
    detached, without_gradients, taken_out, unused, dead_layer, zero_factor, saturated, flat,
    nan_forward, overflow, nan_backward, untaken_arm, vanishing, exploding, stale, never_reached,
    overwriting,
)  # fmt: skip

NEEDS = {
    dead_layer: ("relu",),
    saturated: ("tanh", "sigmoid"),
    exploding: ("relu", "leaky_relu"),
    vanishing: ("tanh", "relu", "leaky_relu", "gelu", "silu"),
}
"""Activations a fault needs to be the illness it is meant to be."""


def injected(rg, seed):
    """A healthy network and a fault at a random place: (fault, case, report)."""
    fault = FAULTS[seed % len(FAULTS)]
    kinds = NEEDS.get(fault)
    activation = kinds[seed // len(FAULTS) % len(kinds)] if kinds else None
    depth = 4 if fault in (vanishing, exploding) else None
    network = Network(rg, 50_000 + seed, activation, depth)
    if fault not in (stale, never_reached, unused, overwriting):
        network.residual = network.penalty = False  # other ways round the fault
    last = len(network.layers) - 2
    place = network.source.randint(1, last - 1) if depth else network.source.randint(0, last)
    if fault is vanishing or fault is exploding:
        place = 1
    case = fault(network, place)
    parameters = case.parameters or network.parameters
    if not case.watched:
        return fault, case, rg.doctor(network.loss(case.between), parameters)
    with rg.doctor.watch(parameters) as watched:
        for _ in range(3):
            train(network, 1, 0.01, case.between, case.zero)
            if case.step:
                case.step()
    return fault, case, watched.report()


def is_right(case, report):
    """Whether the report names the illness, its group and its line."""
    for verdict in report.alarms:
        if verdict.kind != case.kind:
            continue
        if case.group and not verdict.group.startswith(case.group):
            continue
        if case.line_in is None:
            return True
        if verdict.site is not None and verdict.site.function in (case.line_in, "<listcomp>"):
            return True
    return False
