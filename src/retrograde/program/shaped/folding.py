"""Maps that need no step: constants computed when the plan is made, and rows that change nothing.

Slopes of the law choose between forms that keep their digits. Where an operand is constant, as the
exponent of a power mostly is, most of these choices are made here once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.arrays.programs import NUMBERS
from ...value import native_core
from .steps import Operand, Shape

MOST = 1 << 16
"""Numbers of a box up to which constants are computed in advance."""

_CONDITIONS = frozenset((NUMBERS["less"], NUMBERS["less_equal"], NUMBERS["equal"]))
_MUL, _MAXIMUM, _WHERE = NUMBERS["mul"], NUMBERS["maximum"], NUMBERS["where"]


class Folding:
    """What is known of roots: their numbers where they are constant, and whether they are 0 or 1.

    ``made`` is asked for the root of new constants.
    """

    def __init__(self, made: Callable[[Any], int]) -> None:
        self._made = made
        self.constants: dict[int, Any] = {}
        self._every: dict[int, float] = {}
        self._conditions: set[int] = set()

    def constant(self, root: int, array: Any) -> None:
        """A root that has the same numbers in every call."""
        self.constants[root] = array
        first = float(array.flat[0]) if array.size else 1.0
        if bool(np.all(array == first)) and (first != 0.0 or not np.signbit(array).any()):
            self._every[root] = first
        if bool(np.all((array == 0.0) | (array == 1.0))):
            self._conditions.add(root)

    def map(self, op: int, args: tuple[Operand, ...], box: Shape) -> Operand | None:
        """What a row comes to without a step; None where there has to be one."""
        if op == _MUL:
            for one, other in (args, args[::-1]):
                if self._every.get(one.root) == 1.0:
                    return other
                if self._every.get(one.root) == 0.0 and other.root in self._conditions:
                    return one
        elif op == _MAXIMUM and all(it.root in self._conditions for it in args):
            for one, other in (args, args[::-1]):
                if self._every.get(one.root) == 1.0:
                    return one
                if self._every.get(one.root) == 0.0:
                    return other
        elif op == _WHERE:
            condition, then, otherwise = args
            known = self._every.get(condition.root)
            if known is not None:
                return otherwise if known == 0.0 else then
            if then == otherwise:
                return then
        if all(it.root in self.constants for it in args) and _size(args, box) <= MOST:
            return self._computed(op, args, box)
        return None

    def note(self, op: int, root: int, args: tuple[Operand, ...]) -> None:
        """A step was made: whether its result is 0 or 1 everywhere."""
        both = all(it.root in self._conditions for it in args)
        if op in _CONDITIONS or (op in (_MUL, _MAXIMUM) and both):
            self._conditions.add(root)

    def _computed(self, op: int, args: tuple[Operand, ...], box: Shape) -> Operand:
        """Constants, computed by the kernels that would compute them in every call."""
        axes = [axis for axis in range(len(box)) if any(it.steps[axis] for it in args)]
        small = tuple(box[axis] for axis in axes)  # along the others it is the same
        out = np.empty(small)
        operands = tuple(
            np.lib.stride_tricks.as_strided(
                self.constants[it.root].reshape(-1)[it.offset :],
                small,
                [8 * it.steps[axis] for axis in axes],
            )
            for it in args
        )
        native_core.array_map(op, out, operands)
        root = self._made(out)
        own = iter(_strides(small))
        steps = tuple(next(own) if axis in axes else 0 for axis in range(len(box)))
        return Operand(root, 0, steps)


def _size(args: tuple[Operand, ...], box: Shape) -> int:
    size = 1
    for axis, length in enumerate(box):
        if any(it.steps[axis] for it in args):
            size *= length
    return size


def _strides(shape: Shape) -> list[int]:
    found, step = [], 1
    for length in reversed(shape):
        found.append(step)
        step *= length
    return found[::-1]
