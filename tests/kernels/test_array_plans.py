"""Statements carried out by native plans: every row, its adjoints and theirs, on random shapes,
against plain loops and PyTorch, and the same bits at every SIMD level.

The tests of the array law run once more, with the native kernels in NumPy's place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from retrograde.ops.array import ARRAYS
from retrograde.ops.arrays.adjoint import adjoint
from retrograde.ops.arrays.oracle import evaluate
from retrograde.ops.arrays.plans import plan
from retrograde.ops.arrays.row import Composed, Implicit, Row

from ..law import test_array_oracle as by_loops
from ..law.array_cases import ALL, Case, back, hold_to_torch, plain
from ..law.array_tape import Tensors
from ..law.test_array_oracle import *  # noqa: F403
from .native_arrays import Native, levels, native, run_plan

engine = Tensors(Native(tuple(levels())))

BY_NUMPY = {"solve", "cholesky", "lu"}
"""Rows whose values NumPy makes: they are known by an equation. Their adjoints are plans."""


@pytest.fixture(autouse=True)
def kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The native kernels in NumPy's place."""
    monkeypatch.setattr(by_loops, "do", engine)
    yield
    native.use_kernels("")


@pytest.mark.parametrize("case", ALL, ids=[case.name for case in ALL])
def test_every_row_has_torchs_derivatives(case: Case) -> None:
    hold_to_torch(case, engine)


def statements(row: Row) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A row on its example and the adjoints of all its operands, with the shapes they read."""
    shapes, arguments = row.example.shapes, row.example.arguments
    forward = row.state(shapes, **arguments)
    yield forward, dict(shapes)
    for operand in forward.reads:
        try:
            made = adjoint(forward, operand, shapes[operand])
        except ValueError:  # no slope is stated along it
            continue
        known = {**shapes, made.upstream: forward.shape, made.own: forward.shape}
        for name, statement in made.others:
            yield statement, known
            known = {**known, name: statement.shape}
        yield made.statement, known


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_every_row_and_adjoint_has_a_plan(name: str) -> None:
    row = ARRAYS[name]
    if isinstance(row, Implicit):
        assert name in BY_NUMPY
        return
    assert name not in BY_NUMPY
    if isinstance(row, Composed):
        return  # of rows that are tried themselves
    for statement, shapes in statements(row):
        made = plan(statement, {it: shapes[it] for it in statement.reads})
        assert native.array_plan(made.words, made.numbers) is not None


@pytest.mark.parametrize("name", ["matmul", "sum", "cumsum", "conv2d", "mul", "transpose"])
def test_a_result_is_added_as_a_whole(name: str) -> None:
    row = ARRAYS[name]
    draw = np.random.default_rng(1)
    for statement, shapes in statements(row):
        made = plan(statement, {it: shapes[it] for it in statement.reads})
        arrays = {it: draw.standard_normal(shapes[it]) for it in statement.reads}
        onto = draw.standard_normal(statement.shape)
        assert np.array_equal(run_plan(made, arrays, onto), onto + run_plan(made, arrays))


def with_two_adjoints(forward: Any, shapes: dict[str, Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A statement, its adjoints and theirs, with the shapes they read."""
    yield forward, shapes
    for operand in forward.reads:
        once = adjoint(forward, operand, shapes[operand])
        known = {**shapes, once.upstream: forward.shape}
        yield once.statement, known
        for other in once.statement.reads:
            twice = adjoint(once.statement, other, known[other])
            yield twice.statement, {**known, twice.upstream: once.statement.shape}


