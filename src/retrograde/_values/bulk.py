"""Whole nests of values at once: gradients to zero, numbers in and out of NumPy arrays.

A nest is a value, or a list, tuple or dict of nests; an object with ``parameters()`` stands for
the list it returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._shared.arrays import floats
from .._shared.numerics import np
from ..errors import LeafError, NotAValueError, NumberError, ShapeError
from ..tensor import Tensor, in_graph
from ..value import Value, core
from .nests import leaves, parts
from .sequences import ComputingSequence

Nest = Any

_LEAVES = {Value, Tensor}

DEEPEST = 16
"""How many lists may stand inside each other in a bulk transfer."""


def values_in(nest: Nest, where: str) -> list[Value]:
    """Every value and tensor of a nest, in order."""

    def held(part: Any) -> Sequence[Any] | None:
        if isinstance(part, Tensor):
            return None
        found = parts(part)
        if found is not None:
            return found
        if callable(getattr(part, "parameters", None)):
            return list(part.parameters())
        raise NotAValueError.of(where, part)

    return leaves(nest, held)


def zero_grad(target: Nest) -> None:
    """Set gradients to zero: of a list, of a module's parameters, of everything under a value.

    >>> import retrograde as rg
    >>> x = rg.Value(3.0)
    >>> (x * x).backward(); x.grad
    6.0
    >>> rg.zero_grad([x]); x.grad
    0.0
    """
    if in_graph(target):
        core.zero_under((target,))
        return
    plain = type(target) is list and _LEAVES.issuperset(map(type, target))
    found = target if plain else values_in(target, "zero_grad")
    tensors = [it for it in found if isinstance(it, Tensor)]
    if len(tensors) < len(found):
        core.zero([it for it in found if isinstance(it, Value)])
    for tensor in tensors:
        tensor.grad = None


def freeze(target: Nest) -> None:
    """Have leaves take no gradient from now on: sets ``requires_grad = False``.

    >>> import retrograde as rg
    >>> w, x = rg.Value(2.0), rg.Value(3.0)
    >>> rg.freeze([w])
    >>> (w * x).backward(); w.grad, x.grad
    (0.0, 2.0)
    """
    _set_requires_grad(target, False, "freeze")


def unfreeze(target: Nest) -> None:
    """Undo :func:`freeze`."""
    _set_requires_grad(target, True, "unfreeze")


def _set_requires_grad(target: Nest, wanted: bool, where: str) -> None:
    values = values_in(target, where)
    for value in values:
        if value.op != "leaf":
            value.requires_grad = False  # raises, before anything was changed
    for value in values:
        value.requires_grad = wanted


def _as_lists(nest: Nest) -> Nest:
    """Lists all the way down: arrays and objects with ``parameters()`` are taken apart."""
    if isinstance(nest, (np.ndarray, ComputingSequence)):
        return nest.tolist()
    if isinstance(nest, (list, tuple)):
        if any(hasattr(part, "tolist") or hasattr(part, "parameters") for part in nest):
            return [_as_lists(part) for part in nest]
        return nest
    if callable(getattr(nest, "parameters", None)):
        return list(nest.parameters())
    return nest


def _shape(nest: Nest) -> tuple[int, ...]:
    """The shape of a rectangular nest, read along its first items."""
    shape: list[int] = []
    while isinstance(nest, (list, tuple)):
        shape.append(len(nest))
        if not nest:
            break
        if len(shape) == DEEPEST:
            raise ShapeError.nest((0,) * DEEPEST, nest)
        nest = nest[0]
    return tuple(shape)


def data(nest: Nest) -> Any:
    """The numbers of a nest as a float64 array of its shape; a dict gives a dict of arrays, a list
    of tensors a list of them.

    >>> import retrograde as rg
    >>> rg.data([[rg.Value(1.0), rg.Value(2.0)], [rg.Value(3.0), rg.Value(4.0)]])
    array([[1., 2.],
           [3., 4.]])
    """
    return _read(nest, core.read_data)


def grads(nest: Nest) -> Any:
    """The gradients of a nest as a float64 array of its shape; a dict gives a dict of arrays.

    >>> import retrograde as rg
    >>> x, y = rg.Value(2.0), rg.Value(5.0)
    >>> (x * y).backward()
    >>> rg.grads([x, y])
    array([5., 2.])
    """
    return _read(nest, core.read_grad)


def _read(nest: Nest, read: Any) -> Any:
    if isinstance(nest, Mapping):
        return {key: _read(part, read) for key, part in nest.items()}
    if isinstance(nest, Tensor):
        return np.array(nest.data if read is core.read_data else nest.grad)
    nest = _as_lists(nest)
    if _holds_tensors(nest):
        return [_read(part, read) for part in nest]
    array = np.empty(_shape(nest))
    read(nest, array)
    return array


def assign(nest: Nest, numbers: Any) -> None:
    """Set the data of a nest from an array of its shape, or a dict of them; all or nothing.

    >>> import retrograde as rg
    >>> w = [rg.Value(0.0), rg.Value(0.0)]
    >>> rg.assign(w, [0.5, -0.5])
    >>> w
    [Value(data=0.5, grad=0.0), Value(data=-0.5, grad=0.0)]
    """
    for part, array in _pairs(nest, numbers):
        if isinstance(part, Tensor):
            core.write_tensor(part, array)
        else:
            core.write_data(part, array)


def _holds_tensors(nest: Nest) -> bool:
    """Whether a list holds tensors: its parts are then read one by one."""
    return isinstance(nest, (list, tuple)) and any(
        isinstance(part, (Tensor, Mapping)) or _holds_tensors(part) for part in nest
    )


def _pairs(nest: Nest, numbers: Any) -> Sequence[tuple[Nest, Any]]:
    """Nests with the arrays that go into them, every one checked before any is written."""
    if isinstance(nest, Tensor):
        array = floats(numbers, "assign")
        if nest.op != "leaf":
            raise LeafError.tensor_data(nest)
        if array.shape != nest.shape:
            raise ShapeError.assign(nest.shape, array.shape)
        return [(nest, array)]
    if isinstance(nest, Mapping):
        if not isinstance(numbers, Mapping) or nest.keys() != numbers.keys():
            raise ShapeError.keys(nest, numbers)
        return [pair for key in nest for pair in _pairs(nest[key], numbers[key])]
    nest = _as_lists(nest)
    if _holds_tensors(nest):
        if not isinstance(numbers, (list, tuple, np.ndarray)) or len(numbers) != len(nest):
            raise ShapeError.parts(len(nest), numbers)
        return [pair for part, each in zip(nest, numbers) for pair in _pairs(part, each)]
    given = np.asarray(numbers)
    if given.dtype.kind not in "biuf":
        raise NumberError.of("assign: every number", numbers)
    array = np.ascontiguousarray(given, dtype=np.float64).reshape(given.shape)
    if _shape(nest) != array.shape:
        raise ShapeError.assign(_shape(nest), array.shape)
    core.read_grad(nest, np.empty(array.shape))  # a rehearsal: raises where the nest is ragged
    return [(nest, array)]
