"""Sequences that compute: several values of one argument, with arithmetic element by element.

A compiled function sees them for an array of several numbers a row and for a uniform array;
``grad``, ``minimize`` and their kin for an array. They are sequences (``len``, indexing, slices,
loops, unpacking) that compute as NumPy arrays do, by NumPy's rules for shapes, and never change.
``sequence`` is the one rule that makes them; lists and tuples stay what they are.
"""

from __future__ import annotations

import linecache
import operator
import sys
from collections.abc import Callable, Iterator
from functools import partial, reduce
from typing import Any, NoReturn

from .._shared.numerics import np
from .._shared.operands import HOPELESS, is_array
from ..errors import GraphExitError, OperandError, SequenceError, ShapeError
from ..ops import OPS
from ..value import Value, belongs_to_caller, core
from . import elementwise
from .functions import dot
from .functions import sum as sum_

_OPS = frozenset(OPS)


def sequence(items: Any, shape: tuple[int, ...]) -> Any:
    """Items in order as a sequence that computes, of a shape; the item itself where it has no axes.

    This is how every argument that was an array is made, whoever calls the function.
    """
    if shape == ():
        (item,) = items
        return item
    array = np.empty(len(items), dtype=object)
    for index, item in enumerate(items):
        array[index] = item
    return ComputingSequence(array.reshape(shape))


def like(given: Any, items: list[Any]) -> Any:
    """As many items as a sequence or an array of one axis has, in the same kind."""
    made = sequence(items, (len(items),))
    if isinstance(given, ComputingSequence):
        return made
    floats = all(isinstance(item, float) for item in items)
    return np.asarray(made, dtype=np.float64 if floats else object)


