"""The front doors of PyTorch and JAX: values and gradients of compiled functions there."""

from __future__ import annotations

import numpy as np
import pytest

import retrograde as rg
from retrograde.errors import CompileError, NotTwiceDifferentiable


def price(S, K, sigma):
    d = rg.log(S / K) / sigma + 0.5 * sigma
    return S * rg.norm_cdf(d) - K * rg.norm_cdf(d - sigma) if S > 1.0 else 0.0 * S


def weighted(p, w, i):
    return rg.dot(p["x"], w) * p["a"] + rg.take([p["a"], w[0]], i)


S, K = np.array([80.0, 0.5, 120.0]), np.array([90.0, 100.0, 100.0])


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


def test_torch_has_the_gradients_of_a_call(torch):
    compiled = rg.compile(price)
    s, k = (torch.from_numpy(each.copy()).requires_grad_() for each in (S, K))
    sigma = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    up = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    value = compiled.as_torch()(s, k, sigma=sigma)
    (value * up).sum().backward()
    _, slopes = compiled.value_and_grad(S, K, 0.3, weights=up.numpy(), reduce="sum")
    assert value.tolist() == compiled(S, K, 0.3).tolist()
    assert s.grad.tolist() == slopes[0].tolist()
    assert k.grad.tolist() == slopes[1].tolist()
    assert sigma.grad.item() == slopes[2]


def test_torch_nests_whole_numbers_and_what_is_for_all_rows(torch):
    compiled = rg.compile(weighted)
    x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    w = torch.randn(3, dtype=torch.float64, requires_grad=True)
    i = torch.tensor([0, 1, 1, 0])
    function = compiled.as_torch(uniform=("w",))
    a = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    function({"x": x, "a": a}, w, i).sum().backward()
    _, slopes = compiled.value_and_grad(
        {"x": x.detach().numpy(), "a": 0.5}, rg.uniform(w.detach().numpy()), i.numpy(),
        wrt=("p", "w"), reduce="sum",
    )  # fmt: skip
    assert x.grad.tolist() == slopes[0]["x"].tolist()
    assert a.grad.item() == slopes[0]["a"]
    assert w.grad.tolist() == slopes[1].tolist()
    assert torch.autograd.gradcheck(lambda x, w: function({"x": x, "a": 0.5}, w, i), (x, w))


def test_torch_reads_without_copying_and_answers_in_kind(torch):
    compiled = rg.compile(lambda x: x * 2.0)
    function = compiled.as_torch()
    single = function(torch.tensor([1.0, 2.0], dtype=torch.float32))
    assert single.dtype == torch.float32
    assert function(3.0).tolist() == 6.0
    frozen = function(torch.ones(3, dtype=torch.float64))
    assert not frozen.requires_grad
    one = torch.ones(3, dtype=torch.float64, requires_grad=True)
    with pytest.raises(NotTwiceDifferentiable, match=r"create_graph=True.*fn.hvp"):
        torch.autograd.grad(function(one).sum(), one, create_graph=True)


def test_jax_has_the_gradients_of_a_call(jax):
    compiled = rg.compile(price)
    function = compiled.as_jax()

    def total(s, k, sigma):
        return (function(s, k, sigma=sigma) * np.array([1.0, 2.0, 3.0])).sum()

    for way in (lambda it: it, jax.jit):
        value, slopes = way(jax.value_and_grad(total, argnums=(0, 1, 2)))(S, K, 0.3)
        _, expected = compiled.value_and_grad(
            S, K, 0.3, weights=np.array([1.0, 2.0, 3.0]), reduce="sum"
        )
        assert float(value) == pytest.approx(float((compiled(S, K, 0.3) * [1, 2, 3]).sum()))
        for slope, other in zip(slopes, expected):
            assert np.asarray(slope).tolist() == np.asarray(other).tolist()


def test_jax_nests_whole_numbers_and_vmap(jax):
    compiled = rg.compile(weighted)
    function = compiled.as_jax(uniform=("w",))
    x, w, i = np.ones((4, 3)), np.array([1.0, 2.0, 3.0]), np.array([0, 1, 1, 0])
    slope = jax.grad(lambda p, w: function(p, w, i).sum(), argnums=(0, 1))({"x": x, "a": 0.5}, w)
    _, expected = compiled.value_and_grad(
        {"x": x, "a": 0.5}, rg.uniform(w), i, wrt=("p", "w"), reduce="sum"
    )
    assert np.asarray(slope[0]["x"]).tolist() == expected[0]["x"].tolist()
    assert np.asarray(slope[1]).tolist() == expected[1].tolist()
    square = rg.compile(lambda x: x * x).as_jax()
    assert jax.vmap(jax.grad(square))(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]


def test_misuse_is_told(torch):
    compiled = rg.compile(price)
    with pytest.raises(CompileError, match="uniform names 'q'"):
        compiled.as_torch(uniform=("q",))
    with pytest.raises(CompileError, match="missing a required argument"):
        compiled.as_torch()(1.0)
    with pytest.raises(CompileError, match="several results"):
        rg.compile(lambda x: [x, x]).as_torch()(1.0)
