"""Layers, attention and losses: against PyTorch, against their definition, and at the edges."""

from __future__ import annotations

import gc
import math
import random
import sys

import numpy as np
import pytest


def numbers(count, seed):
    draw = random.Random(seed)
    return [draw.uniform(-2.0, 2.0) for _ in range(count)]


def values(rg, xs):
    return [rg.Value(x) for x in xs]


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="torch is an extra")


def tensor(torch, numbers):
    return torch.tensor(numbers, dtype=torch.float64, requires_grad=True)


def load(torch, layer, model):
    """Give a torch layer the numbers of ours."""
    with torch.no_grad():
        for name, array in model.state_dict().items():
            getattr(layer, name).copy_(torch.tensor(array))


LAYERS = {
    "Linear": (lambda nn, **k: nn.Linear(5, 3, **k), {}),
    "Linear without bias": (lambda nn, **k: nn.Linear(5, 3, bias=False, **k), {}),
    "RMSNorm": (lambda nn, **k: nn.RMSNorm(5, eps=1e-5, **k), {}),
    "LayerNorm": (lambda nn, **k: nn.LayerNorm(5, **k), {}),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_agree_with_torch(rg, torch, name):
    make = LAYERS[name][0]
    ours, theirs = make(rg.nn), make(torch.nn, dtype=torch.float64)
    for at, p in enumerate(ours.parameters()):
        p.data = math.sin(at + 1.0)
    load(torch, theirs, ours)
    x = numbers(5, 1)
    inputs, given = values(rg, x), tensor(torch, x)
    out, expected = ours(inputs), theirs(given)
    assert rg.data(out) == pytest.approx(expected.detach().numpy(), rel=1e-12, abs=1e-13)
    seeds = numbers(len(out), 2)
    rg.backward(out, seeds)
    expected.backward(torch.tensor(seeds, dtype=torch.float64))
    assert rg.grads(inputs) == pytest.approx(given.grad.numpy(), rel=1e-11, abs=1e-12)
    for key, nest in ours.state_dict().items():
        mine = rg.grads(getattr(ours, key))
        assert nest.shape == mine.shape
        assert mine == pytest.approx(getattr(theirs, key).grad.numpy(), rel=1e-11, abs=1e-12)


def test_embedding(rg, torch):
    ours = rg.nn.Embedding(4, 3, seed=5)
    assert ours(2) is ours.weight[2]
    assert ours(rg.Value(1.0)) is ours.weight[1]
    rg.sum(ours(2)).backward()
    assert rg.grads(ours.weight).sum(axis=1).tolist() == [0.0, 0.0, 3.0, 0.0]
    for wrong in (4, -1, 1.5):
        with pytest.raises(rg.errors.TakeError):
            ours(wrong)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("heads", [1, 2, 4])
def test_attention_agrees_with_torch(rg, torch, heads, causal):
    ours = rg.nn.Attention(4, heads=heads, causal=causal, bias=True, seed=heads)
    theirs = torch.nn.MultiheadAttention(4, heads, dtype=torch.float64)
    parts = (ours.query, ours.key, ours.value)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(
            torch.tensor(np.concatenate([rg.data(p.weight) for p in parts]))
        )
        theirs.in_proj_bias.copy_(torch.tensor(np.concatenate([rg.data(p.bias) for p in parts])))
        load(torch, theirs.out_proj, ours.output)
    x = [numbers(4, i) for i in range(5)]
    inputs, given = [values(rg, row) for row in x], tensor(torch, x)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)
    expected, _ = theirs(given, given, given, attn_mask=mask if causal else None)
    out = ours(inputs)
    assert rg.data(out) == pytest.approx(expected.detach().numpy(), rel=1e-12)
    rg.sum([v * v for row in out for v in row]).backward()
    (expected**2).sum().backward()
    assert rg.grads(inputs) == pytest.approx(given.grad.numpy(), rel=1e-10, abs=1e-12)
    mine = np.concatenate([rg.grads(p.weight) for p in parts])
    assert mine == pytest.approx(theirs.in_proj_weight.grad.numpy(), rel=1e-10, abs=1e-12)


