"""NumPy's protocols for tensors: ``np.exp(t)``, ``np.sum(t, axis=0)``, ``array @ t``.

A function of NumPy's is answered through one table of names; what is not in it raises and names
what to write instead. Nothing falls back to plain arrays.
"""

from __future__ import annotations

import inspect
import operator
import sys
from collections.abc import Callable
from inspect import isfunction
from math import pi
from typing import Any

from .._shared.numerics import np
from .._shared.operands import COMPARISONS
from ..errors import FitError, TensorError
from ..ops import OPS
from ..ops.spellings import ELSEWHERE
from ..tensor import Tensor, in_graph, number_of
from ..value import belongs_to_caller
from . import equations, functions
from .doing import do, operand
from .methods import axis_of, checked_axes, clip, shape_of
from .operators import compared, matmul, power

# ---- functions of numbers ------------------------------------------------------------------------

_COMPARED = ("less", "less_equal", "equal", "not_equal", "greater", "greater_equal")


def _by_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives bools: it asks for the numbers alone."""
    return lambda *operands: function(*map(number_of, operands))


_UFUNCS: dict[str, Callable[..., Any]] = {
    "matmul": matmul, "power": power, "float_power": power, "positive": operator.pos,
    "radians": lambda x: do("mul", x, pi / 180.0), "deg2rad": lambda x: do("mul", x, pi / 180.0),
    "degrees": lambda x: do("mul", x, 180.0 / pi), "rad2deg": lambda x: do("mul", x, 180.0 / pi),
    **{name: _by_numbers(getattr(np, name)) for name in ("isnan", "isinf", "isfinite", "signbit")},
    **{
        name: lambda x, y, compare=compare: compared(compare, x, y)
        for name, compare in zip(_COMPARED, COMPARISONS)
    },
}  # fmt: skip

_CURES = {
    "fmax": "Write np.maximum, which is NaN where either is.",
    "fmin": "Write np.minimum, which is NaN where either is.",
    "rint": "Write rg.round(t).",
    "heaviside": "Write rg.where(t > 0, 1.0, 0.0).",
    "copysign": "Write rg.where(u < 0, -rg.abs(t), rg.abs(t)).",
    "floor_divide": "Write rg.floor(a / b), whose gradient is zero.",
    "logical_and": "Write masks, as in (a > 0) & (b > 0).",
    "logical_or": "Write masks, as in (a > 0) | (b > 0).",
    "logical_not": "Write a mask, as in t == 0.",
    "logical_xor": "Write masks, as in (a > 0) ^ (b > 0).",
    "divmod": "Write rg.floor(a / b) and rg.remainder(a, b).",
    "modf": "Write rg.trunc(t) and t - rg.trunc(t).",
}


def array_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A ufunc of which an operand is a tensor."""
    name = ufunc.__name__
    if method != "__call__":
        raise TensorError.method(name, method)
    for option, given in options.items():
        if given is not None:
            raise TensorError.option(name, option)
    if name in _UFUNCS:
        return _UFUNCS[name](*inputs)
    ours = ELSEWHERE.get(name, name)
    if ours not in OPS:
        raise TensorError.ufunc(name, _CURES.get(name, ""))
    return do(ours, *inputs)


# ---- functions of arrays -------------------------------------------------------------------------


def _reducing(name: str) -> Callable[..., Any]:
    def reduced(a: Any, axis: Any = None, *, keepdims: Any = np._NoValue) -> Any:
        keep = keepdims is not np._NoValue and bool(keepdims)
        return do(name, a, axis=axis_of(axis), keepdims=keep)

    return reduced


def _spread(name: str) -> Callable[..., Any]:
    def spread(a: Any, axis: Any = None, *, ddof: int = 0, keepdims: Any = np._NoValue) -> Any:
        keep = keepdims is not np._NoValue and bool(keepdims)
        return do(name, a, axis=axis_of(axis), ddof=ddof, keepdims=keep)

    return spread


def _choosing(name: str, first: int | None) -> Callable[..., Any]:
    def chosen(a: Any, axis: Any = first, *, keepdims: Any = np._NoValue) -> Any:
        return do.choice(name, a, axis_of(axis), keepdims is not np._NoValue and bool(keepdims))

    return chosen


def _method(name: str) -> Callable[..., Any]:
    """A method of the tensor, with its arguments."""
    method = getattr(Tensor, name)

    def call(a: Any, *given: Any, **named: Any) -> Any:
        return getattr(a if isinstance(a, Tensor) else _as_tensor(a), name)(*given, **named)

    call.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    return call


def _as_tensor(a: Any) -> Any:
    return Tensor(operand(a, "an operand"), requires_grad=False)


