"""Methods of tensors: those of NumPy's arrays that the array law has rows for, and indexing.

Names, arguments and rules for shapes are NumPy's. Every result is a tensor, or a value where it has
no axes; whole numbers and bools are plain arrays.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from .._shared import hooks
from .._shared.numerics import np
from ..errors import FitError, TensorError, TensorIndexError
from ..ops import OPS
from ..ops.arrays.binding import normal_axes
from ..value import belongs_to_caller, core
from .doing import do, operand
from .indices import follow

Axis = int | Sequence[int] | None


def axis_of(axis: Any) -> Any:
    """An axis, or several, as plain whole numbers."""
    if axis is None:
        return None
    if isinstance(axis, (tuple, list)):
        return tuple(map(one_axis, axis))
    return one_axis(axis)


def one_axis(axis: Any) -> int:
    """One axis as a plain whole number."""
    try:
        return operator.index(axis)
    except TypeError:
        raise TensorError.axis(axis) from None


def shape_of(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as one argument or as several."""
    if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)):
        shape = tuple(shape[0])
    try:
        return tuple(map(operator.index, shape))
    except TypeError:
        raise TensorError.lengths(shape) from None


def checked_axes(what: str, x: Any, *axes: Any) -> tuple[int, ...]:
    """Axes of x, each another one, counted from the front in the order given."""
    try:
        normal_axes([one_axis(axis) for axis in axes], x.ndim)
    except ValueError as error:
        raise FitError.of(f"{what}: {error}", [x]) from None
    return tuple(one_axis(axis) % x.ndim for axis in axes)