def test_the_attention_function_agrees_with_torch(rg, torch):
    q, k, v = numbers(3, 1), [numbers(3, 2), numbers(3, 3)], [numbers(2, 4), numbers(2, 5)]
    expected = torch.nn.functional.scaled_dot_product_attention(
        *(torch.tensor([x], dtype=torch.float64) for x in ([q], k, v))
    )
    assert rg.nn.attention(q, k, v) == pytest.approx(expected[0, 0].tolist(), rel=1e-14)


def test_losses_agree_with_torch(rg, torch):
    x, y = numbers(6, 1), numbers(6, 2)
    targets = torch.tensor(y, dtype=torch.float64)
    functional = torch.nn.functional
    cases = [
        (
            lambda p: rg.nn.mse(p, y),
            lambda p: functional.mse_loss(p, targets),
        ),
        (
            lambda p: rg.nn.cross_entropy(p, 4),
            lambda p: functional.cross_entropy(p, torch.tensor(4)),
        ),
        (
            lambda p: rg.nn.cross_entropy([p[:3], p[3:]], [2, 0]),
            lambda p: functional.cross_entropy(p.reshape(2, 3), torch.tensor([2, 0])),
        ),
        (
            lambda p: rg.nn.hinge(p, [1, -1, 1, -1, -1, 1]),
            lambda p: torch.relu(1 - p * torch.tensor([1, -1, 1, -1, -1, 1])).mean(),
        ),
    ]
    for ours, theirs in cases:
        inputs, given = values(rg, x), tensor(torch, x)
        mine, expected = ours(inputs), theirs(given)
        assert mine.data == pytest.approx(expected.item(), rel=1e-13)
        mine.backward()
        expected.backward()
        assert rg.grads(inputs) == pytest.approx(given.grad.numpy(), rel=1e-12, abs=1e-15)


def test_losses_take_nests_of_one_shape(rg, torch):
    numbers, targets = [[0.3, -1.2, 2.0], [0.1, 0.9, -0.4]], [[1, -1, -1], [-1, 1, 1]]
    for name, theirs in (
        ("mse", torch.nn.functional.mse_loss),
        ("hinge", lambda scores, sides: torch.relu(1 - scores * sides).mean()),
    ):
        nest = [values(rg, row) for row in numbers]
        given = torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
        mine = getattr(rg.nn, name)(nest, np.array(targets))
        expected = theirs(given, torch.tensor(targets, dtype=torch.float64))
        assert mine.data == pytest.approx(expected.item(), rel=1e-13)
        mine.backward()
        expected.backward()
        assert rg.grads(nest) == pytest.approx(given.grad.numpy(), rel=1e-12, abs=1e-15)
    assert rg.nn.mse(rg.Value(3.0), np.array(1.0)).data == 4.0


def test_losses_do_not_overflow(rg):
    assert rg.nn.cross_entropy(values(rg, [1000.0, 0.0]), 1).data == 1000.0
    assert rg.nn.cross_entropy([-1000.0, -1000.0], 0) == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (lambda nn: nn.mse([1.0], [1.0, 2.0]), "mse: 1 predictions but 2 targets"),
        (lambda nn: nn.mse([], []), "mse of nothing has no value"),
        (lambda nn: nn.hinge([0.5], [0]), "a target of hinge must be -1 or 1"),
        (lambda nn: nn.cross_entropy([0.0, 1.0], 2), "index 2.0 in a list of 2"),
        (lambda nn: nn.Linear(3, 2)([1.0]), "row 0 has 3 weights, but 1 inputs were given"),
        (lambda nn: nn.RMSNorm(3)([1.0]), "RMSNorm: made for 3 numbers, got 1"),
        (lambda nn: nn.LayerNorm(3)([1.0] * 4), "LayerNorm: made for 3 numbers, got 4"),
        (lambda nn: nn.Attention(4, heads=3), "a divisor of the size, 4"),
        (lambda nn: nn.attention([1.0], [[1.0]], []), "1 keys and 0 values"),
        (lambda nn: nn.Linear(1, 1)(["a"]), "linear: item 0 is str ('a')"),
        (lambda nn: nn.mse([[1.0, 2.0], [1.0]], [[1.0, 2.0], [1.0, 2.0]]), "1 predictions but 2"),
        (lambda nn: nn.mse([[1.0], [2.0]], [1.0, 2.0, 3.0]), "2 predictions but 3 targets"),
        (lambda nn: nn.mse([1.0], ["a"]), "cannot compute with str ('a')"),
        (lambda nn: nn.Linear(0, 2), "the inputs of Linear must be a whole number from 1 up"),
        (lambda nn: nn.Linear(2, 1.5), "the outputs of Linear must be a whole number from 1 up"),
        (lambda nn: nn.Embedding(0, 2), "the count of Embedding must be a whole number"),
        (lambda nn: nn.LayerNorm(-1), "the size of LayerNorm must be a whole number from 1 up"),
        (lambda nn: nn.Neuron(0), "the inputs of a neuron must be a whole number from 1 up"),
        (lambda nn: nn.Layer(2, 0), "the neurons of a layer must be a whole number from 1 up"),
        (lambda nn: nn.MLP(2, 4), "the layers of an MLP must be a list of sizes, one a layer"),
        (lambda nn: nn.MLP(2, [1], seed="a"), "a seed must be a whole number, a random.Random or"),
        (lambda nn: nn.MLP(2, [1], seed=1.5), "got float (1.5)"),
    ],
)
def test_mistakes_are_named(rg, act, text):
    with pytest.raises(rg.RetrogradeError) as caught:
        act(rg.nn)
    assert text in str(caught.value)


