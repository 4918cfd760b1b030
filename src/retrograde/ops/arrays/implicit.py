"""Rows known by the equation they solve: how the adjoint system is solved.

The equations stand in the table. Here is what each needs besides: ``u`` with
``(d equation/dz)ᵀ u = z'``, made of rows, so that it is differentiated like anything else. Tests
hold each to its equation by the adjoint rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .row import Do, T


def undo_solve(do: Do[T], upstream: T, result: T, operands: Mapping[str, T]) -> T:
    """``a s - b = 0``: the adjoint system is the transposed one."""
    return do("solve", _turned(do, operands["a"]), upstream)


def undo_cholesky(do: Do[T], upstream: T, result: T, operands: Mapping[str, T]) -> T:
    """``s sᵀ - x = 0`` below the diagonal and on it, for s with nothing above.

    ``tril((u + uᵀ) s) = s'`` says of the symmetric ``p = sᵀ (u + uᵀ) s`` that its lower half is
    that of ``sᵀ s'``, because sᵀ reaches upwards only.
    """
    half = do("tril", do("matmul", _turned(do, result), upstream), k=0)
    whole = do("add", half, _turned(do, do("tril", half, k=-1)))
    left = do("solve", _turned(do, result), whole)  # s⁻ᵀ p
    both = _turned(do, do("solve", _turned(do, result), _turned(do, left)))
    below = do("tril", both, k=-1)
    return do("add", below, do("mul", do("sub", do("tril", both, k=0), below), 0.5))


def undo_lu(do: Do[T], upstream: T, result: T, operands: Mapping[str, T]) -> T:
    """``l r - x[p] = 0``, with l (ones on its diagonal) and r kept in one matrix.

    For ``q = lᵀ u rᵀ`` the equations say: below the diagonal it is that of ``lᵀ l'``, on it and
    above that of ``r' rᵀ``.
    """
    right = do("triu", result, k=0)
    below = do("tril", result, k=-1)
    left = do("add", below, do("diag_embed", do.fill(do.shape(result)[:-1], 1.0), k=0))
    lower = do("tril", do("matmul", _turned(do, left), do("tril", upstream, k=-1)), k=-1)
    upper = do("triu", do("matmul", do("triu", upstream, k=0), _turned(do, right)), k=0)
    middle = do("solve", _turned(do, left), do("add", lower, upper))  # u rᵀ
    return _turned(do, do("solve", right, _turned(do, middle)))


def _turned(do: Do[T], x: T) -> T:
    rank = len(do.shape(x))
    axes: tuple[Any, ...] = (*range(rank - 2), rank - 1, rank - 2)
    return do("transpose", x, axes=axes)
