"""Badges: an explanation's gradients beside those of another engine."""

from __future__ import annotations

import io

import pytest


def explained(value, **options):
    stream = io.StringIO()
    value.explain(file=stream, width=80, **options)
    return stream.getvalue()


@pytest.mark.parametrize("against", ["finite-differences", "complex-step", "torch", "jax"])
def test_every_leaf_carries_what_the_other_engine_says(rg, against):
    if against in ("torch", "jax"):
        pytest.importorskip(against, reason=f"{against} is not installed (extra: {against})")
    a, b = rg.Value(2.0, label="a"), rg.Value(-3.0, label="b")
    text = explained((a * b + a.exp()) * 2.0, against=against)
    lines = text[text.index("CHECKED") :].splitlines()
    assert lines[0] == f"CHECKED  against {against}"
    assert [line.split()[:2] for line in lines[2:]] == [["✓", "a"], ["✓", "b"]]
    assert all("agrees" in line for line in lines[2:])


def test_a_wrong_rule_is_marked(rg):
    x = rg.Value(1.5, label="x")

    @rg.custom_op
    def cube(v):
        return v**3, (2 * v * v,)

    text = explained(cube(x) * 1.0, against="finite-differences")
    assert "✗ x" in text
    assert "differs" in text


def test_nothing_is_added_unless_asked_for(rg):
    assert "CHECKED" not in explained(rg.Value(2.0) * 3.0)
    x = rg.Value(2.0)
    with pytest.raises(rg.errors.CheckError, match="against='matlab' is unknown"):
        explained(x * 3.0, against="matlab")
