"""How large things may get: tensors of 10⁸ numbers, graphs of 10⁶ tensors. Takes 5 GB; the
reference, which is slow, has a tenth of the second."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.sweep


def test_a_tensor_of_a_hundred_million_numbers(native):
    rg = native
    x = rg.Tensor(np.full(10**8, 0.5), label="x")
    loss = (x * x + x[::-1]).sum()
    loss.backward()
    assert loss.data == pytest.approx(0.75e8, rel=1e-12)
    assert x.grad.shape == (10**8,)
    assert float(x.grad.min()) == float(x.grad.max()) == 2.0
    assert x[10**8 - 1].data == 0.5


def test_a_tensor_of_a_hundred_million_numbers_on_the_reference(reference):
    rg = reference
    x = rg.Tensor(np.full(10**8, 0.5))
    (x * x).sum().backward()
    assert float(x.grad.min()) == float(x.grad.max()) == 1.0


@pytest.mark.parametrize(("core", "rounds"), [("native", 500_000), ("reference", 50_000)])
def test_a_graph_of_a_million_tensors(core, rounds, request):
    rg = request.getfixturevalue(core)
    x = rg.Tensor(np.ones(4), label="x")
    z = x
    for _ in range(rounds):
        z = z * 0.999999 + x
    loss = z.sum()
    loss.backward()
    assert len(rg.order(loss)) == 2 * rounds + 2
    expected = (1.0 - 0.999999**rounds) / 1e-6 + 0.999999**rounds
    np.testing.assert_allclose(x.grad, expected, rtol=1e-9)
    del z, loss  # without recursion
