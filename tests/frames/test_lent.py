"""Arrays of PyTorch and JAX as arguments, read through DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

S = np.array([90.0, 100.0, 110.0])


def test_tensors_of_pytorch_are_read_in_place_and_come_back(rg: Any) -> None:
    torch = pytest.importorskip("torch")
    f = rg.compile(lambda x, a: a * x * x)
    x = torch.tensor(S)
    value, (by_x, by_a) = f.value_and_grad(x, torch.tensor(2.0))
    assert all(isinstance(part, torch.Tensor) for part in (value, by_x, by_a))
    assert by_x.tolist() == (4.0 * S).tolist()
    wide = rg.compile(lambda v: rg.sum(v))
    assert wide.grad(torch.ones(3, 2, dtype=torch.float32)).shape == (3, 2)
    assert f({"x": x, "a": torch.tensor(S)}).tolist() == (S**3).tolist()
    assert f(2.0, torch.tensor(3.0)) == 12.0
    x += 1.0
    assert f(x, 1.0).tolist() == ((S + 1.0) ** 2).tolist()


def test_tensors_that_cannot_be_lent_say_why(rg: Any) -> None:
    torch = pytest.importorskip("torch")
    f = rg.compile(lambda x: x * 2.0)
    with pytest.raises(rg.errors.FrameError, match=r"f: x cannot|x cannot be read.*detach\(\)"):
        f(torch.tensor(S, requires_grad=True))
    with pytest.raises(rg.errors.FrameError, match="convert it to float64"):
        f(torch.tensor(S).to(torch.bfloat16))
    with pytest.raises(rg.errors.FrameError, match=r"is on meta|cannot be read"):
        f(torch.empty(3, device="meta"))


def test_arrays_of_jax_come_back(rg: Any) -> None:
    jax = pytest.importorskip("jax")
    f = rg.compile(lambda x, a: a * x)
    value, by_x = f.value_and_grad(jax.numpy.array(S), 2.0, wrt="x")
    assert isinstance(value, jax.Array)
    assert isinstance(by_x, jax.Array)
    assert by_x.tolist() == [2.0, 2.0, 2.0]
