"""Optimizers: equal to PyTorch step for step, equal on both cores to the bit, and strict."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

STEPS = 100
COUNT = 37  # more than two blocks of the native loop, and a rest


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="torch is an extra")


METHODS = [
    ("SGD", {"lr": 0.05}),
    ("SGD", {"lr": 0.05, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.02, "momentum": 0.9}),
    ("SGD", {"lr": 0.02, "momentum": 0.9, "dampening": 0.5, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.02, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"lr": 0.02, "momentum": 0.8, "nesterov": True, "weight_decay": 0.2}),
    ("Adam", {}),
    ("Adam", {"lr": 0.1, "betas": (0.85, 0.99), "eps": 1e-6}),
    ("Adam", {"lr": 0.1, "weight_decay": 0.1}),
    ("AdamW", {}),
    ("AdamW", {"lr": 0.1, "betas": (0.0, 0.9), "weight_decay": 0.3}),
    ("RMSprop", {}),
    ("RMSprop", {"lr": 0.05, "alpha": 0.9, "centered": True}),
    ("RMSprop", {"lr": 0.02, "momentum": 0.9, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.02, "momentum": 0.5, "centered": True, "eps": 1e-3}),
]
NAMES = [f"{name}({', '.join(f'{k}={v}' for k, v in s.items())})" for name, s in METHODS]


def start(count=COUNT, seed=0):
    draw = random.Random(seed)
    return [draw.uniform(-2.0, 2.0) for _ in range(count)]


def gradient(step, index, x):
    """The gradient of a curved function that wobbles from step to step."""
    return math.sin(x + index) + 0.5 * x + 0.3 * math.cos(step * (index + 1))


def run(rg, make, steps=STEPS, count=COUNT, after=lambda step, leaves: None):
    """The trajectory of our leaves."""
    leaves = [rg.Value(x) for x in start(count)]
    optimizer = make(leaves)
    path = []
    for step in range(steps):
        after(step, leaves)
        for index, leaf in enumerate(leaves):
            leaf.grad = gradient(step, index, leaf.data)
        optimizer.step()
        path.append([leaf.data for leaf in leaves])
    return path


def run_torch(torch, make, steps=STEPS, count=COUNT, after=lambda step, leaves: None):
    """The trajectory of a torch tensor for each leaf."""
    leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in start(count)]
    optimizer = make(leaves)
    path = []
    for step in range(steps):
        after(step, leaves)
        for index, leaf in enumerate(leaves):
            g = torch.tensor(gradient(step, index, leaf.item()), dtype=torch.float64)
            leaf.grad = g if leaf.requires_grad else None
        optimizer.step()
        path.append([leaf.item() for leaf in leaves])
    return path


@pytest.mark.parametrize(("name", "settings"), METHODS, ids=NAMES)
def test_every_step_equals_pytorchs(rg, torch, name, settings):
    mine = run(rg, lambda leaves: getattr(rg.optim, name)(leaves, **settings))
    expected = run_torch(torch, lambda leaves: getattr(torch.optim, name)(leaves, **settings))
    assert np.abs(np.array(mine) - np.array(expected)).max() < 1e-10


@pytest.mark.parametrize(("name", "settings"), METHODS, ids=NAMES)
def test_both_cores_take_the_same_steps_to_the_bit(native, reference, name, settings):
    paths = [
        run(rg, lambda leaves, rg=rg: getattr(rg.optim, name)(leaves, **settings))
        for rg in (native, reference)
    ]
    assert paths[0] == paths[1]


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop"])
def test_groups_have_their_own_settings(rg, torch, name):
    def groups(leaves):
        return [{"params": leaves[:20], "lr": 0.01}, {"params": leaves[20:], "weight_decay": 0.2}]

    mine = run(rg, lambda leaves: getattr(rg.optim, name)(groups(leaves), lr=0.05))
    expected = run_torch(torch, lambda leaves: getattr(torch.optim, name)(groups(leaves), lr=0.05))
    assert np.abs(np.array(mine) - np.array(expected)).max() < 1e-10


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop"])
def test_frozen_parameters_are_passed_over_and_their_state_waits(rg, torch, name):
    settings = {"lr": 0.05, **({"momentum": 0.9} if name != "Adam" else {})}

    def freeze(step, leaves):
        for index in (3, 4, 20, 36):
            leaves[index].requires_grad = step % 3 == 1

    mine = run(rg, lambda leaves: getattr(rg.optim, name)(leaves, **settings), after=freeze)
    expected = run_torch(
        torch, lambda leaves: getattr(torch.optim, name)(leaves, **settings), after=freeze
    )
    assert mine[0][3] == start()[3]
    assert np.abs(np.array(mine) - np.array(expected)).max() < 1e-10


@pytest.mark.parametrize(("name", "settings"), METHODS[::3], ids=NAMES[::3])
def test_a_saved_state_goes_on_to_the_bit(rg, name, settings):
    def make(leaves):
        return getattr(rg.optim, name)(leaves, **settings)

    whole = run(rg, make)
    leaves = [rg.Value(x) for x in start()]
    optimizer = make(leaves)
    for step in range(STEPS):
        if step == 41:
            saved = optimizer.state_dict()
            optimizer = getattr(rg.optim, name)(leaves)
            optimizer.load_state_dict(saved)
        for index, leaf in enumerate(leaves):
            leaf.grad = gradient(step, index, leaf.data)
        optimizer.step()
    assert [leaf.data for leaf in leaves] == whole[-1]


def test_a_saved_state_is_a_copy(rg):
    x = rg.Value(1.0)
    optimizer = rg.optim.Adam([x])
    saved = optimizer.state_dict()
    x.grad = 1.0
    optimizer.step()
    assert saved["state"][0]["steps"].tolist() == [0.0]


@pytest.mark.parametrize(
    ("bend", "text"),
    [
        (lambda s: s.update(optimizer="SGD"), "it is of SGD"),
        (lambda s: s.update(groups=[]), "it has 0 groups"),
        (lambda s: s["state"][0].pop("mean"), "its arrays are square, steps"),
        (lambda s: s["state"][0].update(mean=np.zeros(3)), "a group has 2 parameters here"),
        (lambda s: s["groups"][0].update(lr=-1.0), "lr must be a number from 0 up"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(rg, bend, text):
    optimizer = rg.optim.Adam([rg.Value(1.0), rg.Value(2.0)])
    saved = optimizer.state_dict()
    bend(saved)
    with pytest.raises(rg.RetrogradeError) as caught:
        optimizer.load_state_dict(saved)
    assert text in str(caught.value)


def test_what_may_be_given_as_parameters(rg):
    model = rg.nn.MLP(2, [2, 1], seed=0)
    for given in (
        model,
        model.parameters(),
        iter(model.parameters()),
        [model.layers[0], model.layers[1]],
    ):
        assert len(rg.optim.SGD(given).parameters()) == 9
    assert len(rg.optim.SGD({"w": rg.Value(1.0)}["w"]).parameters()) == 1


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda rg, x: rg.optim.SGD([]), "was given no parameters"),
        (lambda rg, x: rg.optim.SGD([x * 2]), "the result of mul = 2.0 was computed"),
        (lambda rg, x: rg.optim.SGD([x, x]), "is among the parameters twice"),
        (lambda rg, x: rg.optim.SGD([{"params": [x]}, {"params": [x]}]), "twice"),
        (lambda rg, x: rg.optim.SGD([1.0]), "takes values"),
        (lambda rg, x: rg.optim.SGD([x], lr=-1.0), "lr must be a number from 0 up, got float"),
        (lambda rg, x: rg.optim.SGD([x], lr=float("nan")), "lr must be"),
        (lambda rg, x: rg.optim.SGD([x], lr="0.1"), "lr must be a number from 0 up, got str"),
        (lambda rg, x: rg.optim.SGD([x], dampening="a"), "dampening must be a number, got str"),
        (lambda rg, x: rg.optim.SGD([x], nesterov=True), "where nesterov is True"),
        (lambda rg, x: rg.optim.Adam([x], betas=(0.9, 1.0)), "each of betas must be"),
        (lambda rg, x: rg.optim.Adam([x], betas=(0.9,)), "betas must be two numbers"),
        (lambda rg, x: rg.optim.Adam([{"params": [x], "rate": 1.0}]), "keys of a group"),
        (lambda rg, x: rg.optim.Adam([{"lr": 1.0}]), "keys of a group"),
        (lambda rg, x: rg.optim.RMSprop([x], alpha=1.0), "alpha must be"),
    ],
)
def test_mistakes_are_named(rg, make, text):
    with pytest.raises(rg.RetrogradeError) as caught:
        make(rg, rg.Value(1.0))
    assert text in str(caught.value)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_settings_may_be_numbers_of_numpy(rg, kind):
    x = rg.Value(1.0)
    x.grad = 1.0
    rg.optim.SGD([x], lr=kind(1)).step()
    assert x.data == 0.0


def test_the_engine_checks_what_it_is_given(rg):
    core, x = rg.value.core, rg.Value(1.0)
    with pytest.raises(rg.errors.NotAValueError):
        core.sgd([x, 2.0], np.zeros(2), np.zeros(2), 0.1, 0.0, 0.0, 0.0, False)
    assert x.data == 1.0


def test_the_native_engine_refuses_state_of_another_size(native):
    core, x = native.value.core, native.Value(1.0)
    for wrong in (np.zeros(2), np.zeros(1, dtype=np.float32), np.zeros((1, 1))):
        with pytest.raises(TypeError):
            core.adam([x], np.zeros(1), wrong, np.zeros(1), 0.1, 0.9, 0.9, 1e-8, 0.0, False)
    with pytest.raises(TypeError):
        core.adam([x])


def test_parameters_cannot_move_while_recording(native):
    optimizer = native.optim.SGD([native.Value(1.0)])

    def program(x):
        optimizer.step()
        return x * 2

    with pytest.raises(native.errors.RecordingError):
        native.compile(program)(1.0)


def test_a_step_with_a_closure_returns_its_loss(rg):
    x = rg.Value(2.0)
    optimizer = rg.optim.SGD([x], lr=0.25)

    def closure():
        optimizer.zero_grad()
        loss = x * x
        loss.backward()
        return loss

    assert optimizer.step(closure).data == 4.0
    assert x.data == 1.0


def test_non_finite_gradients_do_what_ieee_says_on_both_cores(native, reference):
    for name, settings in METHODS:
        ends = []
        for rg in (native, reference):
            leaves = [rg.Value(1.0) for _ in range(3)]
            optimizer = getattr(rg.optim, name)(leaves, **settings)
            for leaf, bad in zip(leaves, (float("nan"), float("inf"), 1e200)):
                leaf.grad = bad
            optimizer.step()
            ends.append([leaf.data for leaf in leaves])
        assert np.array_equal(*ends, equal_nan=True), name


def test_the_repr_shows_groups_and_settings(rg):
    shown = repr(rg.optim.Adam([rg.Value(1.0)], lr=0.5))
    assert shown == (
        "Adam(\n  group 0: 1 parameters, lr=0.5, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.0\n)"
    )
