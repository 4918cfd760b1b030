"""Functions of tensors: ``rg.einsum``, ``rg.stack``, ``rg.conv2d`` and so on.

They take tensors, values, numbers and arrays, mixed as one likes; given plain numbers and arrays
alone they return arrays, or a float where the result has no axes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from .._shared.numerics import np
from ..errors import FitError
from ..tensor import Tensor, in_graph
from ..value import belongs_to_caller
from .doing import axes_of, do, known, operand
from .methods import Axis, axis_of, one_axis, shape_of

# ---- products ----------------------------------------------------------------------------------


def matmul(x: Any, y: Any) -> Any:
    """``x @ y`` by NumPy's rules.

    >>> import retrograde as rg
    >>> rg.matmul(rg.Tensor([[1.0, 2.0]]), [3.0, 4.0]).data
    array([11.])
    """
    return do("matmul", x, y)


def einsum(subscripts: str, *operands: Any) -> Any:
    """Einstein's summation as in NumPy: ``ij,jk->ik``.

    >>> import retrograde as rg
    >>> a, b = rg.Tensor([1.0, 2.0]), rg.Tensor([3.0, 5.0])
    >>> rg.einsum("i,i->", a, b).data
    13.0
    """
    return do("einsum", *operands, subscripts=subscripts)


def outer(x: Any, y: Any) -> Any:
    """Every number of x times every number of y.

    >>> import retrograde as rg
    >>> rg.outer(rg.Tensor([1.0, 2.0]), [3.0, 4.0]).data
    array([[3., 4.],
           [6., 8.]])
    """
    return do("outer", flat(operand(x, "outer")), flat(operand(y, "outer")))


def tensordot(x: Any, y: Any, axes: Any = 2) -> Any:
    """Some axes of x met with some of y, as in NumPy.

    >>> import retrograde as rg
    >>> rg.tensordot(rg.Tensor([[1.0, 2.0]]), rg.Tensor([[3.0, 4.0]]), axes=2).data
    11.0
    """
    if not isinstance(axes, (int, np.integer)):
        left, right = axes
        axes = tuple(
            [int(one) for one in np.atleast_1d(side)]
            for side in (left, right)
        )  # fmt: skip
    return do("tensordot", x, y, axes=axes)


# ---- places ------------------------------------------------------------------------------------


def stack(parts: Iterable[Any], axis: int = 0) -> Any:
    """Values or tensors side by side along a new axis: of values a tensor of one axis.

    >>> import retrograde as rg
    >>> rg.stack([rg.Value(1.0), rg.Value(2.0), 3.0]).data
    array([1., 2., 3.])
    """
    return do.stacked(_some("stack", parts), one_axis(axis))


def concatenate(parts: Iterable[Any], axis: int | None = 0) -> Any:
    """Tensors one behind the other along an axis.

    >>> import retrograde as rg
    >>> rg.concatenate([rg.Tensor([1.0]), [2.0, 3.0]]).data
    array([1., 2., 3.])
    """
    given = [operand(part, "concatenate") for part in _some("concatenate", parts)]
    for number, part in enumerate(given):
        if axes_of(part) == 0 and axis is not None:
            raise FitError.of(
                f"concatenate: item {number} has no axes; write rg.stack, or part[None]", given
            )
    if axis is None:
        return do.joined([flat(part) for part in given])
    return do.joined(given, one_axis(axis))


def split(x: Any, sections: int | Sequence[int], axis: int = 0) -> list[Any]:
    """Pieces along an axis: so many alike, or cut before these places.

    >>> import retrograde as rg
    >>> [part.data.tolist() for part in rg.split(rg.Tensor([1.0, 2.0, 3.0, 4.0]), 2)]
    [[1.0, 2.0], [3.0, 4.0]]
    """
    cuts = int(sections) if isinstance(sections, (int, np.integer)) else [int(n) for n in sections]
    found: list[Any] = do("split", _with_axes(x, "split"), sections=cuts, axis=one_axis(axis))
    return found


def flip(x: Any, axis: Axis = None) -> Any:
    """The numbers from the other end, along all axes unless told.

    >>> import retrograde as rg
    >>> rg.flip(rg.Tensor([1.0, 2.0, 3.0])).data
    array([3., 2., 1.])
    """
    return do("flip", x, axis=axis_of(axis))


def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """What leaves at one end comes back at the other; as one long axis unless told.

    >>> import retrograde as rg
    >>> rg.roll(rg.Tensor([1.0, 2.0, 3.0]), 1).data
    array([3., 1., 2.])
    """
    if axis is None:
        return do("roll_all", x, shift=int(shift))
    return do("roll", x, shift=axis_of(shift), axis=axis_of(axis))


def pad(x: Any, widths: Any, value: float = 0.0) -> Any:
    """More room on both ends of each axis, filled with a number; widths as in NumPy.

    >>> import retrograde as rg
    >>> rg.pad(rg.Tensor([1.0, 2.0]), 1).data
    array([0., 1., 2., 0.])
    """
    given = _with_axes(x, "pad")
    try:
        spread = np.broadcast_to(np.asarray(widths), (axes_of(given), 2)).tolist()
    except ValueError:
        raise FitError.of(f"pad: widths {widths} for {axes_of(given)} axes", [given]) from None
    return do("pad", given, widths=tuple(map(tuple, spread)), value=float(value))


def tril(x: Any, k: int = 0) -> Any:
    """The lower triangle of the last two axes, 0 elsewhere.

    >>> import retrograde as rg
    >>> rg.tril(rg.Tensor([[1.0, 2.0], [3.0, 4.0]])).data
    array([[1., 0.],
           [3., 4.]])
    """
    return do("tril", x, k=int(k))


def triu(x: Any, k: int = 0) -> Any:
    """The upper triangle of the last two axes, 0 elsewhere.

    >>> import retrograde as rg
    >>> rg.triu(rg.Tensor([[1.0, 2.0], [3.0, 4.0]])).data
    array([[1., 2.],
           [0., 4.]])
    """
    return do("triu", x, k=int(k))


def diag(x: Any, k: int = 0) -> Any:
    """A vector onto the diagonal of a matrix, or the diagonal of a matrix.

    >>> import retrograde as rg
    >>> rg.diag(rg.Tensor([1.0, 2.0])).data
    array([[1., 0.],
           [0., 2.]])
    """
    return do("diag", x, k=int(k))


def sort(x: Any, axis: int | None = -1) -> Any:
    """The numbers in order along an axis; of all of them without one.

    >>> import retrograde as rg
    >>> rg.sort(rg.Tensor([3.0, 1.0, 2.0])).data
    array([1., 2., 3.])
    """
    given = _with_axes(x, "sort")
    if axis is None:
        return do("sort", flat(given), axis=0)
    return do("sort", given, axis=one_axis(axis))


def cumsum(x: Any, axis: int | None = None) -> Any:
    """Running totals along an axis; of all numbers in order without one.

    >>> import retrograde as rg
    >>> rg.cumsum(rg.Tensor([1.0, 2.0, 3.0])).data
    array([1., 3., 6.])
    """
    given = operand(x, "cumsum")
    if axis is None:
        return do("cumsum", flat(given), axis=0)
    return do("cumsum", given, axis=one_axis(axis))


# ---- picked by whole numbers ---------------------------------------------------------------------


def gather(x: Any, indices: Any, axis: int = -1) -> Any:
    """For each place a number picked along an axis, as ``np.take_along_axis``.

    >>> import retrograde as rg
    >>> rg.gather(rg.Tensor([[1.0, 2.0], [3.0, 4.0]]), [[1], [0]]).data
    array([[2.],
           [3.]])
    """
    return do("gather", x, n=indices, axis=one_axis(axis))


def scatter(x: Any, key: Any, numbers: Any) -> Any:
    """x with numbers added at ``x[key]``; a place named twice receives twice.

    >>> import retrograde as rg
    >>> rg.scatter(rg.Tensor([0.0, 0.0, 0.0]), [0, 2, 2], [1.0, 2.0, 3.0]).data
    array([1., 0., 5.])
    """
    given = operand(x, "scatter")
    if in_graph(given):
        return do.add_at(given, key, numbers)
    if in_graph(operand(numbers, "scatter")):
        return do.add_at(Tensor(given, requires_grad=False), key, numbers)
    result = np.array(given)
    np.add.at(result, key, np.asarray(numbers, dtype=float))
    return result


def embedding(table: Any, indices: Any) -> Any:
    """Rows of a table by their numbers.

    >>> import retrograde as rg
    >>> rg.embedding(rg.Tensor([[1.0, 2.0], [3.0, 4.0]]), [1, 1, 0]).data
    array([[3., 4.],
           [3., 4.],
           [1., 2.]])
    """
    return do("embedding", table, n=indices)


# ---- windows -------------------------------------------------------------------------------------


def conv1d(
    x: Any, w: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """``z[b, o, t] += x[b, c, t + s] * w[o, c, s]``, as PyTorch's.

    >>> import retrograde as rg
    >>> rg.conv1d(rg.Tensor([[[1.0, 2.0, 3.0]]]), [[[1.0, 1.0]]]).data
    array([[[3., 5.]]])
    """
    return _convolved("conv1d", 1, x, w, stride, padding, dilation, groups)


def conv2d(
    x: Any, w: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """The same over two axes: x is (batch, channels, height, width), w (out, channels, …).

    >>> import numpy as np
    >>> import retrograde as rg
    >>> rg.conv2d(rg.Tensor(np.ones((1, 1, 3, 3))), np.ones((1, 1, 2, 2))).data
    array([[[[4., 4.],
             [4., 4.]]]])
    """
    return _convolved("conv2d", 2, x, w, stride, padding, dilation, groups)


def _convolved(name: str, axes: int, x: Any, w: Any, *settings: Any) -> Any:
    given = [operand(x, name), operand(w, name)]
    if any(axes_of(it) != axes + 2 for it in given):
        raise FitError.of(
            f"{name}: x is (batch, channels, …) and w (out, channels, …) of {axes + 2} axes, not "
            f"{np.shape(given[0])} and {np.shape(given[1])}",
            given,
        )
    stride, padding, dilation, groups = map(axis_of, settings)
    return do(name, *given, stride=stride, padding=padding, dilation=dilation, groups=groups)


def max_pool(x: Any, window: Any, stride: Any = None, padding: Any = 0) -> Any:
    """The largest number of each window over the last axes; outside counts as -inf.

    >>> import retrograde as rg
    >>> rg.max_pool(rg.Tensor([1.0, 3.0, 2.0, 0.0]), 2).data
    array([3., 2.])
    """
    return _pooled("max_pool", x, window, stride, padding)


def avg_pool(x: Any, window: Any, stride: Any = None, padding: Any = 0) -> Any:
    """The mean of each window over the last axes; outside counts as 0, and counts.

    >>> import retrograde as rg
    >>> rg.avg_pool(rg.Tensor([1.0, 3.0, 2.0, 0.0]), 2).data
    array([2., 1.])
    """
    return _pooled("mean_pool", x, window, stride, padding)


def _pooled(name: str, x: Any, window: Any, stride: Any, padding: Any) -> Any:
    over = shape_of((window,))
    return do(name, x, window=over, stride=axis_of(stride), padding=axis_of(padding))


# ---- losses --------------------------------------------------------------------------------------


def log_softmax(x: Any, axis: Axis = -1) -> Any:
    """The logarithm of the shares of softmax, without computing them.

    >>> import retrograde as rg
    >>> rg.log_softmax(rg.Tensor([0.0, 1000.0])).data
    array([-1000.,     0.])
    """
    return do("log_softmax", x, axis=axis_of(axis))


def cross_entropy(logits: Any, targets: Any) -> Any:
    """The mean over rows of minus the logarithm of the right class's share of softmax.

    >>> import retrograde as rg
    >>> round(rg.cross_entropy(rg.Tensor([[0.0, 0.0], [0.0, 0.0]]), [0, 1]).data, 6)
    0.693147
    """
    if isinstance(logits, Tensor) and getattr(targets, "shape", None) == logits.shape[:-1]:
        found = known("cross_entropy", (logits,), {"n": targets})
        if found is not NotImplemented:
            return found
    given = operand(logits, "cross_entropy")
    have = targets.shape if hasattr(targets, "shape") else np.shape(targets)
    rows = getattr(given, "shape", ())[:-1]
    if have != rows:
        raise FitError.of(
            f"cross_entropy: targets of shape {have} for rows of shape {rows}: give one whole "
            "number a row, as logits.shape[:-1]", [given],
        )  # fmt: skip
    return do("cross_entropy", given, n=targets)


# ---- shared --------------------------------------------------------------------------------------


def flat(x: Any) -> Any:
    """The same numbers along one axis; a value or a number as one of them."""
    size = int(np.prod(np.shape(x), dtype=np.int64))
    return do("reshape", x, shape=(size,))


def _with_axes(x: Any, name: str) -> Any:
    given = operand(x, name)
    if axes_of(given) == 0:
        raise FitError.of(f"{name}: a number has no axes; give a tensor or an array", [given])
    return given


def _some(name: str, parts: Iterable[Any]) -> list[Any]:
    listed = list(parts)
    if not listed:
        raise FitError.of(f"{name} of nothing: give at least one part", [])
    return listed


belongs_to_caller(sys.modules[__name__])
