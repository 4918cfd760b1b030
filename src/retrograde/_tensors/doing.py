"""Rows of the array law carried out on tensors, values, numbers and arrays: one node a row.

``do`` is what methods, operators and functions of tensors are made of, and what the compositions
and the adjoint systems of the law run on. On plain numbers and arrays alone it gives arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .._shared.arrays import floats
from .._shared.bound import Bound, Numeric, bound, numeric
from .._shared.loops import choose
from .._shared.loops import run as carried_out
from .._shared.numerics import np
from .._shared.operands import is_real_scalar
from .._values import elementwise
from .._values.modes import needs_tensors
from ..errors import FitError, NumberError, TensorError, TensorIndexError
from ..ops import OPS
from ..ops.array import ARRAYS
from ..ops.arrays import composed, implicit
from ..ops.arrays.binding import normal_axes
from ..ops.arrays.places import is_one_place, located, moved
from ..ops.arrays.row import Composed
from ..ops.index import Array, Chosen, Shape, Statement
from ..tensor import Tensor, in_graph
from ..value import Value, belongs_to_caller, core, core_name
from .indices import Found, Indices, Places, follow, refuse
from .keys import named_key

_TENSOR_DETACH, _VALUE_DETACH = Tensor.detach, Value.detach  # what rows stop is no cut of a user's

_MAPS = {name: getattr(core, name) for name in OPS} if core_name == "native" else {}
_COMPUTED = {Tensor, Value, float}
"""Scalar rows that the native core has as functions, and what those compute with."""


def _unknown(name: str, operands: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
    return NotImplemented


known = getattr(core, "composed", _unknown)
"""Rows and compositions that the native core carries out itself; NotImplemented for all others."""

WIDEST = 32
"""How many operands one node of a row that takes any number of them has at most."""


def operand(thing: Any, op: str) -> Any:
    """Something to compute with: a tensor, a value, a float, or an array of floats."""
    if isinstance(thing, (Tensor, Value, float)):
        return thing
    if is_real_scalar(thing):
        return float(thing)
    if hasattr(thing, "recorded_value"):  # a condition, while recording
        return thing.recorded_value
    if isinstance(thing, (list, tuple)) and any(map(in_graph, thing)):
        return do.stacked(thing)
    if isinstance(thing, (str, bytes, complex, dict, set)) or thing is None:
        raise TensorError.operand(op, thing)
    try:
        return floats(thing, op)
    except TypeError:
        raise TensorError.operand(op, thing) from None


class StandIn:
    """Stands for an operand while a call is traced: see ``tracing.py``."""

    writer: Any


class Doing:
    """Carries out rows by their names; see the module.

    >>> import retrograde as rg
    >>> t = rg.Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> do("sum", t, axis=0).data
    array([4., 6.])
    """

    def __call__(self, name: str, *operands: Any, **arguments: Any) -> Any:
        """One row; split gives a list, every other row one result."""
        if not arguments and name in _MAPS and _COMPUTED.issuperset(map(type, operands)):
            return _MAPS[name](*operands)
        found = known(name, operands, arguments)
        if found is not NotImplemented:
            return found
        if (trace := _trace_of(operands)) is not None:
            return trace(name, *operands, **arguments)
        row = ARRAYS[name]
        given = [operand(it, name) for it in operands]
        if not any(map(in_graph, given)):
            return _fitting(name, given, lambda: _plain(numeric(name, *given, **arguments)))
        if isinstance(row, Composed):
            return _fitting(name, given, lambda: row.make(self, *given, **arguments))
        if name in OPS and not any(map(axes_of, given)):
            return getattr(elementwise, name)(*given)
        wholes = {key: _wholes(arguments.pop(key), name) for key in row.wholes if key in arguments}
        return self.node(name, given, wholes, arguments)

    def node(
        self, name: str, operands: Sequence[Any], wholes: dict[str, Any], arguments: dict[str, Any]
    ) -> Any:
        """A node of a stated or implicit row."""
        if (trace := _trace_of(operands)) is not None:
            return trace.node(name, operands, wholes, arguments)
        made = self.bound(name, operands, wholes, arguments)
        try:
            counted = follow(wholes, made.counted(wholes)) if wholes else {}
            return core.array(made, tuple(operands), counted)
        except IndexError as error:
            raise TensorIndexError.of(f"{name}: {error}", operands[0]) from None
        except (ValueError, np.linalg.LinAlgError) as error:
            if isinstance(error, FitError):
                raise
            raise FitError.of(
                f"{name}: {error}".replace(f"{name}: {name}", name), operands
            ) from None

    def bound(
        self, name: str, operands: Sequence[Any], wholes: dict[str, Any], arguments: dict[str, Any]
    ) -> Bound:
        """A row on the shapes of operands."""
        shapes = [_shape(it) for it in operands]
        named = {key: it.shape for key, it in wholes.items()}
        try:
            return bound(name, shapes, named, **arguments)
        except ValueError as error:
            raise FitError.of(str(error), operands) from None
        except IndexError as error:
            raise TensorIndexError.of(str(error), operands[0]) from None

    def stacked(self, parts: Sequence[Any], axis: int = 0) -> Any:
        """Parts along a new axis; many of them group by group, so that no node is too wide."""
        if len(parts) <= WIDEST:
            return self("stack", *parts, axis=axis)
        groups = [parts[start : start + WIDEST] for start in range(0, len(parts), WIDEST)]
        return self.joined([self("stack", *group, axis=axis) for group in groups], axis)

    def joined(self, parts: Sequence[Any], axis: int = 0) -> Any:
        """Parts one behind the other along an axis, group by group."""
        while len(parts) > WIDEST:
            groups = [parts[start : start + WIDEST] for start in range(0, len(parts), WIDEST)]
            parts = [self("concatenate", *group, axis=axis) for group in groups]
        return self("concatenate", *parts, axis=axis)

    # ---- what compositions ask for -------------------------------------------------------------

    def shape(self, it: Any) -> Shape:
        """The shape of an operand."""
        return _shape(it)

    def fill(self, shape: Shape, number: float) -> Any:
        """An array of one number."""
        return np.full(shape, float(number)) if shape else float(number)

    def stop(self, it: Any) -> Any:
        """The same numbers, through which no gradient passes."""
        if isinstance(it, Tensor):
            return _TENSOR_DETACH(it)
        return _VALUE_DETACH(it) if isinstance(it, Value) else it

    # ---- indexing ------------------------------------------------------------------------------

    def index(self, x: Any, key: Any) -> Any:
        """``x[key]`` as in NumPy: basic, by whole numbers, by masks."""
        entries, wholes = self.key(x, key)
        return self.node("index", [x], wholes, {"key": entries})

    def add_at(self, x: Any, key: Any, y: Any) -> Any:
        """x with y added at ``x[key]``; a place named twice receives twice."""
        entries, wholes = self.key(x, key)
        return self.node("add_at", [x, operand(y, "add_at")], wholes, {"key": entries})

    def put(self, x: Any, key: Any, y: Any) -> Any:
        """x with ``x[key]`` replaced by y; of a place named twice the last one stays."""
        name, wholes, arguments = self.putting(x, key)
        return self.node(name, [x, operand(y, "put")], wholes, arguments)

    def putting(self, x: Any, key: Any) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """The row that replaces ``x[key]``, its whole numbers and its arguments."""
        entries, wholes = self.key(x, key)
        if is_one_place(entries):
            return "put_at", wholes, {"count": len(entries)}
        refuse(wholes, "writing at places")
        try:
            places, at, lengths, selection = located(x.shape, entries)
        except IndexError as error:
            raise TensorIndexError.of(f"put: {error}", x) from None
        except ValueError as error:
            raise FitError.of(f"put: {error}", [x]) from None
        written = moved(places, Array("y")[tuple(at)], lengths)
        in_order = replace(written, loops=tuple(lengths.items()))  # so that the last one stays
        turns = Statement((in_order,), x.shape)
        order = np.arange(1.0, np.prod(selection) + 1.0).reshape(selection)
        counted = _counted(turns, x, wholes)
        writer = carried_out(turns, {**counted, "y": order}) - 1.0
        return "put", {"w": writer.astype(np.intp)}, {"selection": selection}

    def key(self, x: Any, key: Any) -> Any:
        """A key with its arrays named."""
        try:
            return named_key(key, x.shape)
        except TensorIndexError:
            raise
        except IndexError as error:
            raise TensorIndexError.of(str(error), x) from None

    # ---- whole numbers found by looking ----------------------------------------------------------

    def choice(self, by: str, x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        """``argmax``, ``argmin`` or ``argsort`` as in NumPy: whole numbers, without a gradient."""
        if in_graph(x) and needs_tensors():
            return self._places(by, x, axis, keepdims)
        data = np.asarray(x.data if in_graph(x) else floats(x, by))
        flat = data.reshape(-1) if axis is None else data
        try:
            (one,) = normal_axes(0 if axis is None else axis, max(1, flat.ndim))
            (found,) = choose(Chosen(("m",), by, "x", (one,)), flat.reshape(flat.shape or (1,)))
        except (ValueError, IndexError) as error:
            raise FitError.of(f"{by}: {error}", [x]) from None
        if keepdims:
            shape = (1,) * data.ndim if axis is None else _kept(data.shape, one)
            return found.reshape(shape)
        return found if np.ndim(found) else int(found)

    def found(self, looking: Any) -> Places:
        """While recording, the places that a node finds along one axis, in every call."""
        row = core.array_row(looking)
        assert row is not None, "a node on arrays"
        (name,) = row[0].found
        return Places(Found(looking, name, row[0].reach(name)), row[1][name])

    def _places(self, by: str, x: Any, axis: int | None, keepdims: bool) -> Indices:
        """The same while recording."""
        of = x if axis is not None else self("reshape", x, shape=(x.size,))
        found = self.found(self(_LOOKING[by], of, axis=0 if axis is None else axis))
        if not keepdims:
            return found
        (one,) = normal_axes(0 if axis is None else axis, of.ndim)
        return found.reshape((1,) * x.ndim if axis is None else _kept(x.shape, one))


_LOOKING = {"argmax": "max", "argmin": "min", "argsort": "sort"}
"""The rows that look for places."""


def _trace_of(operands: Sequence[Any]) -> Any:
    """Who writes down rows on stand-ins; None for operands."""
    return next((it.writer for it in operands if isinstance(it, StandIn)), None)


def axes_of(it: Any) -> int:
    """How many axes an operand has; np.ndim would ask a tensor the long way round."""
    return int(getattr(it, "ndim", 0))


def _kept(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], 1, *shape[axis + 1 :])


def _shape(it: Any) -> Shape:
    return () if isinstance(it, float) else it.shape


def _plain(found: Any) -> Any:
    """What plain operands gave: arrays, and floats in the place of arrays without axes."""
    if isinstance(found, list):
        return [_plain(part) for part in found]
    return found if np.ndim(found) else float(found)


def _fitting(name: str, operands: Sequence[Any], run: Any) -> Any:
    """What a composition gives; the refusals of its steps are those of the whole."""
    try:
        return run()
    except (FitError, TensorIndexError):
        raise
    except IndexError as error:
        raise (
            TensorIndexError.of(str(error), operands[0]) if in_graph(operands[0]) else error
        ) from None
    except (ValueError, np.linalg.LinAlgError) as error:
        raise FitError.of(str(error), operands) from None


def _wholes(numbers: Any, name: str) -> Any:
    """Whole numbers as an array; anything else is refused."""
    if in_graph(numbers):
        raise TensorIndexError.kind(numbers)
    if isinstance(numbers, Indices):
        return numbers.tracked()
    array = np.asarray(numbers)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.intp)
    if array.dtype.kind not in "iu":
        raise NumberError.wholes(name, numbers)
    return array.astype(np.intp, copy=False)


def _counted(turns: Statement, x: Any, wholes: dict[str, Any]) -> dict[str, Any]:
    """Whole numbers that pick places of what is made, counted from the front."""
    row = Bound("put", turns, ("y",), ((),))
    try:
        return row.counted(wholes)
    except IndexError as error:
        raise TensorIndexError.of(f"put: {error}", x) from None


do = Doing()

belongs_to_caller(sys.modules[__name__], Doing, composed, implicit)
belongs_to_caller(sys.modules[bound.__module__], Bound, Numeric)
