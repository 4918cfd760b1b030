"""The survey: native and reference see the same, and its gradients are those of backward."""

from __future__ import annotations

import importlib
import random

import pytest

from .networks import Network


def survey_of(rg, loss, parameters, kinds, limits, by_pass=False):
    """The survey of the engine, or of the graph read as a pass."""
    survey = importlib.import_module(f"{rg.__name__}.passes.survey")
    if not by_pass:
        return survey.survey((loss,), (1.0,), parameters, kinds, limits)
    graph = importlib.import_module(f"{rg.__name__}.passes.values").read((loss,))
    places = graph.of(parameters)
    return survey.survey_of(graph, {len(graph) - 1: 1.0}, places, kinds, limits)


def seen(rg, seed, by_pass=False):
    """A survey of a random network, without the values in it."""
    thresholds = importlib.import_module(f"{rg.__name__}.diagnose.thresholds")
    network = Network(rg, seed, rows=8)
    source = random.Random(seed)
    for value in network.values():
        if source.random() < 0.2:
            value.data = source.choice((0.0, -50.0, 50.0))
    loss = network.loss(lambda i, xs: [x * source.choice((1.0, 1.0, 0.0)) for x in xs])
    parameters = (*network.values(), rg.Value(1.0))
    limits = thresholds.limits_of(thresholds.Thresholds())
    found = survey_of(rg, loss, parameters, thresholds.KINDS, limits, by_pass)
    found["units"] = [(*unit[:3], unit[3].op, unit[3].site.line) for unit in found["units"]]
    found["zeros"] = [
        (*zero[:3], *[None if v is None else (v.op, v.site.line) for v in zero[3:]])
        for zero in found["zeros"]
    ]
    loss.backward()
    return found, [p.grad for p in parameters]


@pytest.mark.parametrize("seed", range(60))
def test_both_cores_see_the_same(native, reference, seed):
    one, _ = seen(native, 7000 + seed)
    two, _ = seen(reference, 7000 + seed)
    for key in one:
        if key in ("gradients", "level"):  # libm may differ in the last bits
            continue
        assert one[key] == two[key], key


@pytest.mark.parametrize("seed", range(20))
def test_the_survey_of_a_pass_is_that_of_the_native_core(native, seed):
    assert seen(native, 7500 + seed) == seen(native, 7500 + seed, by_pass=True)


@pytest.mark.parametrize("seed", range(20))
def test_gradients_are_those_of_backward(rg, seed):
    import numpy as np

    found, grads = seen(rg, 8000 + seed)
    assert np.frombuffer(found["gradients"]).tolist() == grads


def test_levels_are_merged_where_there_are_many(native, reference):
    def levels(rg, depth):
        thresholds = importlib.import_module(f"{rg.__name__}.diagnose.thresholds")
        y = x = rg.Value(1.0)
        for _ in range(depth):
            y = y * 1.0
        found = survey_of(rg, y, (x,), thresholds.KINDS, bytes(2048))
        return found["level"], found["level_nodes"], found["step"], found["depths"]

    for depth in (1, 255, 256, 257, 1000, 5000):
        assert levels(native, depth) == levels(reference, depth), depth


def test_nothing_is_left_behind_when_memory_runs_out(native):
    inject = native.value.core.inject_allocation_failure
    x = native.Value(2.0, label="x")
    loss = native.relu(x * -3.0) * x
    thresholds = importlib.import_module("retrograde.diagnose.thresholds")
    x.grad = 5.0
    failures = 0
    for count in range(40):
        inject(count)
        try:
            native.value.core.survey((loss,), (1.0,), (x,), thresholds.KINDS, bytes(2048))
        except MemoryError:
            failures += 1
        finally:
            inject(-1)
        assert x.grad == 5.0
        assert x.site.file == __file__
        loss.backward()  # marks are gone
        x.grad = 5.0
    assert failures > 5
