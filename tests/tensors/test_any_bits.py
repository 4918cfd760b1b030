"""``any_bits()``: NumPy's product where it is allowed, the same numbers but for the last bits, and
nodes that say so."""

from __future__ import annotations

import copy
import pickle
import threading
from importlib import import_module

import numpy as np
import pytest

RNG = np.random.default_rng(3)


@pytest.fixture
def small(rg, monkeypatch):
    """Products of any size count as large; rows bound before do not know that."""
    shared = f"{rg.__name__}._shared"
    monkeypatch.setattr(import_module(f"{shared}.blas"), "LARGE", 1)
    monkeypatch.setattr(import_module(f"{shared}.bound"), "_kept", {})


def core_of(rg):
    return import_module(f"{rg.__name__}.value").core


def is_noted(rg, node) -> bool:
    row = core_of(rg).array_row(node)
    return row is not None and row[0].any_bits


def large(rg, *shape):
    return rg.Tensor(RNG.standard_normal(shape))


def test_large_products_are_noted_and_small_ones_are_not(rg):
    x, y = large(rg, 256, 256), large(rg, 256, 256)
    with rg.any_bits():
        inside, little = x @ y, x[:16, :16] @ y[:16, :16]
    outside = x @ y
    assert is_noted(rg, inside)
    assert not is_noted(rg, little)
    assert not is_noted(rg, outside)
    np.testing.assert_allclose(inside.data, outside.data, rtol=1e-12, atol=1e-12)
    assert inside.data.tobytes() == (x.data @ y.data).tobytes()


def test_a_noted_node_has_gradients_wherever_backward_runs(rg):
    x, y = large(rg, 256, 300), large(rg, 300, 256)
    with rg.any_bits():
        made = x @ y
    (made * made).sum().backward()
    seed = 2.0 * made.data
    np.testing.assert_allclose(x.grad, seed @ y.data.T, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(y.grad, x.data.T @ seed, rtol=1e-12, atol=1e-9)


CALLS = {
    "@": (lambda x, y, rg: x @ y, (5, 4), (4, 3)),
    "a vector": (lambda x, y, rg: x @ y, (5, 4), (4,)),
    "two vectors": (lambda x, y, rg: x @ y, (4,), (4,)),
    "many matrices": (lambda x, y, rg: x @ y, (2, 5, 4), (2, 4, 3)),
    "rows in front": (lambda x, y, rg: x @ y, (2, 3, 4), (4, 3)),
    "spread": (lambda x, y, rg: x @ y, (1, 5, 4), (2, 4, 3)),
    "turned": (lambda x, y, rg: x.T @ y, (4, 5), (4, 3)),
    "einsum": (lambda x, y, rg: rg.einsum("bij,bkj->kbi", x, y), (2, 3, 4), (2, 5, 4)),
    "tensordot": (lambda x, y, rg: rg.tensordot(x, y, axes=2), (2, 3, 4), (3, 4, 5)),
    "dot": (lambda x, y, rg: rg.Tensor.dot(x, y), (3, 4), (4, 2)),
    "summed apart": (lambda x, y, rg: rg.einsum("ij,jk->k", x, y), (3, 4), (4, 2)),
    "a diagonal": (lambda x, y, rg: rg.einsum("ii,ij->j", x, y), (3, 3), (3, 2)),
    "conv": (lambda x, y, rg: rg.conv1d(x, y), (2, 3, 9), (4, 3, 3)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("small")
def test_values_and_derivatives_agree_with_those_outside(rg, name):
    call, left, right = CALLS[name]
    x, y = RNG.standard_normal(left), RNG.standard_normal(right)

    def f(x, y):
        made = call(x, y, rg)
        return (made * made * made).sum() if np.shape(made) else made * made * made

    def found():
        return [rg.grad(f, 0)(x, y), rg.grad(f, 1)(x, y), rg.hessian(f)(x, y)]

    outside = found()
    with rg.any_bits():
        inside = found()
        u, v = rg.Tensor(x), rg.Tensor(y)
        f(u, v).backward()
    for a, b in zip((*inside, u.grad, v.grad), (*outside, *outside[:2])):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)


@pytest.mark.usefixtures("small")
def test_copies_keep_the_note(rg):
    x, y = large(rg, 3, 4), large(rg, 4, 2)
    with rg.any_bits():
        made = (x @ y).sum()
    for twin in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert is_noted(rg, twin.inputs[0])
        twin.backward()
        assert twin.data == made.data


@pytest.mark.usefixtures("small")
def test_stories_say_who_added(rg):
    x, y = large(rg, 3, 4), large(rg, 4, 2)
    with rg.any_bits():
        inside = (x @ y).sum()
    assert "any_bits" in " ".join(step.words for step in rg.story(inside).backward)
    assert "any_bits" not in " ".join(step.words for step in rg.story((x @ y).sum()).backward)


@pytest.mark.usefixtures("small")
def test_other_modes_apply_inside(rg):
    x, y = large(rg, 3, 4), large(rg, 4, 2)
    with rg.any_bits(), rg.no_grad():
        assert (x @ y).op == "leaf"
    endless = rg.Tensor([[np.inf, 1.0]], requires_grad=False)
    with rg.any_bits(), rg.anomaly(), pytest.raises(rg.errors.AnomalyError):
        endless @ rg.Tensor([[0.0], [1.0]])


@pytest.mark.usefixtures("small")
def test_functions_compiled_inside_compute_the_same(rg):
    x, y = large(rg, 3, 4), large(rg, 4, 2)
    with rg.any_bits():
        compiled = rg.compile(lambda a, b: (a @ b).sum())
        found = compiled(x, y)
    np.testing.assert_allclose(found.data, (x.data @ y.data).sum(), rtol=1e-12)


def test_it_nests_and_is_of_one_thread(rg):
    seen = []
    core = core_of(rg)
    with rg.any_bits():
        with rg.any_bits():
            pass
        assert core.in_any_bits()
        thread = threading.Thread(target=lambda: seen.append(core.in_any_bits()))
        thread.start()
        thread.join()
    assert seen == [False]
    assert not core.in_any_bits()
    with pytest.raises(RuntimeError):
        core.leave_any_bits()


def test_shapes_that_do_not_fit_are_refused_as_outside(rg):
    with rg.any_bits(), pytest.raises(rg.errors.FitError):
        large(rg, 300, 256) @ large(rg, 300, 256)
