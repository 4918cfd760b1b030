"""A pass is the graph: what is read off it is what its values say, on both cores."""

from __future__ import annotations

import importlib
import math
import random

import numpy as np
import pytest


def module(rg, name):
    return importlib.import_module(f"{rg.__name__}.passes.{name}")


def read(rg, *roots, **options):
    return module(rg, "values").read(roots, **options)


def closure_style(rg, x, y):
    """x * y as a program written for another engine makes it."""
    out = rg.Value(x.data * y.data, (x, y), "times")

    def _backward():
        x.grad += y.data * out.grad
        y.grad += x.data * out.grad

    out._backward = _backward
    return out


def random_graph(rg, seed, closures=True):
    """A graph with everything in it: numbers, repeats, wide nodes, custom rules, frozen leaves."""
    source = random.Random(seed)

    @rg.custom_op
    def square(x):
        return x * x, (2.0 * x,)

    values = [
        rg.Value(source.uniform(0.2, 2.0), label=f"x{i}" if i % 2 else None) for i in range(4)
    ]
    values[3].requires_grad = False
    for _ in range(40):
        x, y, z = (source.choice(values[-8:]) for _ in range(3))
        kinds = [
            lambda x=x, y=y: x * y,
            lambda x=x: x + 1.5,
            lambda x=x: 2.0 / x,
            lambda x=x: rg.tanh(x),
            lambda x=x, y=y, z=z: rg.sum([x, y, z, x, 2.0]),
            lambda x=x, y=y, z=z: rg.dot([x, 3.0, z], [y, x, x]),
            lambda x=x, y=y: rg.where(1.0, x, y),
            lambda x=x: square(x),
            lambda x=x, y=y: rg.maximum(x, y),
        ]
        if closures:
            kinds += [lambda x=x, y=y: closure_style(rg, x, y), lambda x=x: closure_style(rg, x, x)]
        made = source.choice(kinds)()
        values.append(rg.tanh(made) if abs(made.data) > 3.0 else made)
    return values[-1] + values[-2] * values[4]


@pytest.mark.parametrize("seed", range(25))
def test_columns_are_what_the_values_say(rg, seed):
    root = random_graph(rg, seed)
    root.backward()
    graph = read(rg, root, sites=True)
    values = rg.order(root)
    assert [id(v) for v in graph.values] == [id(v) for v in values]
    names = [op if op != "custom" else graph.own[i] for i, op in enumerate(graph.ops)]
    assert names == [v.op for v in values]
    assert graph.data.tolist() == [v.data for v in values]
    assert graph.grads.tolist() == [v.grad for v in values]
    assert graph.takes.tolist() == [v.requires_grad for v in values]
    assert graph.labels == {i: v.label for i, v in enumerate(values) if v.label}
    places = graph.places.tolist()
    assert [graph.sites[k] if k >= 0 else None for k in places] == [v.site for v in values]
    for inputs, operands, numbers, value in zip(
        graph.by_value(graph.inputs),
        graph.by_value(graph.operands),
        graph.by_value(graph.numbers),
        values,
    ):
        assert list(operands) == [v.data for v in value.inputs]
        for place, number, given, slope in zip(
            inputs, numbers, value.inputs, value.partials or [0.0] * len(inputs)
        ):
            if place >= 0:
                assert values[place] is given
                assert number == slope
            else:
                assert number == given.data


@pytest.mark.parametrize("seed", range(25))
def test_both_cores_read_the_same(native, reference, seed):
    one, two = (read(rg, random_graph(rg, seed), sites=True) for rg in (native, reference))
    for column in ("codes", "takes", "starts", "inputs", "ruled", "hooked"):
        assert getattr(one, column).tolist() == getattr(two, column).tolist(), column
    assert (one.labels, one.own) == (two.labels, two.own)
    sites = ([tuple(each.sites[place]) for place in each.places] for each in (one, two))
    assert next(sites) == next(sites)
    np.testing.assert_allclose(one.numbers, two.numbers, rtol=1e-12)


