"""Plans over rows that lie on the device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import PrintingError, TakeError
from ...program.replay import CHUNK, Part
from .code import Code
from .driver import DeviceFullError, Driver

if TYPE_CHECKING:
    from .backend import Cuda

PACKED_STRIDE = 8


@dataclass
class Kept:
    """What is kept about some rows while kernels run: columns that are added up, the memory of
    rows, whether any left the trace and at which guard; addresses in one piece of memory."""

    buffer: Any
    sums: int
    tape: int
    failed: int
    left: int

    @classmethod
    def of(cls, driver: Driver, code: Code, reduced: int, rows: int) -> Kept:
        """Room for so many rows."""
        tape, guards = code.program.tape * rows, (rows + 1) // 2 + 1
        guards = guards if code.program.is_guarded else 0
        total = reduced * rows + tape + guards
        if not total:
            return cls(None, 0, 0, 0, 0)
        buffer = driver.buffer(total)
        first = buffer.address
        at = first + 8 * (reduced * rows + tape)
        failed, left = (at + 8, at) if guards else (0, 0)
        return cls(buffer, first, first + 8 * reduced * rows, failed, left)


def places_of(columns: Any, outputs: Sequence[tuple[int, int]], arrays: Any) -> tuple[Any, bool]:
    """What kernels are told of their columns; whether those are packed."""
    table = np.array([*map(tuple, columns), *outputs], dtype=np.int64).reshape(-1, 2)
    listed = np.array(arrays, dtype=np.int64).reshape(-1)
    return np.concatenate([table.reshape(-1), listed]), bool((table[:, 1] == PACKED_STRIDE).all())


def outputs_of(
    part: Part, stored: Sequence[tuple[int, int]], sums: int, rows: int, first: int
) -> list[tuple[int, int]]:
    """Where every output goes: the stored ones into their columns, the others side by side."""
    given, places = iter(stored), []
    reduced = 0
    for what, _ in part.ready.plan.outputs:
        if what == "reduce":
            places.append((sums + 8 * (reduced * rows - first), PACKED_STRIDE))
            reduced += 1
        else:
            place = next(given)
            places.append((int(place[0]), int(place[1])))
    return places


def pieces(rows: int, most: int) -> list[tuple[int, int]]:
    """Rows in pieces of whole chunks."""
    size = max(most // CHUNK, 1) * CHUNK
    return [(first, min(first + size, rows)) for first in range(0, rows, size)]


class OnDevice:
    """Runs the plans of one function over columns on the device."""

    def __init__(self, cuda: Cuda) -> None:
        self.cuda = cuda
        self.driver = cuda.driver

    def run(self, parts: Sequence[Part], inputs: Any, outputs: Any, threads: int) -> None:
        """Run parts; ``inputs`` and ``outputs`` are arrays of (address, stride) on the device."""
        for part in parts:
            if part.rows:
                self.run_with(self.cuda.code(part.ready), part, inputs, outputs)

    def run_with(self, code: Code, part: Part, inputs: Any, outputs: Any) -> None:
        """Run one part, in as many pieces as memory asks for."""
        stream, held = self.driver.current(), list[Any]()
        columns, arrays = self._inputs(code, part, inputs, held, stream)
        index = None
        if part.index is not None:
            index = self.driver.buffer(part.rows)
            given = np.ascontiguousarray(part.index, dtype=np.int64)
            self.driver.copy(index.address, given.ctypes.data, given.nbytes, stream)
        size, done = part.rows, 0
        while done < part.rows:
            try:
                kept = Kept.of(self.driver, code, part.ready.plan.reduced, size)
            except DeviceFullError as error:
                if size <= CHUNK:
                    raise PrintingError.device_full(self.cuda.name, str(error)) from None
                size = max(size // 2 // CHUNK, 1) * CHUNK
                continue
            for first, last in pieces(part.rows - done, size):
                span = done + first, done + last
                self._piece(code, part, columns, arrays, outputs, kept, index, span, stream)
            done = part.rows
        if held or index is not None:
            self.driver.settle(stream)

    def _inputs(
        self, code: Code, part: Part, inputs: Any, held: list[Any], stream: Any
    ) -> tuple[Any, list[tuple[int, int, int]]]:
        """Where columns lie, and arrays of them."""
        program = code.program
        arrays = []
        for first, width in program.arrays:
            table = inputs[first : first + width]
            across = int(table[1, 0] - table[0, 0]) if width > 1 else PACKED_STRIDE
            even = (np.diff(table[:, 0]) == across).all() and (table[:, 1] == table[0, 1]).all()
            if even:
                arrays.append((int(table[0, 0]), int(table[0, 1]), across))
            else:
                arrays.append(self._together(table, part.rows, held, stream))
        return inputs[program.columns].reshape(-1, 2), arrays

    def _together(
        self, table: Any, rows: int, held: list[Any], stream: Any
    ) -> tuple[int, int, int]:
        """Columns that a loop runs through, copied to lie at equal distances."""
        if (table[:, 1] != PACKED_STRIDE).any():
            raise PrintingError.uneven(self.cuda.name)
        try:
            buffer = self.driver.buffer(len(table) * rows)
        except DeviceFullError as error:
            raise PrintingError.device_full(self.cuda.name, str(error)) from None
        for number, (start, _) in enumerate(table.tolist()):
            self.driver.copy(buffer.address + 8 * rows * number, start, 8 * rows, stream)
        held.append(buffer)
        return buffer.address, PACKED_STRIDE, 8 * rows

    def _piece(
        self,
        code: Code,
        part: Part,
        columns: Any,
        arrays: Any,
        outputs: Any,
        kept: Kept,
        index: Any,
        span: tuple[int, int],
        stream: Any,
    ) -> None:
        first, last = span
        rows, driver = last - first, self.driver
        reduced = part.ready.plan.reduced
        assert index is None or not reduced
        targets = outputs_of(part, outputs, kept.sums, rows, first)
        places, packed = places_of(columns, targets, arrays)
        left = np.zeros(2, np.int32)
        if kept.left:
            driver.copy(kept.left, left.ctypes.data, 8, stream)
        at = 0 if index is None else index.address + 8 * first
        given = (rows, first, at, kept.tape, rows, kept.failed, kept.left)
        code.launch(packed, places, part.uniforms, given, stream)
        held = None
        if reduced:
            chunks = part.sums[first // CHUNK : -(-last // CHUNK)]
            held = self.cuda.sums.run(kept.sums, rows, reduced, rows, chunks, stream)
        if kept.left:
            driver.copy(left.ctypes.data, kept.left, 8, stream)
        if reduced or kept.left:
            driver.settle(stream)
        del held
        if left[1]:
            raise TakeError.rows()
        if left[0] and len(part.failed):
            failed = part.failed[first:last]
            driver.copy(failed.ctypes.data, kept.failed, failed.nbytes, stream)
            driver.settle(stream)

    def scratch(self, count: int, rows: int) -> Scratch:
        """Columns of numbers that are added up later."""
        try:
            return Scratch(self, self.driver.buffer(count * rows), count, rows)
        except DeviceFullError as error:
            raise PrintingError.device_full(self.cuda.name, str(error)) from None


class Scratch:
    """Columns on the device."""

    def __init__(self, machine: OnDevice, buffer: Any, count: int, rows: int) -> None:
        self._machine, self._buffer = machine, buffer
        self._count, self._rows = count, rows
        self.address, self.apart = buffer.address, 8 * rows

    def summed(self, threads: int) -> Any:
        """The columns added up as every reduction does, chunk by chunk."""
        found = np.zeros((-(-self._rows // CHUNK), self._count))
        stream = self._machine.driver.current()
        if found.size:
            sums = self._machine.cuda.sums
            held = sums.run(self.address, self._rows, self._count, self._rows, found, stream)
            self._machine.driver.settle(stream)
            del held
        return found