def _average(a: Any, axis: Any = None, weights: Any = None) -> Any:
    if weights is None:
        return do("mean", a, axis=axis_of(axis))
    if np.shape(weights) != np.shape(a):
        if axis is None or np.ndim(weights) != 1:
            raise TensorError.option("average", "weights of another shape")
        (along,) = checked_axes("average", _here(a), axis)
        if len(weights) != np.shape(a)[along]:
            raise FitError.of(
                f"average: {len(weights)} weights along an axis of length {np.shape(a)[along]}",
                [a, weights],
            )
        weights = np.reshape(weights, [-1 if n == along else 1 for n in range(np.ndim(a))])
    total = do("sum", do("mul", a, weights), axis=axis_of(axis))
    shared = do("broadcast_to", weights, shape=np.shape(a))
    return do("div", total, do("sum", shared, axis=axis_of(axis)))


def _reshape(a: Any, shape: Any) -> Any:
    return do("reshape", a, shape=shape_of((shape,)))


def _transpose(a: Any, axes: Any = None) -> Any:
    return do("transpose", a, axes=axis_of(axes))


def _moveaxis(a: Any, source: Any, destination: Any) -> Any:
    ends = [np.atleast_1d(axes).tolist() for axes in (source, destination)]
    taken, given = (checked_axes("moveaxis", _here(a), *axes) for axes in ends)
    if len(taken) != len(given):
        raise FitError.of(f"moveaxis: {len(taken)} axes to {len(given)} places", [a])
    order = [axis for axis in range(np.ndim(a)) if axis not in taken]
    for place, axis in sorted(zip(given, taken)):
        order.insert(place, axis)
    return do("transpose", a, axes=tuple(order))


def _expand_dims(a: Any, axis: Any) -> Any:
    return do("expand_dims", a, axis=axis_of(axis))


def _broadcast_to(array: Any, shape: Any) -> Any:
    return do("broadcast_to", array, shape=shape_of((shape,)))


def _at_least(axes: int) -> Callable[..., Any]:
    def made(*parts: Any) -> Any:
        found = [
            part if np.ndim(part) >= axes
            else do("reshape", part, shape=(1,) * (axes - np.ndim(part)) + np.shape(part))
            for part in (operand(part, f"atleast_{axes}d") for part in parts)
        ]  # fmt: skip
        return found[0] if len(found) == 1 else tuple(found)

    return made


def _at_least_3d(part: Any) -> Any:
    given = _at_least(2)(part)
    return given if np.ndim(given) > 2 else do("expand_dims", given, axis=2)


def _vstack(tup: Any) -> Any:
    return functions.concatenate([_at_least(2)(part) for part in tup], 0)


def _hstack(tup: Any) -> Any:
    parts = [_at_least(1)(part) for part in tup]
    return functions.concatenate(parts, 0 if all(np.ndim(part) == 1 for part in parts) else 1)


def _column_stack(tup: Any) -> Any:
    columns = [do("transpose", _at_least(2)(p)) if np.ndim(p) < 2 else p for p in tup]
    return functions.concatenate(columns, 1)


def _array_split(ary: Any, sections: Any, axis: int = 0) -> list[Any]:
    (along,) = checked_axes("array_split", _here(ary), axis)
    length = np.shape(ary)[along]
    if isinstance(sections, (int, np.integer)):
        if sections < 1:
            raise FitError.of(f"array_split: {sections} pieces", [ary])
        pieces = np.array_split(np.arange(length), int(sections))
        sections = np.cumsum([len(piece) for piece in pieces])[:-1].tolist()
    return functions.split(ary, sections, axis)


def _tile(a: Any, reps: Any) -> Any:
    return do("tile", a, count=shape_of((reps,)))


