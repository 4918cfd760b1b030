"""Module: names, labels, state, freezing, modes, copies, and what its repr shows."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest


def make_nest(rg):
    class Nest(rg.nn.Module):
        def __init__(self):
            self.one = rg.Value(1.0)
            self.matrix = [[rg.Value(2.0), rg.Value(3.0)], [rg.Value(4.0), rg.Value(5.0)]]
            self.blocks = [rg.nn.Linear(2, 1, seed=0), rg.nn.Neuron(1, seed=0)]
            self.table = {"left": rg.Value(6.0), "right": [rg.Value(7.0)]}
            self.ragged = [[rg.Value(8.0)], [rg.Value(9.0), rg.Value(10.0)]]
            self.size, self.name = 3, "text"
            self._cache = [rg.Value(99.0)]
            self.seen = rg.Value(1.0) * 2.0

    return Nest()


NAMES = [
    "one", "matrix[0][0]", "matrix[0][1]", "matrix[1][0]", "matrix[1][1]",
    "blocks.0.weight[0][0]", "blocks.0.weight[0][1]", "blocks.0.bias[0]",
    "blocks.1.w[0]", "blocks.1.b", "table.left", "table.right[0]",
    "ragged[0][0]", "ragged[1][0]", "ragged[1][1]",
]  # fmt: skip


def test_parameters_are_found_by_name_in_order(rg):
    nest = make_nest(rg)
    named = list(nest.named_parameters())
    assert [name for name, _ in named] == NAMES
    assert [value for _, value in named] == nest.parameters()
    assert all(value.label == name for name, value in named)


def test_the_names_of_an_mlp_are_those_one_would_write(rg):
    model = rg.nn.MLP(2, [4, 1])
    names = [name for name, _ in model.named_parameters()]
    assert names[4] == "layers.0.neurons.1.w[1]"
    assert model.layers[0].neurons[1].w[1].label == "layers.0.neurons.1.w[1]"
    assert len(names) == len(set(names)) == len(model.parameters())


def test_a_label_of_ones_own_is_kept(rg):
    class Own(rg.nn.Module):
        def __init__(self):
            self.x = rg.Value(1.0, label="my weight")

    class Outer(rg.nn.Module):
        def __init__(self):
            self.own = Own()

    assert Outer().own.x.label == "my weight"


def test_a_shared_parameter_counts_once_and_is_saved_under_each_name(rg):
    class Tied(rg.nn.Module):
        def __init__(self):
            self.a = [rg.Value(1.0), rg.Value(2.0)]
            self.b = self.a[:]

    tied = Tied()
    assert len(tied.parameters()) == 2
    assert list(tied.state_dict()) == ["a", "b"]


def test_modules_that_contain_each_other_are_walked_once(rg):
    class Child(rg.nn.Module):
        def __init__(self, parent):
            self.parent, self.x = parent, rg.Value(1.0)

    class Parent(rg.nn.Module):
        def __init__(self):
            self.child = Child(self)

    parent = Parent()
    assert [name for name, _ in parent.named_parameters()] == ["child.x"]
    assert len(list(parent.modules())) == 2


def test_state_comes_back(rg):
    one, two = rg.nn.MLP(3, [4, 2], seed=1), rg.nn.MLP(3, [4, 2], seed=2)
    state = one.state_dict()
    assert state["layers.0.neurons.0.w"].shape == (3,)
    assert state["layers.0.neurons.0.b"].shape == ()
    assert two.load_state_dict(state) == ([], [])
    assert [p.data for p in one.parameters()] == [p.data for p in two.parameters()]
    nest = make_nest(rg)
    assert [k for k in nest.state_dict() if k.startswith("ragged")] == ["ragged[0]", "ragged[1]"]
    nest.load_state_dict({k: 0 * v for k, v in nest.state_dict().items()})
    assert not any(p.data for p in nest.parameters())


def test_a_state_is_a_copy(rg):
    model = rg.nn.Linear(2, 2, seed=0)
    state = model.state_dict()
    before = state["weight"].copy()
    model.weight[0][0].data = 99.0
    assert np.array_equal(state["weight"], before)


def test_a_state_that_does_not_fit_changes_nothing(rg):
    model = rg.nn.MLP(2, [2, 1], seed=3)
    before = [p.data for p in model.parameters()]
    state = model.state_dict()
    wrong = {**state, "extra": np.zeros(2)}
    del wrong["layers.0.neurons.0.w"]
    with pytest.raises(rg.errors.StateError) as caught:
        model.load_state_dict(wrong)
    assert "it lacks layers.0.neurons.0.w; it alone has extra" in str(caught.value)
    bent = {name: array + 1 for name, array in state.items()}
    bent["layers.1.neurons.0.w"] = np.zeros(3)
    with pytest.raises(rg.errors.StateError, match=r"has shape \(2,\) here and \(3,\) in the"):
        model.load_state_dict(bent)
    with pytest.raises(rg.RetrogradeError):
        model.load_state_dict({name: np.full(a.shape, "x") for name, a in state.items()})
    for wrong in (["x", "y"], [1j, 2], [None, 1.0], [[1.0], 2.0]):
        with pytest.raises(rg.errors.StateError, match=r"layers.1.neurons.0.w must be an array of"):
            model.load_state_dict({**bent, "layers.1.neurons.0.w": wrong})
    with pytest.raises(rg.errors.SettingError, match="a state must be a dict of arrays by name"):
        model.load_state_dict(3)
    assert [p.data for p in model.parameters()] == before


def test_loading_what_fits(rg):
    model = rg.nn.MLP(2, [2, 1], seed=3)
    loaded = model.load_state_dict({"layers.0.neurons.0.b": 5.0, "else": 1.0}, strict=False)
    assert model.layers[0].neurons[0].b.data == 5.0
    assert loaded.unexpected == ["else"]
    assert "layers.1.neurons.0.w" in loaded.missing


def test_freezing_and_unfreezing(rg):
    model = rg.nn.MLP(2, [2, 1], seed=0)
    model.layers[0].freeze()
    model([1.0, 2.0]).backward()
    assert not any(p.grad for p in model.layers[0].parameters())
    assert any(p.grad for p in model.layers[1].parameters())
    model.layers[0].unfreeze()
    assert all(p.requires_grad for p in model.parameters())


def test_training_and_evaluation_reach_every_module(rg):
    nest = make_nest(rg)
    assert nest.training
    assert nest.eval() is nest
    assert not any(module.training for module in nest.modules())
    nest.train()
    assert all(module.training for module in nest.modules())
    assert len(nest.parameters()) == len(NAMES)


def test_copies_and_pickles_have_parameters_of_their_own(rg):
    model = rg.nn.MLP(2, [2, 1], seed=0)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert twin([1.0, 2.0]).data == model([1.0, 2.0]).data
        twin.parameters()[0].data += 1.0
        assert twin.parameters()[0].data != model.parameters()[0].data
        assert [n for n, _ in twin.named_parameters()] == [n for n, _ in model.named_parameters()]


def test_the_repr_shows_the_tree(rg):
    shown = repr(make_nest(rg))
    assert shown.startswith("Nest(\n  one: a value\n  matrix: 2×2 values\n  blocks: [Linear(2, 1)")
    assert "ReLUNeuron(1)" in shown
    assert repr(rg.nn.Module()) == "Module()"


def test_the_functions_on_nests_take_modules(rg):
    model = rg.nn.MLP(2, [1], seed=0)
    model([1.0, 1.0]).backward()
    rg.zero_grad(model)
    assert not any(p.grad for p in model.parameters())


def test_values_made_by_a_layer_show_the_line_that_called_it(rg):
    out = rg.nn.MLP(2, [2, 1], seed=0)([rg.Value(1.0), 2.0])
    for value in rg.order(out):
        if value.op != "leaf":
            assert value.site.file == __file__
    out = rg.nn.Attention(2, seed=0)([[1.0, 2.0], [0.5, 1.0]])[1][0]
    assert {v.site.file for v in rg.order(out) if v.op != "leaf"} == {__file__}
