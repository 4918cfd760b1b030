"""NumPy's protocols: what its functions do with values and with sequences that compute.

``np.exp(v)`` is ``rg.exp(v)``: a function of NumPy's that has a counterpart here is answered by it,
through one table for values and sequences. What has none raises and names what to write instead.
Functions that only move items about run on arrays of the values themselves.
"""

from __future__ import annotations

import inspect
import operator
import sys
from collections.abc import Callable
from functools import reduce
from math import inf, pi
from typing import Any

import numpy as np

from .._shared.operands import COMPARISONS, is_array, is_real_scalar, over_arrays
from .._tensors.protocols import array_function as tensor_function
from .._tensors.protocols import array_ufunc as tensor_ufunc
from ..errors import NumpyError, OperandError
from ..ops import OPS
from ..ops.spellings import ELSEWHERE
from ..tensor import Tensor
from ..value import Value, belongs_to_caller, core
from . import elementwise, functions
from .nests import flatten, mapped
from .sequences import ComputingSequence, as_objects, computed, product

_POWER, _COMPARISON = 256, 257  # as in native/ufuncs.c

_COMPARED = ("less", "less_equal", "equal", "not_equal", "greater", "greater_equal")
"""In the order of COMPARISONS."""

_OPERATORS: dict[str, Callable[..., Any]] = {
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "invert": operator.invert, "float_power": operator.pow, "power": operator.pow,
    "positive": operator.pos, "floor_divide": operator.floordiv,
    **dict(zip(_COMPARED, COMPARISONS)),
}  # fmt: skip
"""NumPy's functions that are operators: an exponent or a condition is as for those."""


def _radians(x: Any) -> Any:
    return x * (pi / 180.0)


def _degrees(x: Any) -> Any:
    return x * (180.0 / pi)


def _isnan(x: Any) -> Any:
    return x != x


def _isinf(x: Any) -> Any:
    return elementwise.abs(x) == inf


def _isfinite(x: Any) -> Any:
    return elementwise.abs(x) < inf


_COMPOSED: dict[str, Callable[..., Any]] = {
    "radians": _radians, "deg2rad": _radians, "degrees": _degrees,
    "rad2deg": _degrees, "isnan": _isnan, "isinf": _isinf, "isfinite": _isfinite,
}  # fmt: skip

_CURES = {
    "fmax": "Write np.maximum, which is NaN where either is.",
    "fmin": "Write np.minimum, which is NaN where either is.",
    "rint": "Write rg.round(v).",
    "heaviside": "Write rg.where(v > 0, 1.0, 0.0).",
    "copysign": "Write rg.where(w < 0, -rg.abs(v), rg.abs(v)).",
    "logaddexp2": "Write rg.logsumexp([a * log(2), b * log(2)]) / log(2).",
    "logical_and": "Write conditions, as in (a > 0) & (b > 0).",
    "logical_or": "Write conditions, as in (a > 0) | (b > 0).",
    "logical_not": "Write a condition, as in v == 0.",
    "logical_xor": "Write conditions, as in (a > 0) ^ (b > 0).",
    "signbit": "Write v < 0.",
}


def _element(name: str) -> Callable[..., Any] | None:
    """What a ufunc is on one element of each operand."""
    if name in _OPERATORS:
        return _OPERATORS[name]
    ours = ELSEWHERE.get(name, name)
    if ours in OPS:
        return getattr(elementwise, ours)  # type: ignore[no-any-return]
    return _COMPOSED.get(name)


def _table() -> dict[Any, Callable[..., Any]]:
    ufuncs = [thing for thing in vars(np).values() if isinstance(thing, np.ufunc)]
    found = {ufunc: _element(ufunc.__name__) for ufunc in ufuncs}
    return {ufunc: function for ufunc, function in found.items() if function is not None}


def _codes() -> dict[Any, int]:
    """The ufuncs that the native core answers by itself where no array is involved."""
    codes: dict[Any, int] = {}
    for ufunc in _ELEMENTS:
        name = ufunc.__name__
        ours = ELSEWHERE.get(name, name)
        if name in ("power", "float_power"):
            codes[ufunc] = _POWER
        elif name in _COMPARED:
            codes[ufunc] = _COMPARISON + _COMPARED.index(name)
        elif ours in OPS:
            codes[ufunc] = core.OP_NAMES.index(ours)
    return codes


_ELEMENTS = _table()