def _pad(array: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Any:
    if mode != "constant":
        raise TensorError.option("pad", f"mode={mode!r}, anything but 'constant',")
    return functions.pad(array, pad_width, float(constant_values))


def _rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    first, second = checked_axes("rot90", _here(m), *axes)
    for _ in range(k % 4):
        m = functions.flip(_here(m).swapaxes(first, second), first)
    return m


def _inner(a: Any, b: Any) -> Any:
    if not np.ndim(a) or not np.ndim(b):
        return do("mul", a, b)
    return do("tensordot", a, b, axes=([np.ndim(a) - 1], [np.ndim(b) - 1]))


def _vdot(a: Any, b: Any) -> Any:
    return do("dot", functions.flat(operand(a, "vdot")), functions.flat(operand(b, "vdot")))


def _diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    (along,) = checked_axes("diff", _here(a), axis)
    for _ in range(n):
        ahead = [slice(None)] * np.ndim(a)
        ahead[along], behind = slice(1, None), list(ahead)
        behind[along] = slice(None, -1)
        a = do("sub", a[tuple(ahead)], a[tuple(behind)])
    return a


def _append(arr: Any, values: Any, axis: Any = None) -> Any:
    if axis is None:
        parts = [functions.flat(operand(part, "append")) for part in (arr, values)]
        return functions.concatenate(parts)
    return functions.concatenate([arr, values], axis)


def _kron(a: Any, b: Any) -> Any:
    a, b = operand(a, "kron"), operand(b, "kron")
    rank = max(np.ndim(a), np.ndim(b))
    shapes = [(1,) * (rank - np.ndim(x)) + np.shape(x) for x in (a, b)]
    left = do("reshape", a, shape=[n for m in shapes[0] for n in (m, 1)])
    right = do("reshape", b, shape=[n for m in shapes[1] for n in (1, m)])
    whole = [p * q for p, q in zip(*shapes)]
    return do("reshape", do("mul", left, right), shape=whole)


def _cross(a: Any, b: Any, axis: int = -1) -> Any:
    a, b = operand(a, "cross"), operand(b, "cross")
    if np.shape(a)[axis] != 3 or np.shape(b)[axis] != 3:
        raise TensorError.option("cross", "vectors of a length other than 3")
    turned = [(functions.roll(x, -1, axis), functions.roll(x, -2, axis)) for x in (a, b)]
    (a1, a2), (b1, b2) = turned
    return do("sub", do("mul", a1, b2), do("mul", a2, b1))


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        raise TensorError.function("where", "Give all three: np.where(condition, a, b).")
    return do("where", number_of(condition), x, y)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    return clip(_here(a), min if a_min is None else a_min, max if a_max is None else a_max)


def _here(a: Any) -> Any:
    return a if in_graph(a) else _as_tensor(a)


def _round(a: Any, decimals: int = 0) -> Any:
    if decimals != 0:
        raise TensorError.option("round", "decimals")
    return do("round", a)


def _take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    return functions.gather(arr, indices, axis)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    over = axis_of(axis)
    count = np.ndim(x) if over is None else len(over) if isinstance(over, tuple) else 1
    if ord is not None and (ord, count) not in ((2, 1), ("fro", 2)):  # a matrix's 2 is another
        raise TensorError.function("linalg.norm", "Write its formula, as in rg.abs(t).sum(axis).")
    return do("norm", x, axis=over, keepdims=bool(keepdims))


def _like(number: float) -> Callable[..., Any]:
    return lambda a: np.full(np.shape(a), number)


def _full_like(a: Any, fill_value: Any) -> Any:
    return np.full(np.shape(a), fill_value, dtype=float)


def _ptp(a: Any, axis: Any = None) -> Any:
    return do("sub", do("max", a, axis=axis_of(axis)), do("min", a, axis=axis_of(axis)))


def _meshgrid(*xi: Any, indexing: Any = "xy") -> list[Any]:
    shapes: Any = np.meshgrid(*[np.arange(np.size(x)) for x in xi], indexing=indexing)
    return [functions.flat(operand(x, "meshgrid"))[grid] for x, grid in zip(xi, shapes)]


def _size(a: Any, axis: int | None = None) -> Any:
    return a.size if axis is None else a.shape[axis]


def _numbers(function: Any) -> Callable[..., Any]:
    """A function that gives bools, whole numbers or text: it asks for the numbers alone."""

    def asked(*given: Any, **named: Any) -> Any:
        return function(*map(number_of, given), **{k: number_of(v) for k, v in named.items()})

    asked.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return asked


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _reducing("sum"), np.mean: _reducing("mean"), np.prod: _reducing("prod"),
    np.max: _reducing("max"), np.amax: _reducing("max"), np.min: _reducing("min"),
    np.amin: _reducing("min"), np.var: _spread("var"), np.std: _spread("std"),
    np.average: _average, np.ptp: _ptp, np.cumsum: _method("cumsum"),
    np.cumprod: _method("cumprod"), np.argmax: _choosing("argmax", None),
    np.argmin: _choosing("argmin", None), np.argsort: _choosing("argsort", -1),
    np.sort: lambda a, axis=-1: functions.sort(a, axis),
    np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim, np.size: _size,
    np.reshape: _reshape, np.ravel: lambda a: functions.flat(a), np.transpose: _transpose,
    np.swapaxes: _method("swapaxes"), np.moveaxis: _moveaxis, np.squeeze: _method("squeeze"),
    np.expand_dims: _expand_dims, np.broadcast_to: _broadcast_to,
    np.atleast_1d: _at_least(1), np.atleast_2d: _at_least(2), np.atleast_3d: _at_least_3d,
    np.concatenate: lambda arrays, axis=0: functions.concatenate(arrays, axis),
    np.stack: lambda arrays, axis=0: functions.stack(arrays, axis),
    np.vstack: _vstack, np.hstack: _hstack, np.column_stack: _column_stack,
    np.dstack: lambda tup: functions.concatenate([_at_least_3d(part) for part in tup], 2),
    np.split: lambda ary, indices_or_sections, axis=0: functions.split(
        ary, indices_or_sections, axis
    ),
    np.vsplit: lambda ary, indices_or_sections: functions.split(ary, indices_or_sections, 0),
    np.hsplit: lambda ary, indices_or_sections: functions.split(
        ary, indices_or_sections, min(1, np.ndim(ary) - 1)
    ),
    np.array_split: lambda ary, indices_or_sections, axis=0: _array_split(
        ary, indices_or_sections, axis
    ),
    np.flip: lambda m, axis=None: functions.flip(m, axis),
    np.flipud: lambda m: functions.flip(m, 0), np.fliplr: lambda m: functions.flip(m, 1),
    np.roll: lambda a, shift, axis=None: functions.roll(a, shift, axis), np.rot90: _rot90,
    np.pad: _pad, np.tile: _tile,
    np.repeat: lambda a, repeats, axis=None: _here(a).repeat(repeats, axis),
    np.tril: lambda m, k=0: functions.tril(m, k), np.triu: lambda m, k=0: functions.triu(m, k),
    np.diag: lambda v, k=0: functions.diag(v, k),
    np.diagonal: _method("diagonal"), np.trace: _method("trace"),
    np.einsum: lambda subscripts, *operands: functions.einsum(subscripts, *operands),
    np.dot: lambda a, b: do("dot", a, b), np.vdot: _vdot, np.inner: _inner,
    np.outer: lambda a, b: functions.outer(a, b),
    np.tensordot: lambda a, b, axes=2: functions.tensordot(a, b, axes),
    np.kron: _kron, np.cross: _cross, np.where: _where, np.clip: _clip,
    np.take: lambda a, indices, axis=None: _here(a).take(indices, axis),
    np.take_along_axis: _take_along_axis, np.diff: _diff, np.append: _append,
    np.meshgrid: _meshgrid, np.copy: lambda a: a.copy(),
    np.sinc: lambda x: do("sinc", x), np.round: _round, np.around: _round,
    np.linalg.norm: _norm, np.linalg.inv: lambda a: equations.inverse(a),
    np.linalg.solve: lambda a, b: equations.solve(a, b),
    np.linalg.cholesky: lambda a: equations.cholesky(a),
    np.linalg.det: lambda a: equations.det(a),
    np.linalg.slogdet: lambda a: equations.slogdet(a),
    np.zeros_like: _like(0.0), np.ones_like: _like(1.0), np.empty_like: _like(0.0),
    np.full_like: _full_like,
    **{
        function: _numbers(function)
        for function in (
            np.array_equal, np.allclose, np.isclose, np.any, np.all,
            np.count_nonzero, np.nonzero, np.flatnonzero, np.argwhere, np.array2string,
            np.array_repr, np.array_str, np.isreal, np.iscomplexobj, np.isrealobj,
        )
    },
}  # fmt: skip
"""With the arguments that make sense here; any other is refused."""


