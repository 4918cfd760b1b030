"""Modules whose parameters are tensors: the numbers of those whose parameters are values."""

from __future__ import annotations

import copy

import numpy as np
import pytest

RNG = np.random.default_rng(7)
ROWS = RNG.normal(size=(5, 4))


def plain(rg, nest):
    """Results as an array."""
    if isinstance(nest, rg.Tensor):
        return nest.data
    return np.array([plain(rg, part) for part in nest]) if isinstance(nest, list) else nest.data


MODULES = {
    "Linear": lambda rg: rg.nn.Linear(4, 3, seed=1),
    "Linear without bias": lambda rg: rg.nn.Linear(4, 3, bias=False, seed=1),
    "RMSNorm": lambda rg: rg.nn.RMSNorm(4),
    "LayerNorm": lambda rg: rg.nn.LayerNorm(4),
    "Layer": lambda rg: rg.nn.Layer(4, 2, seed=1),
    "MLP": lambda rg: rg.nn.MLP(4, [3, 2], seed=1),
}


@pytest.mark.parametrize("name", MODULES)
def test_rows_of_a_batch_are_what_lists_give(rg, name):
    module = MODULES[name](rg)
    one_by_one = [module(row) for row in ROWS.tolist()]
    total = rg.sum([v * v for row in one_by_one for v in row])
    total.backward()
    numbers, slopes = module.state_dict(), {s.name: rg.grads(s.nest) for s in module._slots()}
    module.zero_grad()
    out = module.tensors()(ROWS)
    np.testing.assert_allclose(out.data, plain(rg, one_by_one), rtol=1e-13, atol=1e-13)
    (out * out).sum().backward()
    state = module.state_dict()
    assert list(state) == list(numbers)
    for key in state:
        np.testing.assert_array_equal(state[key], numbers[key])
    for slot in module._slots():
        np.testing.assert_allclose(rg.grads(slot.nest), slopes[slot.name], rtol=1e-11, atol=1e-12)


def test_attention_over_sequences_is_what_lists_give(rg):
    for causal in (True, False):
        layer = rg.nn.Attention(4, heads=2, causal=causal, seed=3)
        wanted = plain(rg, layer(ROWS.tolist()))
        layer.tensors()
        np.testing.assert_allclose(layer(ROWS).data, wanted, rtol=1e-12, atol=1e-13)
        both = layer(np.stack([ROWS, ROWS[::-1]]))
        np.testing.assert_allclose(both.data[0], wanted, rtol=1e-12, atol=1e-13)


def test_embedding_gives_a_row_for_each_index(rg):
    table = rg.nn.Embedding(6, 3, seed=1)
    wanted = plain(rg, table(2))
    table.tensors()
    assert table([[2, 0], [2, 5]]).shape == (2, 2, 3)
    np.testing.assert_array_equal(table([2]).data[0], wanted)


# ---- the switch ----------------------------------------------------------------------------------


def test_there_and_back_nothing_is_lost(rg):
    module = rg.nn.MLP(2, [2, 1], seed=5)
    out = module([0.5, -1.0])
    out.backward()
    before, slopes = module.state_dict(), rg.grads(module.parameters())
    names = [name for name, _ in module.named_parameters()]
    module.tensors()
    assert module.layers[0].neurons[0].w.grad.tolist() == slopes[:2].tolist()
    assert module.layers[0].neurons[0].w.label == "layers.0.neurons.0.w"
    assert [n for n, _ in module.named_parameters()][:2] == [
        "layers.0.neurons.0.w", "layers.0.neurons.0.b",
    ]  # fmt: skip
    module.values()
    assert [name for name, _ in module.named_parameters()] == names
    assert rg.grads(module.parameters()).tolist() == slopes.tolist()
    for key, array in module.state_dict().items():
        np.testing.assert_array_equal(array, before[key])
    assert module([0.5, -1.0]).data == out.data


def test_what_is_shared_stays_shared(rg):
    class Tied(rg.nn.Module):
        def __init__(self):
            self.table = rg.nn.Embedding(3, 2, seed=0)
            self.head = self.table.weight

    module = Tied().tensors()
    assert module.head is module.table.weight
    assert len(module.parameters()) == 1
    module.values()
    assert module.head is module.table.weight


