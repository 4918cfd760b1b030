"""In training: backward adds gradients, reduced over the rows, to captured parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from .support import assert_within, numbers, same

ROWS = 300
X = numbers(ROWS, seed=1)
Y = np.sin(X) + 0.1 * numbers(ROWS, seed=2)


class Model:
    """A small network of values."""

    def __init__(self, rg: Any, width: int = 4) -> None:
        chance = np.random.default_rng(3)
        self.rg = rg
        self.hidden = [[rg.Value(w) for w in chance.normal(size=2)] for _ in range(width)]
        self.output = [rg.Value(w) for w in chance.normal(size=width)]

    def parameters(self) -> list[Any]:
        return [w for unit in self.hidden for w in unit] + self.output

    def loss(self, x: Any, y: Any) -> Any:
        rg = self.rg
        units = [rg.tanh(w * x + b) for w, b in self.hidden]
        return (rg.dot(self.output, units) - y) ** 2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_backward_adds_what_eager_backward_adds(rg: Any, reduce: str, weighted: bool) -> None:
    compiled, plain = Model(rg), Model(rg)
    seeds = numbers(ROWS, 0.0, 2.0, 4) if weighted else np.ones(ROWS)
    step = rg.compile(compiled.loss)
    value = step.backward(X, Y, reduce=reduce, weights=seeds if weighted else None)
    scale = 1 / ROWS if reduce == "mean" else 1.0
    total = 0.0
    for x, y, seed in zip(X, Y, seeds):
        loss = plain.loss(rg.Value(x), y)
        loss.backward(seed * scale)
        total += loss.data * scale
    assert type(value) is float
    assert math.isclose(value, total, rel_tol=1e-12)
    got, expected = rg.grads(compiled.parameters()), rg.grads(plain.parameters())
    assert_within(got, expected, np.abs(expected) + 1.0, 1e-12)
    assert [p.data for p in compiled.parameters()] == [p.data for p in plain.parameters()]


def test_gradients_accumulate_until_they_are_zeroed(rg: Any) -> None:
    w = rg.Value(2.0)
    w.grad = 100.0
    step = rg.compile(lambda x: w * x)
    step.backward(X)
    once = w.grad - 100.0
    step.backward(X)
    assert math.isclose(w.grad, 100.0 + 2 * once, rel_tol=1e-13)
    rg.zero_grad([w])
    step.backward(X)
    assert math.isclose(w.grad, X.sum(), rel_tol=1e-13, abs_tol=1e-13)


def test_a_loop_goes_down_as_it_does_eagerly(rg: Any) -> None:
    compiled, plain = Model(rg), Model(rg)
    step = rg.compile(compiled.loss)
    losses = []
    for _ in range(8):
        rg.zero_grad(compiled.parameters())
        losses.append(step.backward(X[:60], Y[:60], reduce="mean"))
        for p in compiled.parameters():
            p.data -= 0.1 * p.grad
    eager_losses = []
    for _ in range(8):
        rg.zero_grad(plain.parameters())
        loss = rg.mean(
            [plain.loss(rg.Value(x, requires_grad=False), y) for x, y in zip(X[:60], Y[:60])]
        )
        loss.backward()
        eager_losses.append(loss.data)
        for p in plain.parameters():
            p.data -= 0.1 * p.grad
    assert np.allclose(losses, eager_losses, rtol=1e-10)
    assert losses[-1] < 0.8 * losses[0]
    assert np.allclose(rg.data(compiled.parameters()), rg.data(plain.parameters()), rtol=1e-9)
    assert len(step.traces) == 1


def test_arguments_keep_out_of_it(rg: Any) -> None:
    w = rg.Value(2.0)
    step = rg.compile(lambda x, a: w * x * a)
    assert step.backward(X, 3.0) == step.value_and_grad(X, 3.0, reduce="sum")[0]
    assert math.isclose(w.grad, 3 * X.sum(), rel_tol=1e-12)


def test_frozen_leaves_get_nothing(rg: Any) -> None:
    w, frozen = rg.Value(2.0), rg.Value(3.0, requires_grad=False)
    step = rg.compile(lambda x: w * frozen * x)
    step.backward(X)
    assert math.isclose(w.grad, 3 * X.sum(), rel_tol=1e-12)
    assert frozen.grad == 0.0


def test_a_leaf_frozen_later_gets_nothing_from_then_on(rg: Any) -> None:
    w, v = rg.Value(2.0), rg.Value(3.0)
    step = rg.compile(lambda x: w * v * x)
    step.backward(np.ones(2))
    assert (w.grad, v.grad) == (6.0, 4.0)
    w.requires_grad = False
    step.backward(np.ones(2))
    assert (w.grad, v.grad) == (6.0, 8.0)
    w.requires_grad = True
    step.backward(np.ones(2))
    assert (w.grad, v.grad) == (12.0, 12.0)


def test_without_a_parameter_there_is_nothing_to_do(rg: Any) -> None:
    text = "<lambda>: no captured parameter takes gradients; use value_and_grad instead"
    with pytest.raises(rg.errors.CompileError, match=text):
        rg.compile(lambda x: x * x).backward(X)
    frozen = rg.Value(1.0, requires_grad=False)
    with pytest.raises(rg.errors.CompileError, match=text):
        rg.compile(lambda x: x * frozen).backward(X)


def test_a_detached_parameter_gets_zero(rg: Any) -> None:
    w = rg.Value(2.0)
    rg.compile(lambda x: w.detach() * x + 0.0 * w).backward(X)
    assert w.grad == 0.0


def test_a_failed_step_changes_no_gradient(rg: Any) -> None:
    w = rg.Value(2.0)
    w.grad = 7.0

    def refused(x: Any) -> Any:
        if x > 10:
            raise ValueError("too large")
        return w * x

    step = rg.compile(refused)
    with pytest.raises(ValueError, match="too large"):
        step.backward(np.array([1.0, 20.0]))
    take = rg.compile(lambda i: rg.take([w, w * w], i))
    take(np.array([0]))
    with pytest.raises(rg.errors.TakeError):
        take.backward(np.array([0, 5]))
    assert w.grad == 7.0


@pytest.mark.parametrize("reduce", [None, "max", "SUM", 1])
def test_only_sum_and_mean_are_known(rg: Any, reduce: Any) -> None:
    w = rg.Value(1.0)
    with pytest.raises(rg.errors.CompileError, match="is neither 'sum' nor 'mean'"):
        rg.compile(lambda x: w * x).backward(X, reduce=reduce)
    assert w.grad == 0.0


def test_one_row_or_none_at_all(rg: Any) -> None:
    w = rg.Value(3.0)
    step = rg.compile(lambda x: w * x * x)
    assert step.backward(2.0) == 12.0
    assert step.backward(2.0, reduce="mean") == 12.0
    assert step.backward(2.0, weights=[10.0]) == 12.0
    assert w.grad == 4.0 + 4.0 + 40.0


def test_many_parameters(rg: Any) -> None:
    ws = [rg.Value(float(k % 7)) for k in range(3000)]
    step = rg.compile(lambda xs: rg.dot(ws[:1500], ws[1500:]) * xs[0] + rg.sum(ws) * xs[1])
    rows = np.stack([numbers(50), numbers(50, seed=1)], axis=1)
    step.backward(rows)
    data = rg.data(ws)
    first, second = rows.sum(axis=0)
    partner = np.concatenate([data[1500:], data[:1500]])
    assert np.allclose(rg.grads(ws), partner * first + second, rtol=1e-12, atol=1e-12)


def test_optimizers_see_the_gradients_as_if_eager(rg: Any) -> None:
    """A momentum step written by hand on ``.grad``: the same path either way."""

    def path(run: Any) -> list[float]:
        w = rg.Value(3.0)
        speed, seen = 0.0, []
        for _ in range(20):
            w.grad = 0.0
            run(w)
            speed = 0.9 * speed - 0.05 * w.grad
            w.data += speed
            seen.append(w.data)
        return seen

    steps: dict[int, Any] = {}

    def compiled(w: Any) -> None:
        step = steps.setdefault(id(w), rg.compile(lambda x: (w - x) ** 2))
        step.backward(X[:40], reduce="mean")

    def eagerly(w: Any) -> None:
        rg.mean([(w - x) ** 2 for x in X[:40].tolist()]).backward()

    assert np.allclose(path(compiled), path(eagerly), rtol=1e-12)


def test_backward_leaves_values_and_eager_graphs_alone(rg: Any) -> None:
    w = rg.Value(2.0)
    root = w * 5
    step = rg.compile(lambda x: w * x)
    step.backward(X)
    before = w.grad
    root.backward()
    assert w.grad == before + 5.0
    assert same(step(X), 2.0 * X)


def test_hooks_of_parameters_see_and_replace_the_reduced_gradient(rg: Any) -> None:
    w, b = rg.Value(2.0), rg.Value(1.0)
    seen: list[float] = []
    w.register_hook(lambda total: seen.append(total) or 0.5)
    step = rg.compile(lambda x: w * x + b)
    step.backward(np.array([1.0, 2.0, 3.0]))
    assert seen == [6.0]
    assert (w.grad, b.grad) == (0.5, 3.0)


def test_a_hook_that_raises_changes_no_gradient(rg: Any) -> None:
    w, b = rg.Value(2.0), rg.Value(1.0)

    def refuse(total: float) -> None:
        raise ValueError("no")

    b.register_hook(refuse)
    with pytest.raises(ValueError, match="no"):
        rg.compile(lambda x: w * x + b).backward(X)
    assert (w.grad, b.grad) == (0.0, 0.0)
