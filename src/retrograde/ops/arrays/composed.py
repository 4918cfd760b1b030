"""Compositions: rows that are made of other rows, in forms that keep their digits.

Each is a function of ``do``, which carries out rows, of operands and of arguments. Gradients of
any order go through the steps; nothing is stated a second time. What is subtracted or divided out
against overflow passes no gradient (``do.stop``): the result does not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf, prod
from typing import Any

from ..index import Shape
from .binding import normal_axes
from .row import Do, T

Axis = int | Sequence[int] | None

EIGHT = 8
"""How many factors are multiplied in one node."""


def mean(do: Do[T], x: T, axis: Axis = None, keepdims: bool = False) -> T:
    """The sum over how many there are."""
    return do("div", do("sum", x, axis=axis, keepdims=keepdims), float(_count(do, x, axis)))


def var(do: Do[T], x: T, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> T:
    """The mean square distance from the mean; two passes, so that nothing cancels."""
    apart = do("sub", x, mean(do, x, axis, True))
    total = do("sum", do("square", apart), axis=axis, keepdims=keepdims)
    return do("div", total, float(max(0, _count(do, x, axis) - ddof)))


def std(do: Do[T], x: T, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> T:
    """The root of the variance; where that is 0 its gradient is 0, as that of norm."""
    spread = var(do, x, axis, ddof, keepdims)
    nothing = do.stop(do("equal", spread, 0.0))
    return do("where", nothing, 0.0, do("sqrt", do("where", nothing, 1.0, spread)))


def norm(do: Do[T], x: T, axis: Axis = None, keepdims: bool = False) -> T:
    """The Euclidean length; scaled, so that squares neither overflow nor vanish.

    Where all are 0 its gradient is 0, as that of hypot and |x|.
    """
    if 0 in do.shape(x):
        return do("sqrt", do("sum", do("square", x), axis=axis, keepdims=keepdims))
    largest = do.stop(do("max", do("abs", x), axis=axis, keepdims=True))
    unfit = do("add", do("equal", largest, 0.0), do("equal", largest, inf))
    scale = do.stop(do("where", unfit, 1.0, largest))
    squares = do("sum", do("square", do("div", x, scale)), axis=axis, keepdims=True)
    nothing = do.stop(do("equal", squares, 0.0))
    root = do("sqrt", do("where", nothing, 1.0, squares))
    length = do("mul", do("where", nothing, 0.0, root), scale)
    return length if keepdims else _without(do, length, axis)


def logsumexp(do: Do[T], x: T, axis: Axis = None, keepdims: bool = False) -> T:
    """The logarithm of the sum of exponentials, with the largest taken out: no overflow."""
    if 0 in do.shape(x):
        return do("log", do("sum", do("exp", x), axis=axis, keepdims=keepdims))
    largest = _largest(do, x, axis)
    total = do("sum", do("exp", do("sub", x, largest)), axis=axis, keepdims=True)
    result = do("add", do("log", total), largest)
    return result if keepdims else _without(do, result, axis)


def softmax(do: Do[T], x: T, axis: Axis = -1) -> T:
    """Shares in proportion to the exponentials, with the largest taken out: no overflow."""
    if 0 in do.shape(x):
        return do("exp", x)
    powers = do("exp", do("sub", x, _largest(do, x, axis)))
    return do("div", powers, do("sum", powers, axis=axis, keepdims=True))


def log_softmax(do: Do[T], x: T, axis: Axis = -1) -> T:
    """The logarithm of the shares, without computing them: no -inf where a share is 0."""
    return do("sub", x, logsumexp(do, x, axis, True))


def cross_entropy(do: Do[T], x: T, n: Any) -> T:
    """The mean over rows of minus the logarithm of the right class's share."""
    picked = do("pick", log_softmax(do, x, -1), n=n)
    return do("neg", mean(do, picked))