def test_seeds_decide(rg):
    for make in (
        lambda seed: rg.nn.Linear(3, 2, seed=seed),
        lambda seed: rg.nn.MLP(3, [2, 1], seed=seed),
        lambda seed: rg.nn.Embedding(3, 2, seed=seed),
        lambda seed: rg.nn.Attention(4, seed=seed),
    ):
        one, two, three = make(1), make(1), make(2)
        assert [p.data for p in one.parameters()] == [p.data for p in two.parameters()]
        assert [p.data for p in one.parameters()] != [p.data for p in three.parameters()]
    draw = random.Random(1)
    assert rg.nn.Neuron(1, seed=draw).w[0].data != rg.nn.Neuron(1, seed=draw).w[0].data


@pytest.mark.parametrize(
    ("name", "std"),
    [
        ("uniform", 1 / math.sqrt(3)),
        ("normal", 1.0),
        ("fan_in_uniform", 1 / math.sqrt(3 * 50)),
        ("xavier_uniform", math.sqrt(2 / 110)),
        ("kaiming_normal", math.sqrt(2 / 50)),
        ("zeros", 0.0),
    ],
)
def test_initialisers_have_the_spread_they_promise(rg, name, std):
    drawn = rg.data(rg.nn.init.filled((60, 50), getattr(rg.nn.init, name)(), 1))
    assert drawn.shape == (60, 50)
    assert drawn.std() == pytest.approx(std, rel=0.05)
    assert abs(drawn.mean()) <= 0.1 * std


# ---- lists at once ----------------------------------------------------------------------------


def alike(rg, one, two):
    """The same nodes with the same bits, all the way down."""
    ones, twos = rg.order(*one), rg.order(*two)
    assert len(ones) == len(twos)
    for a, b in zip(ones, twos):
        assert (a.op, a.data, a.partials, a.requires_grad) == (
            b.op, b.data, b.partials, b.requires_grad,
        )  # fmt: skip


def test_rows_over_lists_are_the_rows_one_by_one(rg):
    core = rg.value.core
    xs, ys, s = numbers(7, 1), numbers(7, 2), 0.7
    for make in (
        lambda one, x, y, k: one("add", x, y),
        lambda one, x, y, k: one("div", x, k),
        lambda one, x, y, k: one("sub", k, x),
        lambda one, x, y, k: one("exp", x),
        lambda one, x, y, k: one("mul", one("relu", x), y),
    ):

        def by_hand(op, *operands):
            lists = [o if isinstance(o, list) else [o] * 7 for o in operands]
            return [getattr(rg, op)(*items) for items in zip(*lists)]

        x, y, k = values(rg, xs), values(rg, ys), rg.Value(s)
        y[3] = 2.5
        alike(rg, make(core.each, x, y, k), make(by_hand, x, y, k))
    assert core.each("add", [1.0, 2.0], 3) == [4.0, 5.0]
    with rg.no_grad():
        assert not core.each("exp", values(rg, xs))[0].requires_grad