def test_a_value_of_two_lists_cannot_be_of_two_tensors(rg):
    class Torn(rg.nn.Module):
        def __init__(self):
            shared = rg.Value(1.0)
            self.a, self.b = [shared, rg.Value(2.0)], [shared]

    module = Torn()
    with pytest.raises(rg.errors.ParameterError, match="stands in 'a' and in 'b', and cannot"):
        module.tensors()
    assert isinstance(module.a[0], rg.Value)

    class Alone(rg.nn.Module):
        def __init__(self):
            self.a = [rg.Value(1.0), rg.Value(2.0)]
            self.b = self.a[1]

    with pytest.raises(rg.errors.ParameterError, match="keep the values"):
        Alone().tensors()


def test_half_frozen_lists_are_refused(rg):
    layer = rg.nn.Linear(2, 1, seed=0)
    layer.weight[0][1].requires_grad = False
    with pytest.raises(rg.errors.ParameterError, match="some values of 'weight' take gradients"):
        layer.tensors()
    assert isinstance(layer.weight, list)
    assert isinstance(layer.bias, list)


def test_frozen_stays_frozen(rg):
    layer = rg.nn.Linear(2, 1, seed=0)
    layer.freeze()
    layer.tensors()
    assert not layer.weight.requires_grad
    assert not any(v.requires_grad for row in layer.values().weight for v in row)


def test_a_state_goes_from_values_to_tensors(rg):
    values, tensors = rg.nn.Linear(3, 2, seed=1), rg.nn.Linear(3, 2, seed=2).tensors()
    tensors.load_state_dict(values.state_dict())
    np.testing.assert_array_equal(tensors.weight.data, rg.data(values.weight))
    with pytest.raises(rg.errors.StateError, match=r"weight has shape \(2, 3\) here and \(3, 2\)"):
        tensors.load_state_dict({"weight": np.zeros((3, 2)), "bias": np.zeros(2)})


def test_a_tensor_given_to_values_is_refused_with_the_cure(rg):
    for module in (rg.nn.Linear(4, 2), rg.nn.MLP(4, [2]), rg.nn.Attention(4), rg.nn.LayerNorm(4)):
        with pytest.raises(rg.errors.ShapeError, match=r"model\.tensors\(\)"):
            module(rg.Tensor(ROWS))


def test_a_wrong_size_names_the_last_axis(rg):
    with pytest.raises(rg.errors.ShapeError, match="give a shape that ends in 3"):
        rg.nn.Linear(3, 2).tensors()(ROWS)


# ---- losses --------------------------------------------------------------------------------------


def test_losses_are_those_of_lists(rg):
    scores = RNG.normal(size=(5, 3))
    tensor, lists = rg.Tensor(scores), [[rg.Value(n) for n in row] for row in scores.tolist()]
    signs = np.where(scores > 0.2, 1.0, -1.0)
    classes = [0, 2, 1, 1, 0]
    for name, target in (("mse", np.ones((5, 3))), ("hinge", signs), ("cross_entropy", classes)):
        loss = getattr(rg.nn, name)
        mine, theirs = loss(tensor, target), loss(lists, np.asarray(target).tolist())
        assert mine.data == pytest.approx(theirs.data, rel=1e-13)
        rg.zero_grad([tensor, lists])
        rg.backward([mine, theirs])
        np.testing.assert_allclose(tensor.grad, rg.grads(lists), rtol=1e-12, atol=1e-14)


def test_losses_stretch_nothing(rg):
    with pytest.raises(rg.errors.ShapeError, match=r"shape \(5, 1\), targets of shape \(5,\)"):
        rg.nn.mse(rg.Tensor(np.zeros((5, 1))), np.zeros(5))
    with pytest.raises(rg.errors.SettingError, match="a target of hinge"):
        rg.nn.hinge(rg.Tensor(np.zeros(2)), np.array([1.0, 0.0]))


# ---- layers of tensors only ----------------------------------------------------------------------


