"""Functions of matrices: ``rg.solve``, ``rg.cholesky``, ``rg.inverse``, ``rg.det``.

They take what ``functions.py`` takes.
"""

from __future__ import annotations

import sys
from typing import Any

from .._shared.numerics import np
from .._values.modes import needs_tensors, no_grad
from ..errors import FitError
from ..tensor import Tensor, in_graph
from ..value import belongs_to_caller
from .doing import axes_of, do, operand


def solve(a: Any, b: Any) -> Any:
    """The x with ``a @ x = b``; b is a vector or a matrix.

    >>> import retrograde as rg
    >>> rg.solve(rg.Tensor([[2.0, 0.0], [0.0, 4.0]]), [2.0, 4.0]).data
    array([1., 1.])
    """
    left, right = operand(a, "solve"), operand(b, "solve")
    if axes_of(right) == 1:
        return do("reshape", do("solve", left, _column(right)), shape=(*np.shape(left)[:-2], -1))
    return do("solve", left, right)


def _column(x: Any) -> Any:
    return do("reshape", x, shape=(-1, 1))


def cholesky(x: Any) -> Any:
    """The lower triangular matrix s with ``s @ s.T = x``; reads the lower half of x.

    >>> import retrograde as rg
    >>> rg.cholesky(rg.Tensor([[4.0, 2.0], [2.0, 5.0]])).data
    array([[2., 0.],
           [1., 2.]])
    """
    return do("cholesky", x)


def inverse(x: Any) -> Any:
    """The matrix that undoes x.

    >>> import retrograde as rg
    >>> rg.inverse(rg.Tensor([[2.0, 0.0], [0.0, 4.0]])).data
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    given = operand(x, "inverse")
    _square("inverse", given)
    return do("inverse", given)


def slogdet(x: Any) -> tuple[Any, Any]:
    """The sign of the determinant, a plain number without gradient, and the logarithm of its size.

    >>> import retrograde as rg
    >>> sign, logarithm = rg.slogdet(rg.Tensor([[2.0, 0.0], [0.0, -3.0]]))
    >>> float(sign), round(logarithm.data, 6)
    (-1.0, 1.791759)
    """
    given = operand(x, "slogdet")
    _square("slogdet", given)
    if in_graph(given) and needs_tensors():
        return _sign(given), do("logabsdet", given)
    sign = np.linalg.slogdet(given.data if in_graph(given) else given)[0]
    return sign, do("logabsdet", given)


def _sign(x: Any) -> Any:
    """The sign of the determinant, as rows: of the diagonal of the LU factors, and of the order in
    which they take the rows of x."""
    with no_grad():
        factors = do("lu", x)
        rows = Tensor(np.arange(float(x.shape[-1])), requires_grad=False)
        order = do.index(rows, (do.found(factors),))
        later = order[..., None, :] - order[..., :, None]
        before = np.tri(x.shape[-1], dtype=bool)
        turned = do("where", before, 1.0, do("sign", later))
        signs = do("prod", turned, axis=(-2, -1))
        return signs * do("prod", do("sign", do("diagonal", factors, k=0)), axis=-1)


def det(x: Any) -> Any:
    """The determinant of a regular matrix.

    >>> import retrograde as rg
    >>> round(rg.det(rg.Tensor([[1.0, 2.0], [3.0, 4.0]])).data, 12)
    -2.0
    """
    sign, logarithm = slogdet(x)
    return do("mul", sign, do("exp", logarithm))


def _square(name: str, x: Any) -> None:
    shape = np.shape(x)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise FitError.of(f"{name}: shape {shape} is no square matrix", [x])


belongs_to_caller(sys.modules[__name__])
