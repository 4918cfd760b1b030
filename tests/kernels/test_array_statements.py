"""Every row of the array law and all its adjoints, of first and second order, by native plans and
by plain loops; needs no other library, so it also runs under the sanitizers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograde.ops import OPS
from retrograde.ops.array import ARRAYS
from retrograde.ops.arrays.adjoint import adjoint
from retrograde.ops.arrays.oracle import Plain, choose, evaluate
from retrograde.ops.arrays.plans import _whole_shapes
from retrograde.ops.arrays.row import Implicit, Row
from retrograde.ops.index import Statement

from .native_arrays import Native, levels

few = settings(max_examples=30, deadline=None, derandomize=True)
kernels = Native(tuple(levels()))
STATED = {name: row for name, row in ARRAYS.items() if isinstance(row, Row)}
LARGEST = {"index": 5, "add_at": 5, "put": 3, "put_at": 5, "take": 5, "gather": 5, "pick": 3}
"""How many places the whole numbers of an example may name."""


def plain(array: Any) -> Plain:
    return Plain(array.shape, [float(number) for number in array.flat])


def orders(
    statement: Statement, shapes: Mapping[str, Any], order: int
) -> Iterator[tuple[Statement, Mapping[str, Any]]]:
    """A statement and its adjoints up to an order, with the shapes of what they read."""
    yield statement, shapes
    for operand in statement.reads if order else ():
        try:
            made = adjoint(statement, operand, shapes[operand])
        except ValueError:  # no slope is stated along it
            continue
        known = {**shapes, made.upstream: statement.shape, made.own: statement.shape}
        for name, other in made.others:
            yield other, known
            known[name] = other.shape
        yield from orders(made.statement, known, order - 1)


def hold(statement: Statement, shapes: Mapping[str, Any], wholes: Mapping[str, Any]) -> None:
    draw = np.random.default_rng(len(statement.reads))
    arrays = {name: draw.uniform(0.1, 0.9, shapes[name]) for name in statement.reads}
    arrays.update((name, wholes[name]) for name in statement.wholes)
    got = kernels.run(statement, arrays)
    loops = evaluate(statement, {name: plain(it) for name, it in arrays.items()})
    wanted = np.array(loops.numbers, dtype=float).reshape(loops.shape)
    np.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-11)


def whole_numbers(name: str, statement: Statement, shapes: Mapping[str, Any]) -> dict[str, Any]:
    draw = np.random.default_rng(len(name))
    found: dict[str, Any] = {}
    for it in statement.chosen:
        looked_at = draw.standard_normal(shapes[it.array])
        for whole, places in zip(it.names, choose(it, plain(looked_at))):
            found[whole] = np.array(places.numbers, dtype=np.int64).reshape(places.shape)
    given = {n: it for n, it in _whole_shapes(statement).items() if n not in found}
    low = -1 if name == "put" else 0
    for whole, shape in given.items():
        found[whole] = draw.integers(low, LARGEST[name], shape)
    return found


@pytest.mark.parametrize("name", sorted(STATED))
def test_every_row_and_adjoint_is_what_plain_loops_make(name: str) -> None:
    row = STATED[name]
    shapes = dict(row.example.shapes)
    forward = row.state(shapes, **row.example.arguments)
    wholes = whole_numbers(name, forward, shapes)
    for statement, known in orders(forward, shapes, 1 if name in OPS else 2):
        hold(statement, known, wholes)


@pytest.mark.parametrize(
    "name", sorted(n for n, row in ARRAYS.items() if isinstance(row, Implicit))
)
def test_equations_of_implicit_rows(name: str) -> None:
    row = ARRAYS[name]
    assert isinstance(row, Implicit)
    result = row.example.shapes[row.operands[-1]]
    shapes = {**row.example.shapes, "s": result, **dict.fromkeys(row.wholes, result[:-1])}
    wholes = dict.fromkeys(row.wholes, np.array([2, 0, 1]))
    for statement, known in orders(row.state(shapes), shapes, 1):
        hold(statement, known, wholes)


@st.composite
def shapes_of(draw: Any) -> tuple[int, ...]:
    """Up to eight axes, some of them empty or of length 1."""
    shape: list[int] = []
    for _ in range(draw(st.integers(0, 8))):
        room = 300 // max(1, int(np.prod(shape)))
        shape.append(draw(st.integers(0, max(1, min(4, room)))))
    return tuple(shape)


@few
@given(shapes_of(), st.data())
def test_broadcasting_of_any_shapes(whole: tuple[int, ...], data: Any) -> None:
    def narrowed() -> tuple[int, ...]:
        start = data.draw(st.integers(0, len(whole)))
        return tuple(1 if data.draw(st.booleans()) else n for n in whole[start:])

    name = data.draw(st.sampled_from(["mul", "where", "hypot", "clip"]))
    shapes = {it: narrowed() for it in OPS[name].inputs}
    for statement, known in orders(STATED[name].state(shapes), shapes, 1):
        hold(statement, known, {})


@few
@given(
    shapes_of(),
    st.data(),
    st.sampled_from(["sum", "cumsum", "cumprod_along", "prod_along", "flip"]),
)
def test_rows_along_axes_of_any_shapes(shape: tuple[int, ...], data: Any, name: str) -> None:
    if not shape:
        return
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    shapes = {"x": shape}
    for statement, known in orders(STATED[name].state(shapes, axis=axis), shapes, 1):
        hold(statement, known, {})


@few
@given(shapes_of(), st.data())
def test_numbers_moved_in_any_shapes(shape: tuple[int, ...], data: Any) -> None:
    order = data.draw(st.permutations(range(len(shape))))
    size = int(np.prod(shape))
    cuts = [n for n in range(1, size + 1) if size % n == 0] or [0]
    first = data.draw(st.sampled_from(cuts))
    target = (first, size // first) if first else (0, 3)
    shapes = {"x": shape}
    for statement in (
        STATED["transpose"].state(shapes, axes=order),
        STATED["reshape"].state(shapes, shape=target),
        STATED["broadcast_to"].state(shapes, shape=(2, *shape)),
        STATED["pad"].state(shapes, widths=[(1, 0)] * len(shape), value=2.0),
    ):
        for one, known in orders(statement, shapes, 1):
            hold(one, known, {})


@pytest.mark.slow
@few
@given(*[st.integers(0, 40)] * 3, st.integers(0, 3))
def test_matrix_products_of_any_sizes(m: int, k: int, n: int, batch: int) -> None:
    shapes = {"x": (batch, m, k) if batch else (m, k), "y": (k, n)}
    for statement, known in orders(STATED["matmul"].state(shapes), shapes, 1):
        hold(statement, known, {})