@pytest.mark.parametrize("axes", [1, 2])
def test_convolutions_equal_torch(rg, axes):
    torch = pytest.importorskip("torch", reason="install torch")
    kind, theirs = (rg.nn.Conv1d, torch.nn.Conv1d), (rg.nn.Conv2d, torch.nn.Conv2d)
    ours, other = (kind, theirs)[axes - 1]
    layer = ours(2, 3, 3, stride=2, padding=1, seed=1)
    twin = other(2, 3, 3, stride=2, padding=1, dtype=torch.float64)
    with torch.no_grad():
        twin.weight.copy_(torch.from_numpy(layer.weight.data.copy()))
        twin.bias.copy_(torch.from_numpy(layer.bias.data.copy()))
    x = RNG.normal(size=(4, 2, *(9, 8)[:axes]))
    mine, wanted = layer(x), twin(torch.from_numpy(x))
    np.testing.assert_allclose(mine.data, wanted.detach().numpy(), rtol=1e-12, atol=1e-13)
    mine.square().sum().backward()
    wanted.square().sum().backward()
    np.testing.assert_allclose(layer.weight.grad, twin.weight.grad.numpy(), rtol=1e-11)
    np.testing.assert_allclose(layer.bias.grad, twin.bias.grad.numpy(), rtol=1e-11)


@pytest.mark.parametrize("shape", [(6, 3), (4, 3, 5), (2, 3, 4, 5)])
def test_batch_norm_equals_torch(rg, shape):
    torch = pytest.importorskip("torch", reason="install torch")
    kinds = {2: torch.nn.BatchNorm1d, 3: torch.nn.BatchNorm1d, 4: torch.nn.BatchNorm2d}
    layer, twin = rg.nn.BatchNorm(3), kinds[len(shape)](3, dtype=torch.float64)
    x = rg.Tensor(RNG.normal(size=shape))
    other = torch.tensor(x.data.copy(), requires_grad=True)
    up = RNG.normal(size=shape)
    for _ in range(2):
        mine, wanted = layer(x), twin(other)
        np.testing.assert_allclose(mine.data, wanted.detach().numpy(), rtol=1e-11, atol=1e-12)
    (mine * up).sum().backward()
    (wanted * torch.from_numpy(up)).sum().backward()
    np.testing.assert_allclose(x.grad, other.grad.numpy(), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(layer.running_mean, twin.running_mean.numpy(), rtol=1e-13)
    np.testing.assert_allclose(layer.running_var, twin.running_var.numpy(), rtol=1e-13)
    np.testing.assert_allclose(
        layer.eval()(x).data, twin.eval()(other).detach().numpy(), rtol=1e-12, atol=1e-13
    )


def test_running_means_are_saved_and_loaded(rg):
    layer, other = rg.nn.BatchNorm(2), rg.nn.BatchNorm(2)
    layer(ROWS[:, :2])
    state = layer.state_dict()
    assert list(state) == ["weight", "bias", "running_mean", "running_var"]
    other.load_state_dict(state)
    np.testing.assert_array_equal(other.eval()(ROWS[:, :2]).data, layer.eval()(ROWS[:, :2]).data)
    state["running_mean"][:] = 9.0
    assert layer.running_mean.max() < 9.0
    before = copy.deepcopy(other.state_dict())
    with pytest.raises(rg.errors.StateError, match="running_var has shape"):
        other.load_state_dict({**state, "running_var": np.zeros(3)})
    for key, array in other.state_dict().items():
        np.testing.assert_array_equal(array, before[key])


def test_a_batch_of_one_has_no_variance(rg):
    with pytest.raises(rg.errors.ShapeError, match="has one number per feature"):
        rg.nn.BatchNorm(2)(np.zeros((1, 2)))


def test_dropout_drops_its_share_and_keeps_the_mean(rg):
    layer = rg.nn.Dropout(0.25, seed=3)
    x = rg.Tensor(np.ones((100, 100)))
    out = layer(x)
    dropped = (out.data == 0.0).mean()
    assert abs(dropped - 0.25) < 0.02
    assert abs(out.data.mean() - 1.0) < 0.03
    out.sum().backward()
    np.testing.assert_array_equal(x.grad, out.data)
    assert layer.eval()(x) is x
    again = rg.nn.Dropout(0.25, seed=3)
    np.testing.assert_array_equal(again(x).data, out.data)
    with pytest.raises(rg.errors.SettingError, match="from 0 up to but not 1"):
        rg.nn.Dropout(1.0)


def test_images_of_a_wrong_shape_are_refused(rg):
    layer = rg.nn.Conv2d(1, 2, 3)
    with pytest.raises(rg.errors.ShapeError, match=r"x\.reshape\(batch, 1, height, width\)"):
        layer(np.zeros((5, 64)))
    with pytest.raises(rg.errors.SettingError, match="a size, or 2 of them"):
        rg.nn.Conv2d(1, 2, (3, 3, 3))
