"""Clipping and accumulation, against PyTorch."""

from __future__ import annotations

import math
import random

import pytest


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="torch is an extra")


def leaves_with(rg, grads):
    leaves = [rg.Value(0.0) for _ in grads]
    for leaf, grad in zip(leaves, grads):
        leaf.grad = grad
    return leaves


def drawn(count=20, seed=1):
    draw = random.Random(seed)
    return [draw.uniform(-3.0, 3.0) for _ in range(count)]


def tensors(torch, grads):
    leaves = [torch.tensor(0.0, dtype=torch.float64, requires_grad=True) for _ in grads]
    for leaf, grad in zip(leaves, grads):
        leaf.grad = torch.tensor(grad, dtype=torch.float64)
    return leaves


@pytest.mark.parametrize("kind", [2.0, 1.0, 3.5, float("inf")])
@pytest.mark.parametrize("most", [0.5, 1000.0, 0.0])
def test_clipping_by_norm_equals_pytorchs(rg, torch, kind, most):
    mine, theirs = leaves_with(rg, drawn()), tensors(torch, drawn())
    length = rg.optim.clip_grad_norm(mine, most, kind)
    expected = torch.nn.utils.clip_grad_norm_(theirs, most, kind)
    assert length == pytest.approx(expected.item(), rel=1e-13)
    assert [v.grad for v in mine] == pytest.approx([t.grad.item() for t in theirs], rel=1e-12)


def test_clipping_by_value_equals_pytorchs(rg, torch):
    mine, theirs = leaves_with(rg, drawn()), tensors(torch, drawn())
    rg.optim.clip_grad_value(mine, 1.25)
    torch.nn.utils.clip_grad_value_(theirs, 1.25)
    assert [v.grad for v in mine] == [t.grad.item() for t in theirs]


def test_gradients_that_are_not_finite(rg):
    leaves = leaves_with(rg, [float("nan"), 1.0])
    assert math.isnan(rg.optim.clip_grad_norm(leaves, 1.0))
    assert all(math.isnan(leaf.grad) for leaf in leaves)
    leaves = leaves_with(rg, [float("inf"), 1.0])
    assert rg.optim.clip_grad_norm(leaves, 1.0) == float("inf")
    assert math.isnan(leaves[0].grad)
    assert leaves[1].grad == 0.0
    leaves = leaves_with(rg, [float("nan"), float("-inf")])
    rg.optim.clip_grad_value(leaves, 2.0)
    assert math.isnan(leaves[0].grad)
    assert leaves[1].grad == -2.0


def test_both_cores_measure_and_clip_to_the_bit(native, reference):
    for kind in (1.0, 2.0, 3.5, float("inf")):
        ends = []
        for rg in (native, reference):
            leaves = leaves_with(rg, drawn(101))
            length = rg.optim.clip_grad_norm(leaves, 2.0, kind)
            ends.append((length, [leaf.grad for leaf in leaves]))
        assert ends[0] == ends[1]


def test_modules_iterators_and_nothing(rg):
    model = rg.nn.MLP(2, [1], seed=0)
    model([1.0, 2.0]).backward()
    assert rg.optim.clip_grad_norm(model, 1.0) == pytest.approx(math.sqrt(6.0))
    assert rg.optim.clip_grad_norm(iter(model.parameters()), 1.0) == pytest.approx(1.0, rel=1e-5)
    assert rg.optim.clip_grad_norm([], 1.0) == 0.0


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (lambda o: o.clip_grad_norm([], -1.0), "max_norm must be"),
        (lambda o: o.clip_grad_norm([], 1.0, 0.0), "norm_type must be"),
        (lambda o: o.clip_grad_value([], float("nan")), "clip_value must be"),
        (lambda o: o.clip_grad_value(["a"], 1.0), "takes values"),
        (lambda o: o.Accumulator(None, 0), "every must be a whole number from 1 up"),
    ],
)
def test_mistakes_are_named(rg, act, text):
    with pytest.raises(rg.RetrogradeError) as caught:
        act(rg.optim)
    assert text in str(caught.value)


def test_accumulation_equals_pytorchs_idiom(rg, torch):
    every, slopes = 4, drawn(100, seed=3)
    x = rg.Value(0.5)
    accumulator = rg.optim.Accumulator(rg.optim.Adam([x], lr=0.05), every)
    y = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([y], lr=0.05)
    for at, slope in enumerate(slopes, 1):
        ((x - slope) ** 2).backward()
        stepped = accumulator.step()
        assert stepped == (at % every == 0)
        (((y - slope) ** 2) / every).backward()
        if at % every == 0:
            optimizer.step()
            optimizer.zero_grad()
        assert x.data == pytest.approx(y.item(), abs=1e-10)


def test_a_round_that_is_not_full_can_be_finished(rg):
    x = rg.Value(0.0)
    accumulator = rg.optim.Accumulator(rg.optim.SGD([x], lr=1.0), every=8)
    for slope in (1.0, 2.0):
        (x * slope).backward()
        assert not accumulator.step()
    assert accumulator.flush()
    assert x.data == -1.5
    assert x.grad == 0.0
    assert not accumulator.flush()
