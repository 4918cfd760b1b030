"""Jacobians and Hessians: one gradient, or one product with the Hessian, for every unit vector.

The unit vectors are rows of their own: what depends on them gets one more axis in front, and all
else is computed once for as many of them as run together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from .adjoint import with_gradients, with_products
from .program import ARGUMENT, Builder, Input, Program, Shape
from .row_runs import BLOCK, kept
from .rowwise import numbers_of, over_rows
from .runs import Run, inputs_of
from .traces import Trace


class Units:
    """The derivatives of a trace by some arguments; ``varying`` are those with an entry a row, and
    ``rows`` how many rows run at once, None where there are none."""

    def __init__(
        self, trace: Trace, numbers: Sequence[int], rows: int | None, varying: Mapping[int, int]
    ) -> None:
        self.trace, self.numbers, self.rows, self.varying = trace, tuple(numbers), rows, varying
        program = trace.program
        self.ids = inputs_of(program, ARGUMENT, numbers)
        self.shapes: list[Shape] = [program.shapes[number] for number in self.ids]

    def jacobian(self, output: int, leaves: list[Any]) -> list[Any]:
        """The gradients of every number of an output: by argument, with rows, then the axes of the
        output, in front."""
        program = self.trace.program
        shape = program.shapes[program.outputs[output]]

        def made(base: Program, wrt: list[int], first: int) -> tuple[Program, list[int]]:
            root = base.outputs[output]
            seed = Builder(base).input(Input(ARGUMENT, "unit", first), base.shapes[root])
            return with_gradients(base, root, wrt, seed)

        found = self._over(("jacobian", output), [shape], made, leaves)
        return [self._folded(it, shape, own) for it, own in zip(found, self.shapes)]

    def hessian(self, leaves: list[Any]) -> list[list[Any]]:
        """By argument and argument: the second derivatives."""

        def made(base: Program, wrt: list[int], first: int) -> tuple[Program, list[int]]:
            return with_products(base, base.outputs[0], wrt, first)

        found = self._over(("hessian",), self.shapes, made, leaves)
        ends = np.cumsum([prod(shape) for shape in self.shapes]).tolist()
        begins = [0, *ends[:-1]]
        return [
            [
                self._folded(it[begin:end], own, other)
                for it, other in zip(found, self.shapes)
            ]
            for own, begin, end in zip(self.shapes, begins, ends)
        ]  # fmt: skip

    def _folded(self, found: Any, own: Shape, other: Shape) -> Any:
        """Unit vectors in front → rows in front, then the axes of what they are units of."""
        if self.rows is None:
            return found.reshape((*own, *other))
        return np.moveaxis(found, 0, 1).reshape((self.rows, *own, *other))

    def _over(
        self,
        key: tuple[Any, ...],
        shapes: Sequence[Shape],
        make: Callable[[Program, list[int], int], tuple[Program, list[int]]],
        leaves: list[Any],
    ) -> list[Any]:
        """What every unit vector over arrays of these shapes gives, one behind the other."""
        total = sum(map(prod, shapes))
        parts: list[list[Any]] = [[] for _ in self.shapes]
        for vectors, count in self._vectors(shapes, total):
            run = self._run((*key, count), count, shapes, make)
            for part, it in zip(parts, run([*leaves, *vectors], self.trace.captured)):
                part.append(it)
        front: Shape = () if self.rows is None else (self.rows,)
        return [
            np.concatenate(part) if part else np.zeros((0, *front, *shape))
            for part, shape in zip(parts, self.shapes)
        ]

    def _vectors(self, shapes: Sequence[Shape], total: int) -> Iterator[tuple[list[Any], int]]:
        """Unit vectors, as many at once as fit a cache with what they make."""
        one = max(1, numbers_of(self.trace.program, range(self.trace.arguments)))
        most = max(1, min(total, BLOCK // (one * (self.rows or 1))))
        for first in range(0, total, most):
            count = min(most, total - first)
            flat = np.eye(count, total, first)
            vectors, begin = [], 0
            for shape in shapes:
                own = flat[:, begin : begin + prod(shape)].reshape(count, *shape)
                if self.rows is not None:
                    own = np.broadcast_to(own[:, None], (count, self.rows, *shape))
                vectors.append(np.ascontiguousarray(own))
                begin += prod(shape)
            yield vectors, count

    def _run(
        self, key: Any, count: int, shapes: Sequence[Shape],
        make: Callable[[Program, list[int], int], tuple[Program, list[int]]],
    ) -> Run:  # fmt: skip
        trace = self.trace

        def made() -> Run:
            base, wrt = trace.program.copy(), self.ids
            if self.rows is not None:
                spread = [number for number in self.ids if not self._differs(number)]
                base, ids = over_rows(trace.program, self.rows, self.varying, spread)
                wrt = [ids[number] for number in self.ids]
            full, found = make(base, wrt, trace.arguments)
            full.outputs, full.guards = found, []  # the way was found before
            sizes = {
                trace.arguments + place: prod(shape) * (self.rows or 1)
                for place, shape in enumerate(shapes)
            }
            wide = over_rows(full, count, sizes)[0]
            return Run.of(trace, wide, len(shapes))

        return kept(trace, (*key, self.numbers, self.rows), made)

    def _differs(self, number: int) -> bool:
        return self.trace.program.inputs[number].number in self.varying
