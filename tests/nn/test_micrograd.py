"""rg.nn in the place of micrograd.nn: the same names, call forms, numbers and reprs."""

from __future__ import annotations

import inspect
import random

import pytest

theirs = pytest.importorskip("micrograd.nn", reason="micrograd is not installed (extra: test)")


def both(rg, make):
    """The same made by micrograd and by us, from the same random numbers."""
    made = []
    for nn in (theirs, rg.nn):
        random.seed(1337)
        made.append(make(nn))
    return made


MAKERS = [
    lambda nn: nn.Neuron(3),
    lambda nn: nn.Neuron(3, nonlin=False),
    lambda nn: nn.Neuron(2, False),
    lambda nn: nn.Layer(3, 2),
    lambda nn: nn.Layer(3, 1, nonlin=False),
    lambda nn: nn.MLP(3, [4, 4, 1]),
    lambda nn: nn.MLP(2, [16, 16, 2]),
]


@pytest.mark.parametrize("make", MAKERS)
def test_parameters_and_repr_are_the_same(rg, make):
    one, two = both(rg, make)
    assert repr(one) == repr(two)
    assert [p.data for p in one.parameters()] == [p.data for p in two.parameters()]
    assert isinstance(two.parameters(), list)


@pytest.mark.parametrize("make", MAKERS)
def test_results_have_the_same_bits_and_gradients_agree(rg, make):
    one, two = both(rg, make)
    width = 2 if "(2)" in repr(one) else 3
    x = [0.3, -1.7, 2.9][:width]
    outs = [out if isinstance(out, list) else [out] for out in (one(x), two(x))]
    assert [v.data for v in outs[0]] == [v.data for v in outs[1]]
    for out in outs:
        sum(v * v for v in out).backward()
    mine = [p.grad for p in two.parameters()]
    assert mine == pytest.approx([p.grad for p in one.parameters()], rel=1e-13, abs=1e-15)
    two.zero_grad()
    assert not any(p.grad for p in two.parameters())


def test_a_training_loop_written_for_micrograd_ends_at_the_same_loss(rg):
    def train(nn):
        random.seed(7)
        model = nn.MLP(2, [4, 1])
        points = [(random.uniform(-1, 1), random.uniform(-1, 1)) for _ in range(20)]
        for _ in range(15):
            losses = [(1 + -(1 if x * y > 0 else -1) * model([x, y])).relu() for x, y in points]
            loss = sum(losses) * (1.0 / len(losses)) + 1e-4 * sum(p * p for p in model.parameters())
            model.zero_grad()
            loss.backward()
            for p in model.parameters():
                p.data -= 0.1 * p.grad
        return loss.data

    assert train(rg.nn) == pytest.approx(train(theirs), rel=1e-11)


@pytest.mark.parametrize("name", ["Module", "Neuron", "Layer", "MLP"])
def test_everything_micrograd_has_is_here(rg, name):
    one, two = getattr(theirs, name), getattr(rg.nn, name)
    assert {n for n in vars(one) if not n.startswith("__")} <= set(dir(two))
    needed = list(inspect.signature(one).parameters)
    assert needed == list(inspect.signature(two).parameters)[: len(needed)] or name == "Layer"


def test_inputs_of_the_wrong_number_are_refused_not_cut_short(rg):
    with pytest.raises(rg.errors.ShapeError, match="has 3 weights, but 2 inputs were given"):
        rg.nn.MLP(3, [2, 1])([1.0, 2.0])


def test_a_subclass_in_micrograd_s_style_works(rg):
    class Pair(rg.nn.Module):
        def __init__(self):
            self.a, self.b = rg.nn.Neuron(1), rg.nn.Neuron(1)

        def parameters(self):
            return self.a.parameters() + self.b.parameters()

    pair = Pair()
    assert len(pair.parameters()) == 4
    pair.a.b.grad = 3.0
    pair.zero_grad()
    assert pair.a.b.grad == 0.0
