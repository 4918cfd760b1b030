"""What is answered of Jacobians and Hessians of functions on tensors, with and without rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .arguments import Taken, plain_of
from .row_calls import Block, Part, RowCall
from .traces import Family, Trace
from .units import Units

Parts = Callable[[Taken], tuple[Family, list[Part]]]


class UnitAnswers:
    """Jacobians and Hessians; ``parts`` leads a call to its traces."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def jacobian(self, taken: Taken, chosen: Sequence[int], bare: bool) -> Any:
        """The gradients of every output, in the outputs' nest."""
        family, parts = self._parts(taken)
        outputs = family.traces[0].outputs
        numbers = _numbers(taken, chosen)
        program = family.traces[0].program
        shapes = [program.shapes[number] for number in program.outputs]
        found = [self._empty(taken, numbers, shape) for shape in shapes]
        for part in parts:
            for block, units, leaves in _blocks(taken, part, numbers):
                for place, arrays in enumerate(found):
                    _write(arrays, block, units.jacobian(place, leaves))
        return outputs.filled([taken.nested(chosen, bare, numbers, it) for it in found])

    def hessian(
        self, taken: Taken, chosen: Sequence[int], bare: bool, check: Callable[[Trace], None]
    ) -> Any:
        """By argument and argument: the second derivatives."""
        _, parts = self._parts(taken)
        for part in parts:
            check(part.trace)
        numbers = _numbers(taken, chosen)
        found = [self._empty(taken, numbers, _shape(taken, number)) for number in numbers]
        for part in parts:
            for block, units, leaves in _blocks(taken, part, numbers):
                for arrays, made in zip(found, units.hessian(leaves)):
                    _write(arrays, block, made)
        nests = [tuple(map(plain_of, row)) for row in found]
        return nests[0][0] if bare else tuple(nests)

    def _empty(self, taken: Taken, numbers: Sequence[int], shape: Sequence[int]) -> list[Any]:
        front = () if taken.rows is None else (taken.rows,)
        return [np.empty((*front, *shape, *_shape(taken, number))) for number in numbers]


def _numbers(taken: Taken, chosen: Sequence[int]) -> list[int]:
    return [number for argument in chosen for number in taken.leaves_of(argument)]


def _shape(taken: Taken, number: int) -> tuple[int, ...]:
    """The shape of a leaf in one row."""
    return tuple(np.shape(taken.leaves[number])[taken.varies[number] :])


def _blocks(
    taken: Taken, part: Part, numbers: Sequence[int]
) -> Iterator[tuple[Block | None, Units, list[Any]]]:
    """The rows of a part, block by block; one without a block where there are no rows."""
    if taken.rows is None:
        yield None, Units(part.trace, numbers, None, {}), taken.leaves
        return
    call = RowCall(taken)
    for block in part.blocks(call.varying):
        yield block, Units(part.trace, numbers, block.count, call.varying), call.leaves(block)


def _write(arrays: Sequence[Any], block: Block | None, made: Sequence[Any]) -> None:
    for array, it in zip(arrays, made):
        if block is None:
            array[...] = it
        else:
            array[block.where] = it