def product(do: Do[T], x: T, axis: Axis = None, keepdims: bool = False) -> T:
    """The product, one axis after the other, from the last; eight numbers at a time.

    The partial of a product along a factor is the product of the others, without a division, so it
    is right where factors are 0. Of n factors at once that takes n² numbers, by eights 8 n.
    """
    axes = normal_axes(axis, len(do.shape(x)))
    for one in reversed(axes):
        while do.shape(x)[one] > EIGHT:
            x = do("prod_along", _by_eights(do, x, one), axis=one + 1)
        x = do("prod_along", x, axis=one, keepdims=keepdims)
    return x


def running_product(do: Do[T], x: T, axis: int = -1) -> T:
    """Running products along an axis: those of eight numbers at a time, times the running product
    of all eights before. As for ``product``, no gradient takes a division."""
    (one,) = normal_axes(axis, len(do.shape(x)))
    length = do.shape(x)[one]
    if length <= EIGHT:
        return do("cumprod_along", x, axis=one)
    parts = do("cumprod_along", _by_eights(do, x, one), axis=one + 1)
    before, (count, _), after = _cut(do.shape(parts), one, 2)
    totals = do("index", parts, key=(*[slice(None)] * (one + 1), slice(EIGHT - 1, EIGHT)))
    reached = running_product(do, do("reshape", totals, shape=(*before, count, *after)), one)
    earlier = do("index", reached, key=(*[slice(None)] * one, slice(0, count - 1)))
    widths = [(0, 0)] * len(do.shape(x))
    widths[one] = (1, 0)
    carried = do("pad", earlier, widths=widths, value=1.0)
    whole = do("mul", parts, do("reshape", carried, shape=(*before, count, 1, *after)))
    joined = do("reshape", whole, shape=(*before, count * EIGHT, *after))
    return do("index", joined, key=(*[slice(None)] * one, slice(0, length)))


def max_pool(
    do: Do[T], x: T, window: Sequence[int], stride: Any = None, padding: int | Sequence[int] = 0
) -> T:
    """The largest of each window over the last axes; outside counts as -inf."""
    return _pooled(do, "max", x, window, stride, padding, -inf)


def mean_pool(
    do: Do[T], x: T, window: Sequence[int], stride: Any = None, padding: int | Sequence[int] = 0
) -> T:
    """The mean of each window over the last axes; outside counts as 0, and counts."""
    return _pooled(do, "mean", x, window, stride, padding, 0.0)


def embedding(do: Do[T], x: T, n: Any) -> T:
    """Rows of a table by their numbers."""
    return do("take", x, n=n, axis=0)