CONVOLUTIONS = [
    ({"x": (2, 3, 20), "w": (8, 3, 5)}, {"padding": 2}),
    ({"x": (2, 3, 21), "w": (8, 3, 5)}, {"stride": 2, "dilation": 2}),
    ({"x": (3, 4, 9, 8), "w": (6, 2, 3, 3)}, {"padding": 1, "groups": 2}),
    ({"x": (2, 2, 9, 11), "w": (5, 2, 3, 2)}, {"padding": (1, 2), "stride": (2, 3)}),
    ({"x": (1, 1, 8, 8), "w": (8, 1, 3, 3)}, {"padding": 1}),
    ({"x": (1, 2, 8), "w": (9, 2, 1)}, {"padding": 1}),  # windows of one, outside at the rim
    ({"x": (7, 2, 5, 8), "w": (9, 2, 1, 1)}, {"padding": (1, 2), "stride": 2}),
    ({"x": (7, 4, 5, 8), "w": (6, 2, 1, 1)}, {"groups": 2}),
    ({"x": (2, 2, 5, 8), "w": (9, 2, 1, 3)}, {"padding": (1, 0)}),
]


@pytest.mark.parametrize(("shapes", "arguments"), CONVOLUTIONS)
@pytest.mark.parametrize("awkward", [False, True])
def test_convolutions_large_enough_to_be_matrix_products(
    shapes: Any, arguments: Any, awkward: bool
) -> None:
    """Also where padding meets what is not finite: it is not there to be multiplied by 0."""
    row = ARRAYS["conv1d" if len(shapes["x"]) == 3 else "conv2d"]
    forward = row.state(shapes, **arguments)
    draw = np.random.default_rng(7)
    for statement, known in with_two_adjoints(forward, shapes):
        arrays = {it: draw.standard_normal(known[it]) for it in statement.reads}
        if awkward:
            for array in arrays.values():
                array.flat[array.size // 2] = np.inf
        wanted = back(evaluate(statement, {it: plain(a) for it, a in arrays.items()}))
        got = engine._evaluator.run(statement, arrays)
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


def test_large_contractions_of_any_layout() -> None:
    draw = np.random.default_rng(3)
    for subscripts, *shapes in (
        ("ij,jk->ik", (30, 40), (40, 50)), ("ij,kj->ki", (30, 40), (20, 40)),
        ("bij,bjk->bik", (3, 17, 9), (3, 9, 21)), ("bij,bjk->kib", (3, 17, 9), (3, 9, 21)),
        ("thd,shd->hts", (9, 3, 16), (11, 3, 16)), ("ijk,kjl->il", (7, 8, 9), (9, 8, 10)),
        ("ij,ij->j", (300, 40), (300, 40)), ("ij,ij->", (30, 40), (30, 40)),
        ("ij,kl->ik", (9, 8), (7, 6)), ("ab,cd,ac->bd", (5, 6), (5, 4), (5, 5)),
    ):  # fmt: skip
        arrays = [draw.standard_normal(shape) for shape in shapes]
        named = {f"x{n + 1}": array for n, array in enumerate(arrays)}
        statement = ARRAYS["einsum"].state(
            {n: a.shape for n, a in named.items()}, subscripts=subscripts
        )
        got = engine._evaluator.run(statement, named)
        np.testing.assert_allclose(got, np.einsum(subscripts, *arrays), rtol=1e-11, atol=1e-11)


def test_what_is_outside_is_refused() -> None:
    statement = ARRAYS["take"].state({"x": (5, 3), "n": (2,)}, axis=0)
    made = plan(statement, {"x": (5, 3)})
    for wrong in (5, -1, 2**40, -(2**62)):
        with pytest.raises(IndexError, match="out of bounds"):
            run_plan(made, {"x": np.ones((5, 3)), "n": np.array([0, wrong])})
    back_to = adjoint(statement, "x", (5, 3)).statement
    made = plan(back_to, {"g": (2, 3)})
    for wrong in (5, -1, 2**40):
        with pytest.raises(IndexError, match="out of bounds"):
            run_plan(made, {"g": np.ones((2, 3)), "n": np.array([0, wrong])})


def test_no_other_bytes_are_a_plan() -> None:
    statement = ARRAYS["matmul"].state({"x": (3, 4), "y": (4, 5)})
    made = plan(statement, {"x": (3, 4), "y": (4, 5)})
    for cut in range(0, len(made.words) - 8, 8):
        with pytest.raises(ValueError, match="no plan"):
            native.array_plan(made.words[:cut], made.numbers)
