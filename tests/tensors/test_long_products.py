"""Products of many factors: gradients of every order take time and memory in proportion to how many
there are, and are right where factors are 0."""

from __future__ import annotations

from importlib import import_module
from math import prod

import numpy as np
import pytest

LOSSES = {"prod": lambda t: t.prod(), "cumprod": lambda t: (t.cumprod() * t).sum()}


def turns(rg, root) -> int:
    """How often the loops turn, forward and backward, of all rows under a root."""
    core = import_module(f"{rg.__name__}.value").core
    total = 0
    for node in rg.order(root):
        made = core.array_row(node)
        if made is None:
            continue
        backs = [made[0].adjoint(name) for name in made[0].operands]
        statements = [made[0].statement]
        for back in backs:
            if back is not None:
                statements += [back.statement, *(other.statement for _, other in back.others)]
        total += sum(prod(n for _, n in t.loops) for s in statements for t in s.terms)
    return total


@pytest.mark.parametrize("name", LOSSES)
def test_loops_turn_in_proportion_to_the_factors(rg, name):
    few, many = (turns(rg, LOSSES[name](rg.Tensor(np.ones(n)))) for n in (1000, 8000))
    assert many < 9 * few
    assert many < 200 * 8000


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("zeros", [(), (3,), (3, 30)])
def test_gradients_are_those_of_the_other_factors(rg, name, zeros):
    x = 1.0 + np.random.default_rng(1).standard_normal(40) / 4.0
    x[list(zeros)] = 0.0
    t = rg.Tensor(x)
    LOSSES[name](t).backward()

    def others(last, k):
        return np.prod([x[i] for i in range(last + 1) if i != k])

    if name == "prod":
        expected = [others(39, k) for k in range(40)]
    else:
        weights = x
        expected = [
            sum(weights[i] * others(i, k) for i in range(k, 40)) + np.prod(x[: k + 1])
            for k in range(40)
        ]
    np.testing.assert_allclose(t.grad, expected, rtol=1e-12, atol=1e-14)
    vector = np.linspace(-1.0, 1.0, 40)
    found = rg.hvp(LOSSES[name], x, vector)
    step = 1e-6
    ahead, behind = (rg.grad(LOSSES[name])(x + s * vector) for s in (step, -step))
    np.testing.assert_allclose(found, (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 20), (9,), (8,), (2, 17, 3)])
def test_shapes_are_numpys(rg, shape):
    x = np.random.default_rng(2).standard_normal(shape)
    for axis in range(len(shape)):
        np.testing.assert_allclose(
            rg.Tensor(x).cumprod(axis).data, np.cumprod(x, axis), rtol=1e-13, atol=0.0
        )
        for keep in (False, True):
            found = rg.Tensor(x).prod(axis, keepdims=keep)
            np.testing.assert_allclose(
                found.data, np.prod(x, axis, keepdims=keep), rtol=1e-13, atol=0.0
            )