def array_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of NumPy's with a tensor among its arguments."""
    ours = _FUNCTIONS.get(function)
    name = getattr(function, "__name__", str(function))
    if getattr(function, "__module__", "").endswith("linalg"):
        name = f"linalg.{name}"
    if ours is None:
        raise TensorError.function(name, _FUNCTION_CURES.get(name, ""))
    options = {key: given for key, given in kwargs.items() if given is not np._NoValue}
    known = inspect.signature(ours).parameters
    open_ended = any(it.kind is it.VAR_KEYWORD for it in known.values())
    for option in options:
        if option not in known and not open_ended:
            raise TensorError.option(name, option)
    try:
        inspect.signature(ours).bind(*args, **options)
    except TypeError:
        raise TensorError.option(name, "more arguments") from None
    return ours(*args, **options)


_FUNCTION_CURES = {
    "median": "Write rg.sort(t), and take the middle.",
    "nansum": "Write rg.where(np.isnan(t), 0.0, t).sum().",
    "interp": "Write np.searchsorted(x, t.data) for the places, and interpolate with t.",
    "put": "Tensors are not written in place: write t = t.put(i, v).",
    "copyto": "Tensors are not written in place: write t = t.put(i, v).",
    "linalg.eigh": "Its rule is not here: write it with @rg.custom_op.",
    "linalg.svd": "Its rule is not here: write it with @rg.custom_op.",
}


class Protocols:
    """Put on the class of tensors; never instantiated."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TensorError.as_array()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return array_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return array_function(function, args, kwargs)


belongs_to_caller(sys.modules[__name__], Protocols)
belongs_to_caller(*(f for f in (*_FUNCTIONS.values(), *_UFUNCS.values()) if isfunction(f)))
