"""Small samples of arrays, for heat maps: rows of numbers, and the places they were taken from."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod
from typing import Any

from .._shared.numerics import np

MOST_PICTURED = 24
"""How many rows and columns of an array a picture has at most."""


def _steps(shape: Sequence[int]) -> tuple[int, int, int, int]:
    """Rows and columns of an array laid flat behind its first axis, and which of them are taken:
    every n-th."""
    down = shape[0] if len(shape) > 1 else 1
    across = prod(shape) // down
    return down, across, max(1, -(-down // MOST_PICTURED)), max(1, -(-across // MOST_PICTURED))


def shortened(rows: Any) -> list[list[float | str]]:
    """Rows of numbers with the digits that a colour can show; NaN and the infinities as texts.

    >>> shortened(np.array([[1.23456, np.inf, 0.0]]))
    [[1.23, 'inf', 0.0]]
    """
    numbers = np.asarray(rows, np.float64)
    with np.errstate(all="ignore"):
        scale = 10.0 ** (2.0 - np.floor(np.log10(np.abs(numbers))))
        found = np.where(numbers == 0.0, 0.0, np.round(numbers * scale) / scale)
    usual = np.isfinite(found)
    listed: list[list[float | str]] = found.tolist()
    if not usual.all():
        for i, j in np.argwhere(~usual).tolist():
            number = float(numbers[i, j])
            listed[i][j] = number if isfinite(number) else repr(number)
    return listed


def picture(numbers: Any) -> list[list[float | str]] | None:
    """An array as rows of numbers; None of a single number and of none.

    >>> picture(np.eye(2))
    [[1.0, 0.0], [0.0, 1.0]]
    """
    array = np.asarray(numbers)
    if array.size < 2:
        return None
    down, across, by, over = _steps(array.shape)
    return shortened(array.reshape(down, across)[::by, ::over])


def places_drawn(shape: Sequence[int]) -> list[tuple[int, ...]]:
    """Where the numbers of a picture stand in the array, row by row.

    >>> places_drawn((2, 2)), places_drawn((2,))
    ([(0, 0), (0, 1), (1, 0), (1, 1)], [(0,), (1,)])
    """
    down, across, by, over = _steps(shape)
    flat = (np.arange(0, down, by)[:, None] * across + np.arange(0, across, over)).ravel()
    return [tuple(map(int, at)) for at in zip(*np.unravel_index(flat, tuple(shape)))]
