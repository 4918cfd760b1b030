"""Operands that are neither values nor plain numbers: scalars of other libraries, arrays, mistakes.

Both cores come here off the fast path.
"""

from __future__ import annotations

import numbers
import operator
from typing import Any

from ..errors import OperandError
from ..ops import OPS

COMPARISONS = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)
"""In the order of CPython's Py_LT … Py_GE."""

HOPELESS = (str, bytes, complex, list, tuple, dict, set, type(None))
"""Types no reflected operator of another class will make sense of."""


def is_real_scalar(thing: object) -> bool:
    """Whether a foreign scalar counts as a real number: NumPy scalars and 0-d arrays, fractions."""
    if isinstance(thing, (float, int)):
        return True
    kind = getattr(getattr(thing, "dtype", None), "kind", None)
    if kind is not None:
        return kind in "biuf" and getattr(thing, "ndim", 1) == 0
    return isinstance(thing, numbers.Real)


def is_array(thing: object) -> bool:
    """Whether something is an array with at least one axis."""
    return hasattr(thing, "__array__") and getattr(thing, "ndim", 0) > 0


def other_operand(op: str, operands: tuple[Any, ...]) -> Any:
    """What an op does with an operand that is neither value nor number.

    Arrays are taken element by element; known mistakes raise; anything else is left to the other
    operand's class.
    """
    if OPS[op].inputs[0] == "condition" and hasattr(operands[0], "recorded_value"):
        from .._values import elementwise

        return getattr(elementwise, op)(operands[0].recorded_value, *operands[1:])
    if any(is_array(operand) for operand in operands):
        from .._values import elementwise

        for operand in operands:
            if hasattr(operand, "computed"):
                return operand.computed(getattr(elementwise, op), operands)
        return over_arrays(getattr(elementwise, op), operands)
    for operand in operands:
        if isinstance(operand, HOPELESS):
            raise OperandError.of(op, operand)
    return NotImplemented


def other_comparison(left: Any, right: Any, symbol: int) -> Any:
    """Comparisons of a value with something else: arrays element by element, None never."""
    compare = COMPARISONS[symbol]
    if is_array(right) and not hasattr(right, "computed"):  # a sequence compares by itself
        return over_arrays(compare, (left, right)).astype(bool)
    if right is None and compare in (operator.eq, operator.ne):
        return compare is operator.ne
    return NotImplemented


def over_arrays(function: Any, operands: tuple[Any, ...]) -> Any:
    """Apply a function element by element, NumPy's rules for shapes, to an object array."""
    import numpy as np

    boxed = []
    for operand in operands:
        if not is_array(operand):
            box = np.empty((), dtype=object)
            box[()] = operand
            operand = box
        boxed.append(operand)
    return np.frompyfunc(function, len(boxed), 1)(*boxed)


def indexed(value: Any, index: Any) -> Any:
    """``value[index]``: ``v[None]`` is a tensor of one number; while recording, a sequence."""
    axes = index if isinstance(index, tuple) else (index,)
    if any(axis is not None and axis is not ... for axis in axes):
        raise OperandError.index()
    return reshaped(value, (1,) * axes.count(None))


def reshaped(value: Any, shape: tuple[int, ...]) -> Any:
    """A value along axes of length 1: a tensor; while recording, a sequence that computes."""
    from .._tensors.doing import do
    from .._values.sequences import sequence
    from ..value import core

    if core.in_recording():
        return sequence([value], (1,)).reshape(*shape) if shape else value
    return do("reshape", value, shape=shape) if shape else value


def of_tensors(function: str, operands: tuple[Any, ...]) -> Any:
    """``rg.sum`` and ``rg.dot`` where an operand is a tensor: both cores come here."""
    from .._tensors.doing import do

    return do(function, *operands)


def over_numpy(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The first function of NumPy's that meets a value: what answers them is loaded by it."""
    from .._values.protocols import array_ufunc

    return array_ufunc(ufunc, method, inputs, options)