class Methods:
    """Put on the class of tensors; never instantiated."""

    # ---- reductions ----------------------------------------------------------------------------

    def sum(self: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        """The sum of all numbers, or along axes."""
        return do("sum", self, axis=axis_of(axis), keepdims=bool(keepdims))

    def mean(self: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        """The mean of all numbers, or along axes."""
        return do("mean", self, axis=axis_of(axis), keepdims=bool(keepdims))

    def prod(self: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        """The product of all numbers, or along axes."""
        return do("prod", self, axis=axis_of(axis), keepdims=bool(keepdims))

    def max(self: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        """The largest number, or along axes; the first of several receives the whole gradient."""
        return do("max", self, axis=axis_of(axis), keepdims=bool(keepdims))

    def min(self: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        """The smallest number, or along axes; the first of several receives the whole gradient."""
        return do("min", self, axis=axis_of(axis), keepdims=bool(keepdims))

    def var(self: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """The variance of all numbers, or along axes."""
        return do("var", self, axis=axis_of(axis), ddof=ddof, keepdims=bool(keepdims))

    def std(self: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """The standard deviation of all numbers, or along axes."""
        return do("std", self, axis=axis_of(axis), ddof=ddof, keepdims=bool(keepdims))

    def logsumexp(self: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        """``log(sum(exp(t)))`` without overflow."""
        return do("logsumexp", self, axis=axis_of(axis), keepdims=bool(keepdims))

    def norm(self: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        """The Euclidean length of all numbers, or along axes; its slope at 0 is 0."""
        return do("norm", self, axis=axis_of(axis), keepdims=bool(keepdims))

    def softmax(self: Any, axis: Axis = -1) -> Any:
        """Positive shares that add up to one along an axis, without overflow."""
        return do("softmax", self, axis=axis_of(axis))

    def log_softmax(self: Any, axis: Axis = -1) -> Any:
        """The logarithm of ``softmax``, without computing it."""
        return do("log_softmax", self, axis=axis_of(axis))

    def cumsum(self: Any, axis: int | None = None) -> Any:
        """Running totals along an axis; of all numbers in order without one."""
        flat = self.reshape(-1) if axis is None and self.ndim != 1 else self
        return do("cumsum", flat, axis=0 if axis is None else axis_of(axis))

    def cumprod(self: Any, axis: int | None = None) -> Any:
        """Running products along an axis; of all numbers in order without one."""
        flat = self.reshape(-1) if axis is None and self.ndim != 1 else self
        return do("cumprod", flat, axis=0 if axis is None else axis_of(axis))

    def argmax(self: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        """Where the largest number stands, the first of several: whole numbers, no gradient."""
        return do.choice("argmax", self, axis_of(axis), keepdims)

    def argmin(self: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        """Where the smallest number stands, the first of several: whole numbers, no gradient."""
        return do.choice("argmin", self, axis_of(axis), keepdims)

    def argsort(self: Any, axis: int | None = -1) -> Any:
        """The places in the order of their numbers, equal ones in their own."""
        return do.choice("argsort", self, axis_of(axis))

    def sort(self: Any, *given: Any, **named: Any) -> Any:
        """Refused: NumPy's sorts in place. Write ``rg.sort(t)``."""
        raise TensorError.in_place("t.sort()", "t = rg.sort(t)")

    def _stopped(self: Any) -> Any:
        """While recording: the same numbers with their history, without a gradient."""
        core.enter_no_grad()
        try:
            return do.node("reshape", [self], {}, {"shape": self.shape})
        finally:
            core.leave_no_grad()

    # ---- places --------------------------------------------------------------------------------

    def reshape(self: Any, *shape: Any) -> Any:
        """The same numbers in the same order along other axes; one length may be -1."""
        return do("reshape", self, shape=shape_of(shape))

    def ravel(self: Any) -> Any:
        """The same numbers along one axis."""
        return do("reshape", self, shape=(-1,) if self.size else (0,))

    flatten = ravel

    def transpose(self: Any, *axes: Any) -> Any:
        """The axes in another order, reversed unless told."""
        order = None if not axes or axes == (None,) else shape_of(axes)
        return do("transpose", self, axes=order)

    @property
    def T(self: Any) -> Any:  # noqa: N802  NumPy's name
        """The axes the other way round."""
        return do("transpose", self, axes=None)

    @property
    def mT(self: Any) -> Any:  # noqa: N802  NumPy's name
        """The last two axes the other way round."""
        return self.swapaxes(-1, -2)

    def swapaxes(self: Any, axis1: int, axis2: int) -> Any:
        """Two axes in each other's place."""
        order = list(range(self.ndim))
        try:
            (one,), (other,) = normal_axes(axis1, self.ndim), normal_axes(axis2, self.ndim)
        except ValueError as error:
            raise TensorIndexError.of(f"swapaxes: {error}", self) from None
        order[one], order[other] = order[other], order[one]
        return do("transpose", self, axes=tuple(order))

    def squeeze(self: Any, axis: Axis = None) -> Any:
        """Without axes of length 1."""
        return do("squeeze", self, axis=axis_of(axis))

    def repeat(self: Any, repeats: Any, axis: int | None = None) -> Any:
        """Each number several times in a row: so often all, or each as often as a list says."""
        flat = self.ravel() if axis is None else self
        (along,) = checked_axes("repeat", flat, 0 if axis is None else axis)
        if isinstance(repeats, (int, np.integer)):
            return do("repeat", flat, count=int(repeats), axis=along)
        try:
            places = np.repeat(np.arange(flat.shape[along]), repeats)
        except (ValueError, TypeError) as error:
            raise FitError.of(f"repeat: {error}", [self]) from None
        return do("take", flat, n=places, axis=along)

    def diagonal(self: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """The diagonal of two axes, behind the others."""
        return do("diagonal", _behind(self, "diagonal", axis1, axis2), k=operator.index(offset))

    def trace(self: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """The sum of the diagonal of two axes."""
        return self.diagonal(offset, axis1, axis2).sum(axis=-1)

    def copy(self: Any) -> Any:
        """The same numbers in a tensor of their own."""
        return do("mul", self, 1.0)  # a view would share them

    # ---- picked --------------------------------------------------------------------------------

    def take(self: Any, indices: Any, axis: int | None = None) -> Any:
        """Numbers by whole numbers along an axis; of all in order without one."""
        flat = self.ravel() if axis is None else self
        return do("take", flat, n=indices, axis=0 if axis is None else one_axis(axis))

    def put(self: Any, key: Any, numbers: Any) -> Any:
        """A tensor with ``t[key]`` replaced; this one stays as it is.

        >>> import retrograde as rg
        >>> rg.Tensor([1.0, 2.0, 3.0]).put(1, 20.0).data
        array([ 1., 20.,  3.])
        """
        return do.put(self, key, numbers)

    def add_at(self: Any, key: Any, numbers: Any) -> Any:
        """A tensor with numbers added at ``t[key]``; a place named twice receives twice."""
        return do.add_at(self, key, numbers)

    def __getitem__(self: Any, key: Any) -> Any:
        return do.index(self, key)

    def __setitem__(self: Any, key: Any, numbers: Any) -> None:
        given = operand(numbers, "t[i] = v")
        name, wholes, arguments = do.putting(self, key)
        row = do.bound(name, [self, given], wholes, arguments)
        core.put(self, row, given, follow(wholes, row.counted(wholes)))

    def __len__(self: Any) -> int:
        return int(self.shape[0])

    def __iter__(self: Any) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def __contains__(self: Any, item: Any) -> bool:
        return bool(np.any(self == item))

    # ---- products and the rest -----------------------------------------------------------------

    def dot(self: Any, other: Any) -> Any:
        """NumPy's dot: the last axis with the last but one of the other."""
        return do("dot", self, other)

    def item(self: Any, *index: int) -> float:
        """One plain number, of a tensor that has no other or at an index; without its gradient."""
        return float(self.data.item(*index))

    def tolist(self: Any) -> list[Any]:
        """Its values in lists."""
        return [part.tolist() if part.ndim else part for part in self]

    def astype(self: Any, dtype: Any) -> Any:
        """Itself: tensors are float64."""
        if np.dtype(dtype) != np.float64:
            raise TensorError.astype(dtype)
        return self

    @property
    def dtype(self: Any) -> Any:
        """Always float64."""
        return np.dtype(np.float64)

    def zero_grad(self: Any) -> None:
        """Set the gradient of this tensor and of everything under it to zero."""
        core.zero_under((self,))

    def register_hook(self: Any, hook: hooks.Hook) -> hooks.HookHandle:
        """Let ``hook(total)`` see the gradient each pass brings here, an array, and replace it if
        it returns one of its shape.

        >>> import retrograde as rg
        >>> x = rg.Tensor([1.0, 2.0])
        >>> handle = x.register_hook(lambda total: total * 10)
        >>> (x * 2).sum().backward(); x.grad
        array([20., 20.])
        >>> handle.remove()
        """
        return hooks.register(self, hook)

    @staticmethod
    def computed(function: Any, operands: tuple[Any, ...]) -> Any:
        """How a function of values is applied where an operand is a tensor."""
        return do(function.__name__, *operands)


def _behind(x: Any, what: str, one: Any, other: Any) -> Any:
    """Two axes behind all others, which keep their order."""
    last = checked_axes(what, x, one, other)
    order = (*(axis for axis in range(x.ndim) if axis not in last), *last)
    return x if order == tuple(range(x.ndim)) else do("transpose", x, axes=order)


class Absent:
    """Stands on the class for what arrays have and tensors have not.

    A ``__getattr__`` could say it of any name, and would make every lookup of a method slow.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        raise AttributeError(TensorError.attribute(self.name))


def op_method(name: str) -> Any:
    """A row of the scalar law as a method, number by number: ``t.exp()``."""
    row = OPS[name]

    def method(self: Any, *operands: Any, **named: Any) -> Any:
        rest = dict(zip(row.inputs[1:], operands))
        if len(operands) >= row.arity or set(named) - set(row.inputs[1:]) or set(named) & set(rest):
            raise TypeError(f"{name} of a tensor takes {row.arity - 1} more operand(s)")
        rest.update(named)
        for key, default in zip(row.inputs[row.arity - len(row.defaults) :], row.defaults):
            rest.setdefault(key, default)
        if len(rest) != row.arity - 1:
            raise TypeError(f"{name} of a tensor takes {row.arity - 1} more operand(s)")
        return do(name, self, *(rest[key] for key in row.inputs[1:]))

    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    method.__doc__ = f"``rg.{name}`` of every number."
    return method


def clip(self: Any, min: Any = None, max: Any = None) -> Any:
    """Every number between two bounds; None leaves that side open."""
    if min is None:
        return self if max is None else do("minimum", self, max)
    return do("maximum", self, min) if max is None else do("clip", self, min, max)


belongs_to_caller(sys.modules[__name__], Methods)
belongs_to_caller(
    *(it.fget for it in vars(Methods).values() if isinstance(it, property) and it.fget)
)
belongs_to_caller(Methods.computed)