def test_dots_of_a_matrix_are_the_dots_one_by_one(rg):
    core = rg.value.core
    rows = [values(rg, numbers(4, i)) for i in range(3)]
    rows[1] = tuple(rows[1])
    rows[2][2] = 0.25
    xs = [rg.Value(0.5), 2.0, rg.Value(-1.0), np.float32(0.5)]
    alike(rg, core.linear(rows, xs, None), [rg.dot(row, xs) for row in rows])
    biases = [rg.Value(1.0), 3, rg.Value(-2.0)]
    expected = [rg.dot([b, *row], [1.0, *xs]) for b, row in zip(biases, rows)]
    alike(rg, core.linear(rows, xs, biases), expected)
    assert core.linear([[1.0, 2.0]], [3.0, 4.0], [5.0]) == [16.0]
    assert core.linear([], [1.0], None) == []


def test_dots_of_plain_values_with_something_else_among_them(rg):
    class Named(rg.Value):
        pass

    xs = values(rg, numbers(3, 1))
    rows = [values(rg, numbers(3, 2)), [rg.Value(1.0), 2.0, rg.Value(3.0)], [Named(1.0), 2, xs[0]]]
    alike(rg, rg.value.core.linear(rows, xs, None), [rg.dot(row, xs) for row in rows])
    frozen = [rg.Value(1.0, requires_grad=False) for _ in range(3)]
    (result,) = rg.value.core.linear([frozen], frozen, None)
    assert (result.op, result.requires_grad, result.data) == ("leaf", False, 3.0)


def test_what_fails_half_way_holds_on_to_nothing(rg):
    xs, row = values(rg, [1.0, 2.0]), values(rg, [3.0, 4.0])
    before = [sys.getrefcount(v) for v in (*xs, *row)]
    for wrong in ([row, [row[0], "a"]], [row, [row[0]]], [row, 3.0]):
        with pytest.raises(rg.RetrogradeError):
            rg.value.core.linear(wrong, xs, None)
    del wrong
    with pytest.raises(rg.RetrogradeError):
        rg.value.core.linear([row], xs, ["a"])
    with pytest.raises(rg.RetrogradeError):
        rg.value.core.each("add", xs, [row[0], "a"])
    gc.collect()
    assert [sys.getrefcount(v) for v in (*xs, *row)] == before


def test_out_of_memory_while_making_a_list(native):
    rg, core = native, native.value.core
    xs, rows = values(rg, [1.0, 2.0]), [values(rg, [3.0, 4.0]) for _ in range(3)]
    before = [sys.getrefcount(v) for v in xs]
    for count in range(6):
        core.inject_allocation_failure(count)
        try:
            core.linear(rows, xs, None)
        except rg.errors.GraphMemoryError:
            pass
        finally:
            core.inject_allocation_failure(-1)
    assert [sys.getrefcount(v) for v in xs] == before


def test_lists_that_do_not_fit_are_refused(rg):
    core, error = rg.value.core, rg.RetrogradeError
    for act in (
        lambda: core.each("add", [1.0], [1.0, 2.0]),
        lambda: core.each("add", [1.0], ["a"]),
        lambda: core.linear([[1.0]], [1.0, 2.0], None),
        lambda: core.linear([1.0], [1.0], None),
        lambda: core.linear([[1.0]], [1.0], []),
        lambda: core.linear([["a"]], [1.0], None),
    ):
        with pytest.raises(error):
            act()
    for act in (lambda: core.each("nonsense", [1.0]), lambda: core.each("exp", 1.0)):
        with pytest.raises((TypeError, KeyError)):
            act()


def test_births_are_caught_in_lists_too(rg):
    with rg.anomaly(), pytest.raises(rg.errors.AnomalyError):
        rg.value.core.each("log", [rg.Value(0.0)])


def test_layers_record_and_replay(native):
    rg = native
    layer, norm = rg.nn.Linear(3, 2, seed=1), rg.nn.RMSNorm(2)

    def program(x, t):
        return rg.nn.cross_entropy(norm(layer(x)), t)

    rows, targets = np.array([numbers(3, 1), numbers(3, 2)]), np.array([0.0, 1.0])
    compiled = rg.compile(program)
    eager = [program(values(rg, row), int(t)).data for row, t in zip(rows, targets)]
    assert compiled(rows, targets) == pytest.approx(eager, rel=1e-14)
