"""The awkward points: every edge a row states holds, in the law and eagerly on both cores."""

from __future__ import annotations

import math
from typing import Any

import pytest

from retrograde.ops import OPS, Edge, Op

inf, nan = math.inf, math.nan

EDGES = [(op, edge) for op in OPS.values() for edge in op.edges]
every_edge = pytest.mark.parametrize(
    ("op", "edge"), EDGES, ids=[f"{op.name}-{edge.at}" for op, edge in EDGES]
)

CONVENTIONS = [
    ("relu", (0.0,), 0.0, (0.0,)),
    ("abs", (0.0,), 0.0, (0.0,)),
    ("maximum", (1.0, 1.0), 1.0, (1.0, 0.0)),
    ("minimum", (1.0, 1.0), 1.0, (1.0, 0.0)),
    ("maximum", (nan, 1.0), nan, (1.0, 0.0)),
    ("maximum", (1.0, nan), nan, (0.0, 1.0)),
    ("minimum", (nan, 1.0), nan, (1.0, 0.0)),
    ("minimum", (1.0, nan), nan, (0.0, 1.0)),
    ("pow", (0.0, 2.5), 0.0, (0.0, 0.0)),
    ("mul", (0.0, inf), nan, (inf, 0.0)),
    ("log", (0.0,), -inf, (inf,)),
    ("div", (1.0, 0.0), inf, (inf, -inf)),
]
"""What DESIGN.md promises at awkward points, whatever the rows say of themselves."""


def same(got: float, expected: float) -> bool:
    return got == expected or (math.isnan(got) and math.isnan(expected))


def assert_edge(value: float, partials: tuple[float, ...], edge: Edge) -> None:
    assert same(value, edge.value), edge.why
    assert len(partials) == len(edge.partials)
    assert all(map(same, partials, edge.partials)), (partials, edge.why)


@every_edge
def test_an_edge_holds_in_the_law(op: Op, edge: Edge) -> None:
    value = op.forward(*edge.at)
    assert_edge(value, op.evaluate_partials(*edge.at, value), edge)


@every_edge
def test_an_edge_holds_eagerly(rg: Any, op: Op, edge: Edge) -> None:
    inputs = [rg.Value(number) for number in edge.at]
    result = getattr(rg, op.name)(*inputs)
    assert_edge(result.data, result.partials, edge)
    if op.absent:
        return
    result.backward()
    assert_edge(result.data, tuple(value.grad for value in inputs), edge)


@every_edge
def test_an_edge_holds_for_numbers(rg: Any, op: Op, edge: Edge) -> None:
    result = getattr(rg, op.name)(*edge.at)
    assert type(result) is float
    assert same(result, edge.value)


@pytest.mark.parametrize(("name", "at", "value", "partials"), CONVENTIONS)
def test_the_conventions_hold(
    rg: Any, name: str, at: tuple[float, ...], value: float, partials: tuple[float, ...]
) -> None:
    result = getattr(rg, name)(*map(rg.Value, at))
    assert_edge(result.data, result.partials, Edge(at, value, partials, "DESIGN.md"))


@every_edge
def test_an_edge_says_why(op: Op, edge: Edge) -> None:
    assert edge.why


def test_zero_upstreams_are_not_skipped(rg: Any) -> None:
    x = rg.Value(0.0)
    (x.sqrt() * 0.0).backward()
    assert math.isnan(x.grad)


def test_arithmetic_that_looks_redundant_is_not_folded(rg: Any) -> None:
    x = rg.Value(inf)
    for result, op in ((x * 0.0, "mul"), (x - x, "sub"), (x + 0.0, "add"), (x / x, "div")):
        assert result.op == op
        assert result is not x
    assert math.isnan((x * 0.0).data)
    assert math.isnan((x - x).data)
