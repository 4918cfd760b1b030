"""compare and badges: other engines' gradients beside ours, conventions accounted for."""

from __future__ import annotations

import importlib
import json
import random
import sys

import pytest

ENGINES = ["torch", "jax"]


@pytest.fixture(params=ENGINES)
def engine(request):
    pytest.importorskip(request.param, reason=f"{request.param} is in the extra '{request.param}'")
    return request.param


@pytest.mark.slow
def test_every_row_agrees_with_the_other_engine(native, engine):
    rg, worst = native, 0.0
    for name, op in rg.ops.items():
        if op.absent or (engine, name) == ("torch", "digamma"):  # its trigamma has 10 digits
            continue
        rng = random.Random(name)
        for _ in range(4):
            point = tuple(rng.uniform(*bounds) for bounds in op.domain)
            found = rg.compare(lambda *v, name=name: getattr(rg, name)(*v), point, against=engine)
            assert found.agrees, str(found)
            worst = max(worst, found.largest)
    assert worst < 200.0


def test_both_columns_and_ulps(rg, engine):
    def function(x, y):
        return x * y.exp() + rg.norm_cdf(x) * rg.softplus(y)

    found = rg.compare(function, (3.0, 0.5), against=engine)
    assert found.agrees
    assert found.values_agree
    assert [row.place for row in found.rows] == ["x", "y"]
    assert all(row.ulps is not None and row.ulps <= 4 for row in found.rows)
    assert json.loads(json.dumps(found.data(), allow_nan=False))["agrees"] is True
    assert "<table>" in found._repr_html_()


def test_conventions_are_known(rg, engine):
    found = rg.compare(lambda x, y: rg.maximum(x, y) * 2.0, (1.0, 1.0), against=engine)
    assert found.agrees
    assert [row.verdict for row in found.rows] == ["convention", "convention"]
    assert [(row.ours, row.theirs) for row in found.rows] == [(2.0, 1.0), (0.0, 1.0)]
    assert "maximum(1, 1) has partials (1, 0) here, (0.5, 0.5) in" in found.conventions[0]
    assert "test_compare.py:" in found.conventions[0]


def test_a_wrong_rule_differs(rg, engine):
    @rg.custom_op
    def cube(x):
        return x**3, (3.003 * x**2,)

    found = rg.compare(lambda x: cube(x) + 1.0, 2.0, against=engine)
    assert not found.agrees
    assert found.rows[0].verdict == "differs"
    assert found.rows[0].theirs == 12.0
    assert "they differ" in str(found)


def test_a_rule_that_cannot_run_elsewhere_is_refused_with_its_line(rg, engine):
    import math

    @rg.custom_op
    def bend(x):
        return math.tanh(x), (1 - math.tanh(x) ** 2,)

    with pytest.raises(rg.errors.CheckError) as caught:
        rg.compare(bend, 0.3, against=engine)
    assert "no counterpart in" in str(caught.value)
    with pytest.raises(rg.errors.CheckError, match="no counterpart in"):
        rg.compare(lambda x: rg.Value(x.data**2, (x,), (2 * x.data,)), 0.3, against=engine)


@pytest.mark.parametrize("against", ["finite-differences", "complex-step"])
def test_differences_and_the_complex_step(rg, against):
    found = rg.compare(lambda v: (v[0] * v[1]).tanh() + v[1], [0.4, 0.7], against=against)
    assert found.agrees
    assert found.version == ""
    assert not rg.compare(lambda x: x * x.data, 2.0, against="finite-differences").agrees


def test_compiled_functions_are_compared(native, engine):
    rg = native
    f = rg.compile(lambda x, y: x * y.exp())
    assert rg.compare(f, (1.2, 0.4), against=engine).agrees


@pytest.mark.parametrize("package", ENGINES)
def test_an_absent_package_is_named_with_its_extra(rg, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(rg.errors.MissingPackageError) as caught:
        rg.compare(lambda x: x * x, 2.0, against=package)
    assert f"pip install '.[{package}]'" in str(caught.value)


def test_an_unknown_engine_is_refused(rg):
    with pytest.raises(rg.errors.CheckError, match="torch, jax, finite-differences, complex-step"):
        rg.compare(lambda x: x, 1.0, against="tensorflow")


def test_the_complex_step_says_where_it_does_not_apply(rg):
    with pytest.raises(rg.errors.CheckError, match="relu stands on a kink"):
        rg.compare(lambda x: rg.relu(x), 0.0, against="complex-step")


@pytest.mark.parametrize("against", ["torch", "jax", "finite-differences", "complex-step"])
def test_badges_for_leaves_and_interior_values(rg, against):
    if against in ENGINES:
        pytest.importorskip(against, reason=f"{against} is not installed (extra: {against})")
    badges = importlib.import_module(f"{rg.__name__}.check.badges").badges
    x, y = rg.Value(3.0), rg.Value(0.5)
    z = y.exp()
    root = x * z
    x.grad = 9.0
    assert [badge.value for badge in badges(root, against=against)] == [x, y]
    found = badges(root, [z, root], against=against)
    assert [badge.verdict for badge in found] == ["agrees", "agrees"]
    assert [badge.ours for badge in found] == [3.0, 1.0]
    assert x.grad == 9.0


def test_jax_keeps_its_configuration(native):
    jax = pytest.importorskip("jax", reason="JAX is not installed (extra: jax)")
    before = jax.config.jax_enable_x64
    native.compare(lambda x: x * x, 2.0, against="jax")
    assert jax.config.jax_enable_x64 == before
