"""Transforms over arrays in nests, on both cores, to any order, against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is an extra")

RNG = np.random.default_rng(3)
W, B, X = RNG.standard_normal((3, 2)), RNG.standard_normal(2), RNG.standard_normal((4, 3))
TARGETS = [0, 1, 1, 0]


def model(rg: Any) -> Any:
    return lambda p: rg.cross_entropy(rg.tanh(X @ p["w"] + p["b"]) * p["s"], TARGETS)


def theirs(w: Any, b: Any, s: Any) -> Any:
    logits = torch.tanh(torch.tensor(X) @ w + b) * s
    return torch.nn.functional.cross_entropy(logits, torch.tensor(TARGETS))


POINT = {"w": W, "b": B, "s": 1.5}
THEIR_POINT = tuple(torch.tensor(part, dtype=torch.float64) for part in POINT.values())


def test_gradients_in_nests(rg: Any) -> None:
    value, found = rg.value_and_grad(model(rg))(POINT)
    expected = torch.func.grad(theirs, argnums=(0, 1, 2))(*THEIR_POINT)
    assert isinstance(value, float)
    assert isinstance(found["s"], float)
    for ours, wanted in zip(found.values(), expected):
        assert np.asarray(ours) == pytest.approx(wanted.numpy(), rel=1e-12, abs=1e-13)
    again = rg.grad(lambda w, b: model(rg)({"w": w, "b": b, "s": 1.5}), wrt=("b", "w"))(W, B)
    assert again[0] == pytest.approx(found["b"])
    assert again[1].shape == (3, 2)


def test_hessians_in_nests(rg: Any) -> None:
    found = rg.hessian(model(rg))(POINT)
    expected = torch.func.jacrev(torch.func.jacrev(theirs, (0, 1, 2)), (0, 1, 2))(*THEIR_POINT)
    for one, row in zip(("w", "b", "s"), expected):
        for other, wanted in zip(("w", "b", "s"), row):
            ours = np.asarray(found[one][other])
            assert ours.shape == wanted.shape
            assert ours == pytest.approx(wanted.numpy(), rel=1e-11, abs=1e-13)
    vector = {"w": np.ones((3, 2)), "b": np.zeros(2), "s": 2.0}
    product = rg.hvp(model(rg), POINT, vector)
    wanted = np.einsum("ijkl,kl->ij", found["w"]["w"], vector["w"]) + 2.0 * found["w"]["s"]
    assert product["w"] == pytest.approx(wanted, rel=1e-11)


def test_jacobians_of_arrays_and_lists(rg: Any) -> None:
    def function(w: Any) -> Any:
        return [w @ w.T, w.sum(), w[0]]

    found = rg.jacobian(function)(W)
    expected = torch.func.jacrev(lambda w: (w @ w.T, w.sum(), w[0]))(THEIR_POINT[0])
    for ours, wanted in zip(found, expected):
        assert ours.shape == wanted.shape
        assert ours == pytest.approx(wanted.numpy(), rel=1e-12, abs=1e-13)
    assert rg.jacobian(lambda s: W * s)(2.0).tolist() == W.tolist()
    empty = rg.jacobian(lambda w: w[:0])(W)
    assert empty.shape == (0, 2, 3, 2)


def test_third_derivatives(rg: Any) -> None:
    def quartic(x: Any) -> Any:
        return (x**4).sum() + (x[0] * x[1]) ** 2

    point = np.array([1.0, 2.0, -1.0])
    found = rg.jacobian(rg.hessian(quartic))(point)
    expected = torch.func.jacrev(torch.func.jacrev(torch.func.jacrev(quartic)))(torch.tensor(point))
    assert found == pytest.approx(expected.numpy(), rel=1e-12, abs=1e-12)
    nested = rg.grad(lambda s: rg.grad(lambda x: rg.grad(quartic)(x * s).sum())(point).sum())(2.0)
    wanted = torch.func.grad(
        lambda s: torch.func.grad(lambda x: torch.func.grad(quartic)(x * s).sum())(
            torch.tensor(point)
        ).sum()
    )(torch.tensor(2.0, dtype=torch.float64))
    assert nested == pytest.approx(wanted.item(), rel=1e-12)


def test_forward_and_backward_agree(rg: Any) -> None:
    def function(w: Any, s: Any) -> Any:
        inner = rg.solve(w.T @ w + np.eye(2), w.T * s)
        return {"inner": inner, "largest": inner.max(), "log": rg.slogdet(w.T @ w)[1]}

    moves = (RNG.standard_normal(W.shape), 0.7)
    value, tangent = rg.jvp(function, (W, 1.5), moves)
    slopes = rg.jacobian(function, wrt=(0, 1))(W, 1.5)
    assert value["inner"].shape == tangent["inner"].shape == (2, 3)
    for name, moved in tangent.items():
        by_w, by_s = slopes[name]
        wanted = np.tensordot(by_w, moves[0], 2) + by_s * moves[1]
        assert np.asarray(moved) == pytest.approx(wanted, rel=1e-10)


def test_closures_over_outer_values_and_tensors(rg: Any) -> None:
    w, v = rg.Tensor(W), rg.Value(0.5)
    found = rg.grad(lambda x: (x @ w * v).sum())(X)
    assert isinstance(found, rg.Tensor)
    (found * X).sum().backward()
    assert v.grad == pytest.approx((X @ W).sum())
    assert w.grad == pytest.approx(np.repeat(X.sum(0)[:, None], 2, 1) * 0.5)
    plain = rg.grad(lambda x: (x * x).sum())(X)
    assert type(plain) is np.ndarray
    value, pull = rg.vjp(lambda x: x @ w, X)
    assert isinstance(value, rg.Tensor)
    assert isinstance(pull(np.ones((4, 2))), rg.Tensor)


def test_gradients_of_tensors_are_differentiable_again(rg: Any) -> None:
    x = rg.Tensor(W)
    y = np.exp(x)
    first = rg.gradients(y, x, seed=np.ones(W.shape))
    (second,) = rg.gradients((first * first).sum(), [x])
    assert second.data == pytest.approx(2 * np.exp(2 * W))
    through = rg.gradients((y * y).sum(), y)
    assert through.data == pytest.approx(2 * np.exp(W))
    unused = rg.Tensor(B)
    assert rg.gradients(y.sum(), [unused])[0].data.tolist() == [0.0, 0.0]
    with pytest.raises(rg.errors.UnusedInputError):
        rg.gradients(y.sum(), [unused], unused="raise")
    with pytest.raises(rg.errors.TensorError, match="a gradient is of one number"):
        rg.gradients(y, x)


def test_extra_outputs_and_unused_arguments(rg: Any) -> None:
    (value, extra), gradient = rg.value_and_grad(
        lambda x: ((x * x).sum(), {"double": x * 2, "first": x[0, 0]}), has_aux=True
    )(W)
    assert value == pytest.approx((W * W).sum())
    assert type(extra["double"]) is np.ndarray
    assert isinstance(extra["first"], float)
    assert gradient == pytest.approx(2 * W)
    both = rg.grad(lambda x, y: x.sum(), wrt=(0, 1))(W, B)
    assert both[1].tolist() == [0.0, 0.0]


def test_functions_written_in_numpy_run_as_they_are(rg: Any) -> None:
    def rosenbrock(x: Any) -> Any:
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    def loops(x: Any) -> Any:
        total = 0.0
        for row in x:
            for item in row:
                total = total + np.sin(item) * item
        return total

    assert rg.minimize(rosenbrock, np.zeros(4)).x == pytest.approx(np.ones(4), abs=1e-4)
    assert rg.grad(loops)(W) == pytest.approx(np.cos(W) * W + np.sin(W))


@pytest.mark.slow
@pytest.mark.parametrize("against", ["torch", "jax", "finite-differences"])
def test_compared_with_other_engines(rg: Any, against: str) -> None:
    if against != "finite-differences":
        pytest.importorskip(against, reason=f"{against} is an extra")

    def function(w: Any, s: Any) -> Any:
        h = np.tanh(X @ w) * s
        square = w.T @ w + np.eye(2)
        return (
            rg.cross_entropy(h, TARGETS) + rg.slogdet(square)[1] + rg.cholesky(square).sum()
            + rg.solve(square, w.T).sum() + rg.cumsum(h, 0).prod() + h[h > 0].sum() + rg.norm(w)
            + rg.conv1d(h.T[None], np.ones((1, 2, 2)), padding=1).max() + rg.sin(s) * rg.sum([s, s])
        )  # fmt: skip

    found = rg.compare(function, (W, 1.5), against=against)
    assert found.agrees, str(found)
    assert [row.place for row in found.rows][:2] == ["w[0, 0]", "w[0, 1]"]
    weight = rg.Tensor(W, label="W")
    assert rg.compare(lambda: (weight * weight).sum(), [weight], against=against).agrees


def test_a_wrong_rule_is_found_by_its_index(rg: Any) -> None:
    @rg.custom_op
    def wrong(x: Any) -> Any:
        return x**2

    @wrong.vjp
    def _(upstream: Any, x: Any) -> Any:
        slope = 2 * upstream * x
        slope[3] *= 1.01
        return slope

    with pytest.raises(rg.errors.GradcheckError, match=r"at x\[3\] = .*off by 0.99 %"):
        rg.gradcheck(lambda x: wrong(x).sum(), np.linspace(1.0, 2.0, 60))
