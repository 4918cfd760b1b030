"""Rows of data by the index law: one more letter in front does what a loop over rows does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograde._shared.loops import choose, run
from retrograde.ops import OPS
from retrograde.ops.array import ARRAYS
from retrograde.ops.arrays.adjoint import adjoint
from retrograde.ops.arrays.notation import text
from retrograde.ops.arrays.row import Row
from retrograde.ops.arrays.rowwise import over_rows

from .array_cases import agree

COUNT = 3
STATED = [
    row for row in ARRAYS.values()
    if isinstance(row, Row) and (row.name not in OPS or row.name in ("mul", "tanh", "where"))
]  # fmt: skip


def made(statement: Any, arrays: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    places: dict[str, Any] = {}
    for chosen in statement.chosen:
        places.update(zip(chosen.names, choose(chosen, arrays[chosen.array])))
    return run(statement, {**arrays, **places}), places


@pytest.mark.parametrize("row", STATED, ids=[row.name for row in STATED])
@pytest.mark.parametrize("all_vary", [False, True])
def test_one_more_letter_in_front(row: Row, all_vary: bool) -> None:
    rng = np.random.default_rng(3)
    statement = row.state(row.example.shapes, **row.example.arguments)
    varying = list(statement.reads) if all_vary else list(statement.reads[:1])
    shapes = row.example.shapes
    each = [
        {name: rng.standard_normal(shapes[name]) for name in statement.reads} for _ in range(COUNT)
    ]
    shared = {name: rng.standard_normal(shapes[name]) for name in statement.reads}
    for one in each:
        one.update({name: it for name, it in shared.items() if name not in varying})
    chosen = {name for it in statement.chosen for name in it.names}
    wholes: dict[str, Any] = {}
    for name in set(statement.wholes) - chosen:
        shape = shapes.get(name) or dict([*row.example.arguments.get("key", ())][:1]).get(name, ())
        wholes[name] = rng.integers(0, 3, shape or _whole_shape(row, name))
    lifted = over_rows(statement, varying, COUNT)
    together = {
        name: np.stack([one[name] for one in each]) if name in varying else shared[name]
        for name in statement.reads
    }
    value, places = made(lifted, {**together, **wholes})
    ups = rng.standard_normal((COUNT, *statement.shape))
    for number, one in enumerate(each):
        alone, spots = made(statement, {**one, **wholes})
        agree("value", value[number], alone)
    for operand in statement.reads:
        shape = shapes[operand]
        ours = adjoint(lifted, operand, (COUNT, *shape) if operand in varying else shape)
        gradient = _gradient(ours, {**together, **wholes, **places}, value, ups)
        parts = []
        for number, one in enumerate(each):
            alone, spots = made(statement, {**one, **wholes})
            back = adjoint(statement, operand, shape)
            parts.append(_gradient(back, {**one, **wholes, **spots}, alone, ups[number]))
        wanted = np.stack(parts) if operand in varying else np.sum(parts, axis=0)
        agree(f"gradient of {operand}", gradient, wanted)


def _gradient(back: Any, arrays: dict[str, Any], result: Any, up: Any) -> Any:
    there = {**arrays, back.own: result, back.upstream: up}
    for name, first in back.others:
        there[name] = run(first, there)
    return run(back.statement, there)


def _whole_shape(row: Row, name: str) -> tuple[int, ...]:
    if row.name == "put":
        return row.example.shapes["x"]
    if row.name == "put_at":
        return ()
    return next(entry[1] for entry in row.example.arguments["key"] if isinstance(entry, tuple))


def test_rows_of_rows() -> None:
    matmul = ARRAYS["matmul"].state({"x": (3, 4), "y": (4, 5)})
    twice = over_rows(over_rows(matmul, ["x"], 2), ["y"], 6)
    assert text(twice) == "z[row2, row, i, j] += x[row, i, k] * y[row2, k, j]"
