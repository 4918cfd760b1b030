"""The front doors of PyTorch and JAX: values and gradients of compiled functions there."""

from __future__ import annotations

import numpy as np
import pytest

import retrograde as rg
from retrograde.errors import CompileError, NotTwiceDifferentiable, RowsError


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
    turned = torch._neg_view(torch.ones(3, dtype=torch.float64))
    assert function(turned).tolist() == [-2.0] * 3


def test_torch_differentiates_once(torch):
    function = rg.compile(lambda x: x * x).as_torch()
    one = torch.ones(3, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(function(one).sum(), one, create_graph=True)
    assert slope.tolist() == [2.0] * 3
    with pytest.raises(NotTwiceDifferentiable, match=r"of PyTorch.*fn.hvp"):
        torch.autograd.grad(slope.sum(), one)


def curve(x, y, exp):
    return exp(-x) * y + x * x


@pytest.fixture
def pair(torch):
    """The same function, from retrograde and as PyTorch has it."""
    mine = rg.compile(lambda x, y: curve(x, y, rg.exp)).as_torch()
    return mine, lambda x, y: curve(x, y, torch.exp)


def torch_ways(torch):
    def vmap(function, dims=0):
        return torch.vmap(function, in_dims=dims)

    def grad(function):
        return torch.func.grad(function, argnums=(0, 1))

    def total(function):
        return lambda x, y: function(x, y).sum()

    one, table = torch.linspace(0.1, 2.0, 4, dtype=torch.float64), torch.rand(3, 4).double()
    return {
        "a batch of numbers": (vmap, one, 2 * one),
        "one of them the same": (lambda it: vmap(it, (0, None)), one, one[1]),
        "a batch of rows": (lambda it: vmap(it, (1, None)), table, one[:3]),
        "gradients of a batch": (lambda it: vmap(grad(it)), one, 2 * one),
        "gradients, one the same": (lambda it: vmap(grad(it), (0, None)), one, one[1]),
        "a batch of batches": (lambda it: vmap(vmap(grad(it))), table, 2 * table),
        "gradients of rows": (lambda it: vmap(grad(total(it))), table, 2 * table),
        "the gradient of a batch": (lambda it: grad(total(vmap(it))), one, 2 * one),
        "Jacobians": (lambda it: torch.func.jacrev(it, argnums=(0, 1)), one, 2 * one),
    }


def test_torch_transforms(torch, pair):
    mine, theirs = pair
    for name, (way, *arguments) in torch_ways(torch).items():
        torch.testing.assert_close(
            way(mine)(*arguments), way(theirs)(*arguments), msg=lambda text, name=name: name + text
        )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # of its tracing
def test_torch_compile_calls_it_as_it_is(torch, pair):
    mine, theirs = pair
    x = torch.linspace(0.1, 2.0, 4, dtype=torch.float64, requires_grad=True)
    compiled = torch.compile(lambda x: mine(x * 2.0, x) + 1.0, backend="eager")
    compiled(x).sum().backward()
    (slope,) = torch.autograd.grad((theirs(x * 2.0, x) + 1.0).sum(), x)
    torch.testing.assert_close(x.grad, slope)


def shaped(W: rg.Tensor, b: rg.Tensor):
    return (rg.tanh(W) @ b).sum()


def test_torch_differentiates_functions_on_tensors(torch, tmp_path):
    compiled = rg.compile(shaped)
    W = torch.rand(3, 4, dtype=torch.float64, requires_grad=True)
    b = torch.rand(4, dtype=torch.float64, requires_grad=True)
    function = compiled.as_torch()
    assert torch.autograd.gradcheck(lambda W, b: 3.0 * function(W, b) ** 2, (W, b))
    compiled.save(tmp_path / "shaped.rgp")
    assert torch.autograd.gradcheck(rg.load(tmp_path / "shaped.rgp").as_torch(), (W, b))

    def vector(W: rg.Tensor):
        return rg.tanh(W)

    with pytest.raises(CompileError, match="several results"):
        rg.compile(vector).as_torch()(W)


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


def jax_ways(jax):
    vmap = jax.vmap

    def grad(function):
        return jax.grad(function, argnums=(0, 1))

    def total(function):
        return lambda x, y: function(x, y).sum()

    def scanned(function):
        def step(carried, x):
            return carried + function(x, 2.0) * carried, carried

        return jax.grad(lambda xs: jax.lax.scan(step, 1.0, xs)[0])

    one, table = np.linspace(0.1, 2.0, 4), np.random.default_rng(0).random((3, 4))
    return {
        "a batch of numbers": (vmap, one, 2 * one),
        "one of them the same": (lambda it: vmap(it, (0, None)), one, 2.0),
        "a batch of rows": (lambda it: vmap(it, (1, None)), table, one[:3]),
        "gradients of a batch": (lambda it: vmap(grad(it)), one, 2 * one),
        "gradients, one the same": (lambda it: vmap(grad(it), (0, None)), one, 2.0),
        "a batch of batches": (
            lambda it: vmap(vmap(grad(it), (0, None)), (None, 0)), one, 2 * one,
        ),
        "gradients of rows": (lambda it: vmap(grad(total(it))), table, 2 * table),
        "the gradient of a batch": (lambda it: grad(total(vmap(it))), one, 2 * one),
        "Jacobians": (lambda it: jax.jacrev(it, argnums=(0, 1)), one, 2 * one),
        "a scan": (scanned, one),
    }  # fmt: skip


def test_jax_transforms(jax):
    mine = rg.compile(lambda x, y: curve(x, y, rg.exp)).as_jax()

    def theirs(x, y):
        return curve(x, y, jax.numpy.exp)

    for name, (way, *arguments) in jax_ways(jax).items():
        expected = jax.tree.leaves(way(theirs)(*arguments))
        for found in (way(mine)(*arguments), jax.jit(way(mine))(*arguments)):
            for one, other in zip(jax.tree.leaves(found), expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12, err_msg=name)


def test_jax_calls_a_batch_of_numbers_once(jax, monkeypatch):
    compiled, calls = rg.compile(lambda x: x * x), []
    ask = type(compiled).value_and_grad
    monkeypatch.setattr(
        type(compiled), "value_and_grad", lambda *a, **k: calls.append(1) or ask(*a, **k)
    )
    found = jax.vmap(jax.grad(compiled.as_jax()))(np.linspace(0.0, 1.0, 1000))
    assert found[-1] == 2.0
    assert len(calls) == 1


def test_jax_differentiates_once_and_functions_on_tensors(jax):
    square = rg.compile(lambda x: x * x).as_jax()
    for second in (jax.grad(jax.grad(square)), jax.hessian(square)):
        with pytest.raises(NotTwiceDifferentiable, match=r"of JAX.*fn.hvp"):
            second(1.0)
    W, b = np.ones((3, 4)), np.arange(4.0)
    slopes = jax.jit(jax.grad(rg.compile(shaped).as_jax(), argnums=(0, 1)))(W, b)
    expected = rg.compile(shaped).grad(W, b)
    for one, other in zip(slopes, expected):
        np.testing.assert_allclose(one, other, rtol=1e-15)


def test_jax_refuses_what_does_not_fit(jax):
    function = rg.compile(price).as_jax()
    with pytest.raises(RowsError, match=r"K has 2 rows but S has 3"):
        function(S, K[:2], 0.3)
    with pytest.raises(RowsError, match="S is "):
        function(S + 1j, K, 0.3)


def test_misuse_is_told(torch):
    compiled = rg.compile(price)
    with pytest.raises(CompileError, match="uniform names 'q'"):
        compiled.as_torch(uniform=("q",))
    with pytest.raises(CompileError, match="missing a required argument"):
        compiled.as_torch()(1.0)
    with pytest.raises(CompileError, match="several results"):
        rg.compile(lambda x: [x, x]).as_torch()(1.0)