def split(do: Do[T], x: T, sections: int | Sequence[int], axis: int = 0) -> list[T]:
    """Pieces along an axis: so many alike, or cut before these places."""
    shape = do.shape(x)
    (place,) = normal_axes(axis, len(shape))
    length = shape[place]
    if isinstance(sections, int):
        if sections < 1 or length % sections:
            raise ValueError(f"split: {length} do not make {sections} alike")
        cuts = list(range(0, length + 1, length // sections)) if length else [0] * (sections + 1)
    else:
        cuts = [0, *sections, length]
    keys = [(*[slice(None)] * place, slice(a, b)) for a, b in pairwise(cuts)]
    return [do("index", x, key=key) for key in keys]


def tile(do: Do[T], x: T, count: Sequence[int]) -> T:
    """The whole array repeated along each axis."""
    shape = do.shape(x)
    if any(times < 0 for times in count):
        raise ValueError(f"tile: numbers cannot be repeated {tuple(count)} times")
    rank = max(len(count), len(shape))
    times = (1,) * (rank - len(count)) + tuple(count)
    shape = (1,) * (rank - len(shape)) + shape
    apart = [part for n in shape for part in (1, n)]
    over = [part for c, n in zip(times, shape) for part in (c, n)]
    spread = do("broadcast_to", do("reshape", x, shape=apart), shape=over)
    return do("reshape", spread, shape=[c * n for c, n in zip(times, shape)])


def squeeze(do: Do[T], x: T, axis: Axis = None) -> T:
    """Without axes of length 1."""
    shape = do.shape(x)
    ones = tuple(n for n, length in enumerate(shape) if length == 1)
    axes = ones if axis is None else normal_axes(axis, len(shape))
    if not set(axes) <= set(ones):
        raise ValueError(f"squeeze: axes {axes} of shape {shape} are not all of length 1")
    return do("reshape", x, shape=[n for a, n in enumerate(shape) if a not in axes])


def expand_dims(do: Do[T], x: T, axis: int | Sequence[int]) -> T:
    """With new axes of length 1."""
    shape = list(do.shape(x))
    count = 1 if isinstance(axis, int) else len(axis)
    for one in normal_axes(axis, len(shape) + count):
        shape.insert(one, 1)
    return do("reshape", x, shape=shape)


def diag(do: Do[T], x: T, k: int = 0) -> T:
    """A vector onto the diagonal of a matrix, or the diagonal of a matrix."""
    rank = len(do.shape(x))
    if rank not in (1, 2):
        raise ValueError(f"diag: takes a vector or a matrix, not {rank} axes")
    return do("diag_embed" if rank == 1 else "diagonal", x, k=k)


def trace(do: Do[T], x: T) -> T:
    """The sum of the diagonal of the last two axes."""
    return do("sum", do("diagonal", x, k=0), axis=-1)


def roll_all(do: Do[T], x: T, shift: int) -> T:
    """Rolled as if it were one long axis."""
    flat = do("roll", do("reshape", x, shape=(-1,)), shift=shift, axis=0)
    return do("reshape", flat, shape=do.shape(x))


def inverse(do: Do[T], x: T) -> T:
    """The matrix that undoes x: solve with the identity on the right."""
    return do("solve", x, do("diag_embed", do.fill(do.shape(x)[:-1], 1.0), k=0))


def logabsdet(do: Do[T], x: T) -> T:
    """The logarithm of the size of the determinant, from the diagonal of its LU factors."""
    return do("sum", do("log", do("abs", do("diagonal", do("lu", x), k=0))), axis=-1)


def _by_eights(do: Do[T], x: T, axis: int) -> T:
    """An axis in rows of eight, filled up with ones."""
    before, (length,), after = _cut(do.shape(x), axis, 1)
    rows = -(-length // EIGHT)
    widths = [(0, 0)] * len(do.shape(x))
    widths[axis] = (0, rows * EIGHT - length)
    full = do("pad", x, widths=widths, value=1.0) if rows * EIGHT != length else x
    return do("reshape", full, shape=(*before, rows, EIGHT, *after))


def _cut(shape: Shape, axis: int, count: int) -> tuple[Shape, Shape, Shape]:
    """The lengths before, of and after some axes."""
    return shape[:axis], shape[axis : axis + count], shape[axis + count :]


def _pooled(
    do: Do[T], name: str, x: T, window: Sequence[int], stride: Any, padding: Any, value: float
) -> T:
    rank = len(window)
    rims = (padding,) * rank if isinstance(padding, int) else tuple(padding)
    if any(rims):
        before = [(0, 0)] * (len(do.shape(x)) - rank)
        x = do("pad", x, widths=[*before, *((rim, rim) for rim in rims)], value=value)
    seen = do("windows", x, window=tuple(window), stride=window if stride is None else stride)
    return do(name, seen, axis=tuple(range(-rank, 0)))


def _largest(do: Do[T], x: T, axis: Axis) -> T:
    """The largest, or 0 where it is infinite: inf - inf would be NaN."""
    largest = do("max", x, axis=axis, keepdims=True)
    return do.stop(do("where", do("equal", do("abs", largest), inf), 0.0, largest))


def _without(do: Do[T], x: T, axis: Axis) -> T:
    shape = do.shape(x)
    axes = normal_axes(axis, len(shape))
    return do("reshape", x, shape=[n for a, n in enumerate(shape) if a not in axes])


def _count(do: Do[T], x: T, axis: Axis) -> int:
    shape = do.shape(x)
    return prod(shape[one] for one in normal_axes(axis, len(shape)))