@pytest.mark.parametrize("seed", range(25))
def test_the_pull_has_the_bits_of_backward(rg, seed):
    root = random_graph(rg, seed, closures=False)
    graph = read(rg, root)
    back = module(rg, "backward").pull(graph, {len(graph) - 1: 0.75})
    assert not any(v.grad for v in rg.order(root))
    root.backward(0.75)
    grads = [v.grad for v in rg.order(root)]
    assert [g if t else 0.0 for g, t in zip(back.gradients.tolist(), graph.takes)] == grads
    upstream = np.repeat(back.gradients, graph.widths)
    taken = graph.inputs >= 0
    assert (back.amounts[taken] == (graph.numbers * upstream)[taken]).all()
    assert not back.amounts[~taken].any()


@pytest.mark.parametrize("seed", range(25))
def test_rules_in_python_are_lent_their_gradients(rg, seed):
    root = random_graph(rg, seed)
    root.backward()
    held = [v.grad for v in rg.order(root)]
    graph = read(rg, root)
    found = module(rg, "backward").pull(graph, {len(graph) - 1: 1.0}).gradients
    assert [v.grad for v in rg.order(root)] == held
    expected = [math.nan if not t else g for g, t in zip(held, graph.takes)]
    np.testing.assert_allclose(np.where(graph.takes, found, math.nan), expected, rtol=1e-14)


@pytest.mark.parametrize("seed", range(25))
def test_numbers_become_values_before_their_uses(rg, seed):
    numbers = module(rg, "numbers")
    graph = read(rg, random_graph(rg, seed))
    whole = numbers.with_numbers(graph)
    assert whole.inputs.min() >= 0
    assert (whole.inputs < whole.owners).all()
    assert whole.operands.tolist() == graph.operands.tolist()
    kept = [i for i, op in enumerate(whole.ops) if op != "number"]
    assert [whole.values[i] for i in kept] == list(graph.values)
    assert [whole.ops[i] for i in kept] == graph.ops
    for index, op in enumerate(whole.ops):
        if op == "number":
            assert index in whole.inputs
    for slopes, value in zip(
        (p for p, op in zip(whole.by_value(whole.numbers), whole.ops) if op != "number"),
        graph.values,
    ):
        if value.partials:
            assert slopes == pytest.approx(value.partials, nan_ok=True)


def test_a_value_older_than_the_epoch_is_an_end(rg):
    core = rg.value.core
    old = rg.Value(2.0) * 3.0
    since = core.begin_epoch()
    graph = read(rg, old * old, since=since)
    assert graph.ops == ["mul", "mul"]
    assert graph.inputs.tolist() == [0, 0]


def test_a_deep_graph_is_read_without_recursion(rg):
    y = x = rg.Value(1.0)
    for _ in range(50_000):
        y = y + x
    graph = read(rg, y)
    assert len(graph) == 50_001
    assert module(rg, "backward").pull(graph, {50_000: 1.0}).gradients[0] == 50_001.0


def test_no_roots_make_an_empty_pass(rg):
    graph = read(rg)
    assert (len(graph), graph.ops, graph.inputs.tolist()) == (0, [], [])


def test_what_is_no_value_is_refused(rg):
    with pytest.raises(rg.errors.NotAValueError):
        read(rg, 3.0)


def test_arrays_that_are_no_pass_are_refused(native):
    pull = native.value.core.pull
    starts, flags = np.array([0, 0, 1]), np.zeros(2, np.bool_)
    for inputs in ([1], [-2], [7]):  # itself, and out of range
        with pytest.raises(ValueError, match="not the arrays of a pass"):
            pull(
                starts, np.array(inputs), np.ones(1), flags, None, np.zeros(2), np.zeros(1),
                np.zeros(1),
            )  # fmt: skip
    with pytest.raises(ValueError, match="not the arrays of a pass"):
        pull(
            np.array([0, 2, 1]), np.array([0]), np.ones(1), flags, None, np.zeros(2), np.zeros(1),
            np.zeros(1),
        )  # fmt: skip


def test_nothing_is_left_behind_when_memory_runs_out(native):
    inject = native.value.core.inject_allocation_failure
    x = native.Value(2.0, label="x")
    root = native.relu(x * -3.0) * x
    failures = 0
    for count in range(20):
        inject(count)
        try:
            native.value.core.read((root,), 0)
        except MemoryError:
            failures += 1
        finally:
            inject(-1)
        assert x.site.file == __file__
        root.backward()  # marks are gone
    assert failures > 3
