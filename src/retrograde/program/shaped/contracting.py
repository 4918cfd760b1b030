"""Sums of products of two operands as matrix products, whatever their strides.

The letters say what product it is: those of one factor and the result are its rows or columns,
those of both factors that are summed are in between, those of all three are loops around.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ops.arrays.flat import strides
from .steps import Matrix, Product, Shape

Found = tuple[int, int, Mapping[str, int]]
"""A root, where it begins, and a step a letter."""

Run = tuple[int, tuple[int, ...]]
"""Letters as one loop: its length, and a step an array."""

FEW, FEW_OF_A_VECTOR = 16, 256
"""Multiplications below which a product in a loop is not worth being called: of two matrices, and
of a matrix and a vector."""


def contracted(
    lengths: Mapping[str, int], outer: Sequence[str], inner: Sequence[str], a: Found, b: Found,
    shape: Shape,
) -> Product | None:  # fmt: skip
    """The matrix product of two operands; None where they make none.

    ``outer`` are the letters of the result, in order; those of length 1 are left out everywhere.
    """
    own = dict(zip(outer, strides(tuple(lengths[name] for name in outer))))
    left, right = a[2], b[2]

    def letters(*where: bool) -> list[str]:
        return [
            name for name in (*outer, *inner)
            if (bool(left.get(name)), bool(right.get(name)), name in own) == where
        ]  # fmt: skip

    rows, columns = letters(True, False, True), letters(False, True, True)
    over, batch = letters(True, True, False), letters(True, True, True)
    if len(rows) + len(columns) + len(over) + len(batch) != len(outer) + len(inner):
        return None
    if not columns or own[columns[-1]] != 1:  # the columns of the result lie side by side
        if not rows or own[rows[-1]] != 1:
            return None
        a, b, left, right, rows, columns = b, a, right, left, columns, rows
    across = _runs(columns, lengths, (right, own))
    down = _runs(rows, lengths, (left, own))
    along = _runs(over, lengths, (left, right))
    if len(along) != 1:
        return None
    n, (b_column, _) = across[-1]
    down.sort(key=lambda run: run[0])
    m, (a_row, c_row) = down[-1] if down else (1, (0, n))
    k, (a_column, b_row) = along[0]
    loops, turns = [], []
    for length, (step, to) in down[:-1]:
        loops.append(length)
        turns.append((step, 0, to))
    for length, (step, to) in across[:-1]:
        loops.append(length)
        turns.append((0, step, to))
    for name in batch:
        loops.append(lengths[name])
        turns.append((left[name], right[name], own[name]))
    if loops and m * n * k < (FEW if m > 1 and n > 1 else FEW_OF_A_VECTOR):
        return None
    return Product(
        -1,
        (m, n, k),
        Matrix(a[0], a[1], a_row, a_column, tuple(turn[0] for turn in turns)),
        Matrix(b[0], b[1], b_row, b_column, tuple(turn[1] for turn in turns)),
        Matrix(-1, 0, c_row, 1, tuple(turn[2] for turn in turns)),
        tuple(loops),
    )


def _runs(
    names: Sequence[str], lengths: Mapping[str, int], places: Sequence[Mapping[str, int]]
) -> list[Run]:
    """Letters joined where all places go on evenly, in their order."""
    found: list[Run] = []
    for name in names:
        length, steps = lengths[name], tuple(place[name] for place in places)
        if found and found[-1][1] == tuple(step * length for step in steps):
            found[-1] = (found[-1][0] * length, steps)
        else:
            found.append((length, steps))
    return found
