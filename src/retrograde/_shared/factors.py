"""The factorizations of the array law by NumPy: what solves each implicit row's equation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .numerics import np

if TYPE_CHECKING:
    from .loops import Arrays, Numbers, Places

PANEL = 32
"""Rows of a triangular system that are solved at once."""


def factor(name: str, arrays: Arrays) -> tuple[Numbers, Mapping[str, Any]]:
    """The solution of an implicit row's equation, and the whole numbers it chose.

    >>> factor("solve", {"a": np.array([[2.0]]), "b": np.array([[6.0]])})[0]
    array([[3.]])
    """
    if name == "solve":
        return solve(arrays["a"], arrays["b"]), {}
    if name == "cholesky":
        return np.linalg.cholesky(arrays["x"]), {}
    result, order = lu(arrays["x"])
    return result, {"p": order}


def solve(a: Numbers, b: Numbers) -> Numbers:
    """``a⁻¹ b``; a large triangular matrix, as a factor is one, needs no factors of its own.

    >>> solve(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([[4.0], [3.0]])).tolist()
    [[2.0], [1.0]]
    """
    if a.ndim == b.ndim == 2 and len(a) >= 2 * PANEL:
        if not np.triu(a, 1).any():
            return _substituted(a, b, range(0, len(a), PANEL))
        if not np.tril(a, -1).any():
            return _substituted(a, b, range(0, len(a), PANEL)[::-1])
    return np.asarray(np.linalg.solve(a, b), dtype=float)


def _substituted(a: Numbers, b: Numbers, order: range) -> Numbers:
    """Panel after panel, each with what is known taken off its right side."""
    x = np.array(b, dtype=float)
    upwards = order.step < 0
    for first in order:
        own = slice(first, first + PANEL)
        known = slice(first + PANEL, None) if upwards else slice(0, first)
        x[own] = np.linalg.solve(a[own, own], x[own] - a[own, known] @ x[known])
    return x


def lu(x: Numbers) -> tuple[Numbers, Places]:
    """Both factors in one matrix, and the order of the rows; over the last two axes.

    >>> lu(np.array([[0.0, 1.0], [2.0, 4.0]]))
    (array([[2., 4.],
           [0., 1.]]), array([1, 0]))
    """
    rows, columns = x.shape[-2:]
    if rows != columns:
        raise ValueError(f"lu: {rows} rows and {columns} columns; it takes square matrices")
    result = x.astype(float, copy=True)
    order = np.broadcast_to(np.arange(rows), x.shape[:-1]).copy()
    for batch in np.ndindex(x.shape[:-2]):
        _eliminate(result[batch], order[batch])
    return result, order


def _eliminate(x: Numbers, order: Places) -> None:
    for step in range(len(x)):
        best = step + int(np.argmax(np.abs(x[step:, step])))
        if x[best, step] == 0.0:
            raise np.linalg.LinAlgError("lu: the matrix is singular")
        for part in (x, order):
            part[[step, best]] = part[[best, step]]
        x[step + 1 :, step] /= x[step, step]
        x[step + 1 :, step + 1 :] -= np.outer(x[step + 1 :, step], x[step, step + 1 :])
