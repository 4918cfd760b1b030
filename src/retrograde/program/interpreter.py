"""The executor in plain Python: programs run instruction by instruction, over columns of floats.

It is the oracle of the native executor, and what replays where there is none: slowly, with the
bits of the reference core. A number that is the same for all rows is a float, any other a list with
one float a row; a value is dropped after its last use. Reductions are added as the native executor
adds them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from ctypes import c_char
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import repeat
from operator import add, mul
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from ..errors import TakeError
from ..ops import OPS
from ..ops.structural import DOT, SUM, TAKE
from .program import CAPTURED, CHOICE, CONSTANT, ROW, SEED, Input, Instruction, Program

if TYPE_CHECKING:
    from .replay import Part

CHUNK = 1024
"""Rows whose reduction is one number; native/replay.h has the same."""

Column = Union[float, list[float]]  # noqa: UP007
"""The same number for all rows, or a number a row."""


# ---- numbers -------------------------------------------------------------------------------------

_SPLIT = 2.0**27 + 1.0
_LEAST, _MOST = 1e-130, 1e150
"""Between these a product and its rounding error are floats."""


def fma(x: float, y: float, z: float) -> float:
    """x * y + z, rounded once."""
    if _LEAST < abs(x) < _MOST and _LEAST < abs(y) < _MOST and abs(z) < 1e300:
        product = x * y
        left, right = _SPLIT * x, _SPLIT * y
        left, right = left - (left - x), right - (right - y)
        low, more = x - left, y - right
        error = ((left * right - product) + left * more + low * right) + low * more
        return math.fsum((product, error, z)) or product + z  # the sign of a zero is IEEE 754's
    return _exact_fma(x, y, z)


def _exact_fma(x: float, y: float, z: float) -> float:
    if not (math.isfinite(x) and math.isfinite(y)):
        return x * y + z
    if not math.isfinite(z):
        return z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z if x * y == 0.0 else 0.0
    try:
        return float(exact) or math.copysign(0.0, exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _place(index: float, count: int) -> int:
    """Which of so many elements an index chooses; -1 where it is none of them."""
    return int(index) if 0.0 <= index < count and index == int(index) else -1


# ---- columns -------------------------------------------------------------------------------------


def each(function: Callable[..., float], *operands: Column) -> Column:
    """A function of numbers, row by row."""
    if not any([type(operand) is list for operand in operands]):
        return function(*operands)
    return list(map(function, *[x if type(x) is list else repeat(x) for x in operands]))


def _added(terms: Sequence[Column]) -> Column:
    """The terms added up in their order."""
    return reduce(lambda total, term: each(add, total, term), terms)


def _taken(elements: Sequence[Column], index: Column, gone: Sequence[bool]) -> Column:
    """One of the elements, chosen row by row; where a row is gone, any."""
    count = len(elements)
    if not isinstance(index, list):
        place = _place(index, count)
        if place < 0 and not (gone and all(gone)):
            raise TakeError.rows()
        return elements[max(place, 0)]
    found = []
    for row, wanted in enumerate(index):
        place = _place(wanted, count)
        if place < 0:
            if not (gone and gone[row]):
                raise TakeError.rows()
            place = 0
        chosen = elements[place]
        found.append(chosen[row] if isinstance(chosen, list) else chosen)
    return found


def _scattered(count: int, pairs: Sequence[Column]) -> list[Column]:
    """Upstreams added up where their indices say, one sum an element."""

    def handed(place: int) -> Callable[..., float]:
        return lambda total, index, up: total + up if _at(index, count) == place else total

    sums: list[Column] = [0.0] * count
    for index, upstream in zip(pairs[::2], pairs[1::2]):
        sums = [each(handed(place), total, index, upstream) for place, total in enumerate(sums)]
    return sums


def _at(index: float, count: int) -> int:
    return int(index) if 0.0 <= index < count else -1


def results_of(
    instruction: Instruction, operands: Sequence[Column], gone: Sequence[bool] = ()
) -> list[Column]:
    """What one instruction assigns; ``gone`` says which rows have failed a guard."""
    op, half = instruction.op, len(operands) // 2
    if op in OPS:
        return [each(OPS[op].evaluate, *operands)]
    if op == CHOICE:
        return [each(OPS["where"].evaluate, *operands)]
    if op == "fma":
        return [each(fma, *operands)]
    if op == "stop":
        return [operands[0]]
    if op == SUM.name:
        return [_added(operands)]
    if op == DOT.name:
        return [_added([each(mul, x, y) for x, y in zip(operands[:half], operands[half:])])]
    if op == TAKE.name:
        return [_taken(operands[:-1], operands[-1], gone)]
    assert op == "scatter", op
    return _scattered(len(instruction.results), operands)


def chunk_sum(column: Column, rows: int) -> float:
    """The rows of a chunk added up: lane l of eight takes rows l, l + 8, …"""
    lanes = [0.0] * 8
    for row, number in enumerate(column if isinstance(column, list) else repeat(column, rows)):
        lanes[row % 8] += number
    a, b, c, d, e, f, g, h = lanes
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


# ---- memory --------------------------------------------------------------------------------------


def _memory(address: int, stride: int, first: int, last: int) -> Any:
    """Rows ``first`` to ``last`` of a column as an array over its memory."""
    begins, ends = address + first * stride, address + (last - 1) * stride
    memory: Any = (c_char * (abs(ends - begins) + 8)).from_address(min(begins, ends))
    return np.ndarray((last - first,), np.float64, memory, max(begins - ends, 0), (stride,))


class _Rows:
    """Some rows of the columns of a call."""

    def __init__(self, index: Any, first: int, last: int) -> None:
        self.count = last - first
        if index is None:
            self.first, self.last, self.places = first, last, slice(None)
        else:
            rows = index[first:last]
            self.first, self.last = int(rows.min()), int(rows.max()) + 1
            self.places = rows - self.first

    def read(self, column: Any) -> list[float]:
        """A column as a list of floats."""
        address, stride = column.tolist()
        found: list[float] = _memory(address, stride, self.first, self.last)[self.places].tolist()
        return found

    def write(self, column: Any, numbers: Column) -> None:
        """A list of floats, or one for all rows, into a column."""
        address, stride = column.tolist()
        _memory(address, stride, self.first, self.last)[self.places] = numbers


# ---- runs ----------------------------------------------------------------------------------------


@dataclass
class _Code:
    """A program made ready: each instruction with what nobody needs after it, and the guards of
    each condition: their numbers and outcomes."""

    inputs: dict[int, Input]
    steps: list[tuple[Instruction, list[int]]]
    guards: dict[int, list[tuple[int, bool]]]

    @classmethod
    def of(cls, program: Program, kept: set[int]) -> _Code:
        guards: dict[int, list[tuple[int, bool]]] = {}
        for number, guard in enumerate(program.guards):
            guards.setdefault(guard.condition, []).append((number, guard.outcome))
        steps = []
        needed = set(kept)
        for instruction in reversed(program.instructions):
            own = {*instruction.args, *instruction.results}
            steps.append((instruction, list(own - needed)))
            needed |= own
        return cls(program.inputs, steps[::-1], guards)


class Interpreter:
    """Runs programs in plain Python; in one thread, however many are asked for."""

    lanes = CHUNK

    def evaluate(self, op: str, numbers: Sequence[float]) -> float:
        """A row of the law on numbers."""
        return OPS[op].evaluate(*numbers)

    def run(self, parts: Sequence[Part], inputs: Any, outputs: Any, threads: int) -> None:
        """Run parts one after another, chunk by chunk."""
        for part in parts:
            code = part.ready.code
            if code[0] is None:
                kept = {index for _, index in part.ready.plan.outputs}
                code[0] = _Code.of(part.ready.written, kept)
            for chunk, first in enumerate(range(0, part.rows, CHUNK)):
                last = min(first + CHUNK, part.rows)
                _Chunk(part, _Rows(part.index, first, last), chunk).run(code[0], inputs, outputs)


class _Chunk:
    """The rows of a part that are added up together."""

    def __init__(self, part: Part, rows: _Rows, number: int) -> None:
        self.part, self.rows, self.number = part, rows, number
        self.failed = [-1] * rows.count if part.ready.plan.guards else []
        self.gone = [False] * len(self.failed)
        self.numbers: dict[int, Column] = {}

    def run(self, code: _Code, inputs: Any, outputs: Any) -> None:
        for index, column in self._given(code, inputs):
            self.numbers[index] = column
            self._check(index, code)
        numbers = self.numbers
        for instruction, dying in code.steps:
            operands = [numbers[arg] for arg in instruction.args]
            for result, column in zip(
                instruction.results, results_of(instruction, operands, self.gone)
            ):
                numbers[result] = column
                self._check(result, code)
            for index in dying:
                del numbers[index]
        self._finish(outputs)

    def _given(self, code: _Code, inputs: Any) -> Iterator[tuple[int, Column]]:
        """The numbers that the program does not compute."""
        part, ready = self.part, self.part.ready
        columns = dict(zip(ready.plan.columns, ready.columns))
        captured = iter(part.uniforms.tolist())
        for index, given in code.inputs.items():
            if given.kind == CAPTURED:
                yield index, next(captured)
            elif given.kind == CONSTANT:
                yield index, given.number
            elif given.kind not in (ROW, SEED):
                yield index, float(part.numbers[index])
            elif index in columns:
                yield index, self.rows.read(inputs[columns[index]])

    def _check(self, condition: int, code: _Code) -> None:
        """The guards of a condition, as soon as it is known: rows remember the first they fail."""
        for number, outcome in code.guards.get(condition, ()):
            column = self.numbers[condition]
            for row, known in enumerate(self.failed):
                holds = (column[row] if isinstance(column, list) else column) != 0.0
                if holds != outcome and (known < 0 or known > number):
                    self.failed[row] = number
                    self.gone[row] = True

    def _finish(self, outputs: Any) -> None:
        """Store and add up what is asked for."""
        part, stored, reduced = self.part, 0, 0
        for what, index in part.ready.plan.outputs:
            if what == "store":
                self.rows.write(outputs[stored], self.numbers[index])
                stored += 1
            else:
                total = chunk_sum(self.numbers[index], self.rows.count)
                part.sums[self.number, reduced] = total
                reduced += 1
        if self.failed:
            first = self.number * CHUNK
            part.failed[first : first + self.rows.count] = self.failed
