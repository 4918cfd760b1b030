"""Hessians and Hessian-vector products of twenty classic functions, against PyTorch and JAX."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from .classics import CLASSICS

every_classic = pytest.mark.parametrize("name", CLASSICS)


def ours(rg, name):
    """The Hessian, and its product with the classic's direction."""
    classic = CLASSICS[name]

    def function(v):
        return classic.function(rg, v)

    point, direction = list(classic.point), list(classic.direction)
    return rg.hessian(function)(point), rg.hvp(function, point, direction)


def assert_equal(got, expected, name):
    """Within 1e-9 of the largest entry."""
    for one, other in zip(got, expected, strict=True):
        other = np.asarray(other, dtype=np.float64)
        scale = np.abs(other).max()
        assert scale > 0.0
        assert np.abs(np.asarray(one) - other).max() <= 1e-9 * scale, name


def test_there_are_at_least_twenty_of_them():
    assert len(CLASSICS) >= 20


@pytest.fixture(scope="session")
def torch_edition():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra: torch)")

    class Namespace:
        exp, log, sin, cos, sqrt, tanh = (
            torch.exp, torch.log, torch.sin, torch.cos, torch.sqrt, torch.tanh,
        )  # fmt: skip
        norm_cdf = torch.special.ndtr

    def edition(name):
        classic = CLASSICS[name]
        point = torch.tensor(classic.point, dtype=torch.float64)
        direction = torch.tensor(classic.direction, dtype=torch.float64)

        def function(v):
            return classic.function(Namespace, v)

        hessian = torch.autograd.functional.hessian(function, point)
        _, product = torch.autograd.functional.hvp(function, point, direction)
        return hessian.numpy(), product.numpy()

    return edition


@every_classic
def test_hessians_and_products_equal_pytorch(native, reference, torch_edition, name):
    expected = torch_edition(name)
    assert_equal(ours(native, name), expected, name)
    assert_equal(ours(reference, name), expected, name)


JAX_EDITION = """
import importlib.util, json, sys
import jax, jax.numpy as jnp
from jax.scipy.special import ndtr

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")
spec = importlib.util.spec_from_file_location("classics", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["classics"] = module
spec.loader.exec_module(module)

class Namespace:
    exp, log, sin, cos, sqrt, tanh, norm_cdf = (
        jnp.exp, jnp.log, jnp.sin, jnp.cos, jnp.sqrt, jnp.tanh, ndtr
    )

def edition(classic):
    # column by column on scalars, op by op: there is nothing to compile but the ops themselves
    places = tuple(range(len(classic.point)))
    slopes = jax.grad(lambda *v: classic.function(Namespace, v), places)
    point = tuple(map(jnp.float64, classic.point))

    def product(direction):
        return [float(t) for t in jax.jvp(slopes, point, tuple(map(jnp.float64, direction)))[1]]

    units = [[float(i == j) for j in places] for i in places]
    return list(map(product, units)), product(classic.direction)

results = {name: edition(classic) for name, classic in module.CLASSICS.items()}
print(json.dumps(results))
"""


@pytest.mark.slow
def test_hessians_and_products_equal_jax(native, reference):
    """JAX runs in a process of its own: its precision and its threads are set once for all."""
    if importlib.util.find_spec("jax") is None:
        pytest.skip("JAX is not installed (extra: jax)")
    file = Path(__file__).with_name("classics.py")
    done = subprocess.run(
        [sys.executable, "-c", JAX_EDITION, str(file)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout)
    assert set(expected) == set(CLASSICS)
    for name in CLASSICS:
        assert_equal(ours(native, name), expected[name], name)
        assert_equal(ours(reference, name), expected[name], name)


@every_classic
def test_every_road_to_the_second_derivative_agrees(rg, name):
    classic = CLASSICS[name]

    def function(v):
        return classic.function(rg, v)

    point, direction = list(classic.point), list(classic.direction)
    hessian, product = ours(rg, name)
    roads = [
        rg.jvp(rg.grad(function), (point,), (direction,))[1],
        rg.vjp(rg.grad(function), point)[1](direction),
        rg.grad(lambda v: rg.dot(rg.grad(function)(v), direction))(point),
    ]
    for road in roads:
        assert_equal([road], [product], name)
    assert_equal([np.array(hessian) @ np.array(direction)], [product], name)
    assert_equal([rg.jacobian(rg.grad(function))(point)], [hessian], name)
    values = [rg.Value(x) for x in point]
    first = rg.gradients(function(values), values)
    rows = [[second.data for second in rg.gradients(slope, values)] for slope in first]
    assert_equal([rows], [hessian], name)