def _operator(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def apply(self: ComputingSequence, other: Any) -> Any:
        return computed(function, (self, other))

    return apply


def _reflected(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def apply(self: ComputingSequence, other: Any) -> Any:
        return computed(function, (other, self))

    return apply


def _unary(function: Callable[..., Any]) -> Callable[[Any], Any]:
    def apply(self: ComputingSequence) -> Any:
        return computed(function, (self,))

    return apply


def _refused(what: str) -> Callable[[Any], Any]:
    def refuse(self: ComputingSequence) -> NoReturn:
        frame = sys._getframe(1)
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        raise GraphExitError.conversion(what, line, _OPS, core.in_recording())

    return refuse


class ComputingSequence:
    """Values that are read as a sequence and compute as an array; made by :func:`sequence`.

    >>> import numpy as np
    >>> import retrograde as rg
    >>> rg.grad(lambda q: rg.norm(q * 2))(np.array([3.0, 4.0]))
    array([1.2, 1.6])
    """

    __slots__ = ("_array",)
    __hash__ = None  # type: ignore[assignment]  # == is element by element

    def __init__(self, array: Any) -> None:
        self._array = array  # of objects, and changed by nobody: views may share it

    # ---- a sequence ------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, index: Any) -> Any:
        try:
            return _wrapped(self._array[_plain_index(index)])
        except IndexError:
            if isinstance(index, (Value, str, float)):
                raise SequenceError.index(index) from None
            raise

    def __iter__(self) -> Iterator[Any]:
        return map(_wrapped, self._array)

    def __contains__(self, item: Any) -> bool:
        return any(item == own for own in self._array.flat)

    def __setitem__(self, index: Any, item: Any) -> NoReturn:
        raise SequenceError.assignment()

    def __bool__(self) -> bool:
        if self._array.size != 1:
            raise SequenceError.truth(self.shape)
        return bool(self._array.item())

    def __repr__(self) -> str:
        return f"ComputingSequence({self.tolist()!r})"

    __float__, __int__, __complex__ = map(_refused, ("float(q)", "int(q)", "complex(q)"))

    # ---- an array --------------------------------------------------------------------------------

    __add__, __radd__ = _operator(operator.add), _reflected(operator.add)
    __sub__, __rsub__ = _operator(operator.sub), _reflected(operator.sub)
    __mul__, __rmul__ = _operator(operator.mul), _reflected(operator.mul)
    __truediv__, __rtruediv__ = _operator(operator.truediv), _reflected(operator.truediv)
    __floordiv__, __rfloordiv__ = _operator(operator.floordiv), _reflected(operator.floordiv)
    __mod__, __rmod__ = _operator(operator.mod), _reflected(operator.mod)
    __pow__, __rpow__ = _operator(operator.pow), _reflected(operator.pow)
    __and__, __rand__ = _operator(operator.and_), _reflected(operator.and_)
    __or__, __ror__ = _operator(operator.or_), _reflected(operator.or_)
    __xor__, __rxor__ = _operator(operator.xor), _reflected(operator.xor)
    __neg__, __pos__ = _unary(operator.neg), _unary(operator.pos)
    __abs__, __invert__ = _unary(operator.abs), _unary(operator.invert)
    __lt__, __le__, __gt__ = map(_operator, (operator.lt, operator.le, operator.gt))
    __ge__, __eq__, __ne__ = map(_operator, (operator.ge, operator.eq, operator.ne))

    def __matmul__(self, other: Any) -> Any:
        return product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return product(other, self)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths along its axes."""
        return tuple(self._array.shape)

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return int(self._array.ndim)

    @property
    def size(self) -> int:
        """How many values it has."""
        return int(self._array.size)

    @property
    def T(self) -> ComputingSequence:  # noqa: N802  NumPy's name
        """Its axes the other way round."""
        return ComputingSequence(self._array.T)

    def reshape(self, *shape: Any) -> Any:
        """The same values along other axes."""
        return _wrapped(self._array.reshape(*shape))

    def ravel(self) -> ComputingSequence:
        """The same values along one axis."""
        return ComputingSequence(self._array.reshape(-1))

    def copy(self) -> ComputingSequence:
        """Itself: it never changes."""
        return self

    def tolist(self) -> list[Any]:
        """Its values in lists."""
        return list(self._array.tolist())

    def dot(self, other: Any) -> Any:
        """The same as ``@``."""
        return product(self, other)

    def sum(self, axis: int | None = None) -> Any:
        """The sum of all values, or along an axis; each is one node."""
        return self._reduced(sum_, axis)

    def mean(self, axis: int | None = None) -> Any:
        """The mean of all values, or along an axis."""
        return self.sum(axis) / (self.size if axis is None else self.shape[axis])

    def max(self, axis: int | None = None) -> Any:
        """The largest value, or along an axis; NaN where there is one, as ``rg.maximum``."""
        return self._reduced(lambda items: reduce(elementwise.maximum, items), axis)

    def min(self, axis: int | None = None) -> Any:
        """The smallest value, or along an axis; NaN where there is one, as ``rg.minimum``."""
        return self._reduced(lambda items: reduce(elementwise.minimum, items), axis)

    def _reduced(self, function: Callable[[list[Any]], Any], axis: int | None) -> Any:
        if axis is None:
            return function(self._array.reshape(-1).tolist())
        moved = np.moveaxis(self._array, axis, -1)
        items = [function(row.tolist()) for row in moved.reshape(-1, moved.shape[-1])]
        return sequence(items, moved.shape[:-1])

    def __getattr__(self, name: str) -> Any:
        """The ops are methods, as of values: ``q.exp()``."""
        if name in _OPS:
            return partial(getattr(elementwise, name), self)
        raise AttributeError(name if name.startswith("_") else SequenceError.attribute(name))

    # ---- NumPy -----------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        try:
            return self._array.astype(object if dtype is None else dtype)
        except ValueError as error:  # the values' own words, where NumPy has put others before them
            raise (error.__cause__ or error) from None

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from .protocols import array_ufunc

        return array_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .protocols import array_function

        return array_function(function, args, kwargs)

    @staticmethod
    def computed(function: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
        """How a function of values is applied where an operand is a sequence."""
        return computed(function, operands)


def _wrapped(found: Any) -> Any:
    """What an array gave: an item, or a sequence of them."""
    if not isinstance(found, np.ndarray):
        return found
    return ComputingSequence(found) if found.ndim else found.item()


def _plain_index(index: Any) -> Any:
    """An index as NumPy takes it: conditions decide here what is chosen."""
    if isinstance(index, tuple):
        return tuple(_plain_index(part) for part in index)
    if isinstance(index, ComputingSequence):
        if all(isinstance(part, Value) for part in index._array.flat):
            raise SequenceError.index(index)
        return np.array([bool(part) for part in index._array.flat]).reshape(index.shape)
    return index


def as_objects(operand: Any, function: str) -> Any:
    """An operand of a sequence as an array of objects."""
    if isinstance(operand, ComputingSequence):
        return operand._array
    if isinstance(operand, (list, tuple)) or is_array(operand):
        try:
            return np.asarray(operand, dtype=object)
        except ValueError:
            raise SequenceError.operand(function, operand) from None
    if isinstance(operand, HOPELESS) and operand is not None:
        raise SequenceError.operand(function, operand)
    box = np.empty((), dtype=object)
    box[()] = operand
    return box


def computed(function: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
    """A function of values, element by element.

    Comparisons give an array of bools; while recording, a sequence of conditions.
    """
    name = getattr(function, "__name__", "the function")
    arrays = [as_objects(operand, name) for operand in operands]
    try:
        np.broadcast(*arrays)
    except ValueError:
        raise ShapeError.sequences(name, [array.shape for array in arrays]) from None
    found = np.frompyfunc(function, len(arrays), 1)(*arrays)
    if found.size and all(type(item) is bool for item in found.flat):
        return found.astype(bool)
    return _wrapped(found)


def product(left: Any, right: Any) -> Any:
    """``left @ right``: dots of rows with columns, each one node."""
    lefts, rights = as_objects(left, "@"), as_objects(right, "@")
    if not lefts.ndim or not rights.ndim:
        raise OperandError.matmul()
    if max(lefts.ndim, rights.ndim) > 2:
        raise SequenceError.axes("@", max(lefts.shape, rights.shape, key=len))
    if lefts.shape[-1] != rights.shape[0]:
        raise ShapeError.product(lefts.shape, rights.shape)
    rows = lefts.reshape(-1, lefts.shape[-1]).tolist()
    columns = rights.reshape(rights.shape[0], -1).T.tolist()
    found = [dot(row, column) for row in rows for column in columns]
    return sequence(found, lefts.shape[:-1] + rights.shape[1:])


belongs_to_caller(sys.modules[__name__])
belongs_to_caller(ComputingSequence, ComputingSequence.computed)