def array_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A ufunc of which an operand is a value or a sequence."""
    if any(isinstance(operand, Tensor) for operand in inputs):
        return tensor_ufunc(ufunc, method, inputs, options)
    name = ufunc.__name__
    if method != "__call__":
        raise NumpyError.method(name, method)
    if options.pop("out", None) is not None:
        raise NumpyError.out(name)
    for option in options:
        raise NumpyError.option(name, option)
    if ufunc is np.matmul:
        return _matmul(*inputs)
    function = _ELEMENTS.get(ufunc)
    if function is None:
        raise NumpyError.ufunc(name, _CURES.get(name, ""))
    if any(isinstance(operand, ComputingSequence) for operand in inputs):
        return computed(function, inputs)
    if any(is_array(operand) for operand in inputs):
        found = over_arrays(function, inputs)
        if found.size and all(type(item) is bool for item in found.flat):
            return found.astype(bool)
        return found
    for operand in inputs:
        if not isinstance(operand, Value) and not is_real_scalar(operand):
            raise OperandError.of(name, operand)
    # as plain numbers: an operator of a NumPy scalar would lead here again
    return function(*[v if isinstance(v, Value) else float(v) for v in inputs])


def _matmul(left: Any, right: Any) -> Any:
    return product(left, right)


# ---- functions that are no ufuncs ----------------------------------------------------------------


def _sum(a: Any, axis: Any = None) -> Any:
    return a.sum() if axis is None else a.sum(axis)


def _mean(a: Any, axis: Any = None) -> Any:
    return a.mean() if axis is None else a.mean(axis)


def _max(a: Any, axis: Any = None) -> Any:
    return a if isinstance(a, Value) else a.max(axis)


def _min(a: Any, axis: Any = None) -> Any:
    return a if isinstance(a, Value) else a.min(axis)


def _prod(a: Any) -> Any:
    return a if isinstance(a, Value) else reduce(operator.mul, a.ravel())


def _norm(x: Any) -> Any:
    return elementwise.abs(x) if isinstance(x, Value) else functions.norm(x.ravel())


def _dot(a: Any, b: Any) -> Any:
    return product(a, b) if _axes(a) and _axes(b) else a * b


def _axes(thing: Any) -> int:
    return len(thing) and 1 if isinstance(thing, (list, tuple)) else getattr(thing, "ndim", 0)


def _where(condition: Any, x: Any, y: Any) -> Any:
    return elementwise.where(condition, x, y)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = min if a_min is None else a_min, max if a_max is None else a_max
    if low is None:
        return a if high is None else elementwise.minimum(a, high)
    return elementwise.maximum(a, low) if high is None else elementwise.clip(a, low, high)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _sum, np.mean: _mean, np.max: _max, np.amax: _max, np.min: _min, np.amin: _min,
    np.prod: _prod, np.linalg.norm: _norm, np.dot: _dot, np.inner: _dot, np.vdot: _dot,
    np.where: _where, np.clip: _clip,
}  # fmt: skip
"""With the arguments that make sense here; any other is refused."""

_MOVING = frozenset(
    (
        np.append, np.array_equal, np.array_split, np.atleast_1d, np.atleast_2d, np.broadcast_to,
        np.column_stack, np.concatenate, np.copy, np.cross, np.cumprod, np.cumsum, np.delete,
        np.diag, np.diagonal, np.diff, np.expand_dims, np.flip, np.hstack, np.insert, np.kron,
        np.meshgrid, np.moveaxis, np.ndim, np.outer, np.ravel, np.repeat, np.reshape, np.roll,
        np.shape, np.size, np.sort, np.split, np.squeeze, np.stack, np.swapaxes, np.take, np.tile,
        np.trace, np.transpose, np.tril, np.triu, np.vstack, np.zeros_like, np.ones_like,
    )
)  # fmt: skip
"""Functions that need nothing of items but to add, multiply and compare them."""


def array_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of NumPy's with a value or a sequence among its arguments."""
    ours = _FUNCTIONS.get(function)
    parts, _ = flatten((args, kwargs), _is_array)
    if any(isinstance(part, Tensor) for part in parts):
        return tensor_function(function, args, kwargs)
    with_sequences = any(isinstance(part, ComputingSequence) for part in parts)
    by_element = function in (np.where, np.clip) and len(args) + len(kwargs) > 1
    if ours is not None and (
        by_element or with_sequences or not any(is_array(part) for part in args)
    ):
        for option in kwargs:
            if option not in inspect.signature(ours).parameters:
                raise NumpyError.option(function.__name__, option)
        return ours(*args, **kwargs)
    if not with_sequences:
        return function._implementation(*args, **kwargs)
    if function not in _MOVING:
        raise NumpyError.function(function.__name__)
    found = function(*_unwrapped(args), **_unwrapped(kwargs))
    return _wrapped(found)


def _unwrapped(nest: Any) -> Any:
    """Arguments with arrays in the place of sequences."""
    return mapped(
        lambda part: as_objects(part, "") if isinstance(part, ComputingSequence) else part,
        nest,
        _is_array,
    )


def _wrapped(found: Any) -> Any:
    """Results with sequences in the place of arrays of values."""

    def wrapped(part: Any) -> Any:
        computes = isinstance(part, np.ndarray) and part.dtype == object and part.ndim
        return ComputingSequence(part) if computes else part

    return mapped(wrapped, found, _is_array)


def _is_array(part: Any) -> bool:
    return isinstance(part, (np.ndarray, ComputingSequence))


core.take_ufuncs(_codes(), array_ufunc)
belongs_to_caller(sys.modules[__name__])
