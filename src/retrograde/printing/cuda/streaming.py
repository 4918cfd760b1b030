"""Plans over rows that lie on the host: piece by piece through pinned memory.

Two slots take turns: while the device computes one piece, the next is packed and copied, and the
one before is copied back. A few rows are quicker on the CPU, with the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import PrintingError, TakeError
from ...program.machines import ON_CPU
from ...program.replay import CHUNK, Part
from .code import Code
from .driver import DeviceFullError
from .running import PACKED_STRIDE, Kept, outputs_of, pieces, places_of

if TYPE_CHECKING:
    from .backend import Cuda

LEAST_ROWS = CHUNK
"""Rows that are worth a device."""
SLOT_NUMBERS = 4 * 1024 * 1024
"""Doubles that a slot copies to the device, or back, at most."""


class _View:
    """Numbers at an address, as NumPy takes them."""

    def __init__(self, address: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.__array_interface__ = {
            "version": 3, "typestr": "<f8", "data": (address, False), "shape": shape,
            "strides": strides,
        }  # fmt: skip


def _column(place: Any, first: int, rows: int) -> Any:
    """Rows of a column on the host, from ``first`` on."""
    address, stride = int(place[0]), int(place[1])
    return np.asarray(_View(address + first * stride, (rows,), (stride,)))


class Layout:
    """Where the columns and arrays of a piece lie in a slot, in numbers from its beginning.

    An array whose rows lie whole stays so, and is copied as it is.
    """

    def __init__(self, code: Code, inputs: Any) -> None:
        program = code.program
        self.columns = inputs[program.columns].reshape(-1, 2)
        self.arrays = [inputs[first : first + width] for first, width in program.arrays]
        self.whole = [_is_whole(table) for table in self.arrays]
        self.numbers = len(self.columns) + sum(len(table) for table in self.arrays)

    def pack(self, to: Any, first: int, rows: int, index: Any) -> None:
        """Copy the rows of a piece to where they are read from."""
        at = 0
        for place in self.columns:
            to[at : at + rows] = _rows(place, first, rows, index)
            at += rows
        for table, whole in zip(self.arrays, self.whole):
            width = len(table)
            block = to[at : at + rows * width]
            if whole:
                start, down = int(table[0, 0]), int(table[0, 1])
                shift = 0 if index is not None else first * down
                count = rows if index is None else int(index.max()) + 1
                given = np.asarray(_View(start + shift, (count, width), (down, 8)))
                block.reshape(rows, width)[:] = given if index is None else given[index]
            else:
                for number, place in enumerate(table):
                    block[number * rows : (number + 1) * rows] = _rows(place, first, rows, index)
            at += rows * width

    def places(self, start: int, rows: int) -> tuple[list[Any], list[Any]]:
        """The columns and arrays as kernels find them, of a slot that begins at an address."""
        columns = [(start + 8 * rows * at, PACKED_STRIDE) for at in range(len(self.columns))]
        at, arrays = len(columns) * rows, []
        for table, whole in zip(self.arrays, self.whole):
            width = len(table)
            down, across = (8 * width, 8) if whole else (8, 8 * rows)
            arrays.append((start + 8 * at, down, across))
            at += rows * width
        return columns, arrays


def _is_whole(table: Any) -> bool:
    """Whether the numbers of a row lie side by side."""
    return len(table) > 1 and bool(
        (np.diff(table[:, 0]) == 8).all() and (table[:, 1] == table[0, 1]).all()
    )


def _rows(place: Any, first: int, rows: int, index: Any) -> Any:
    if index is None:
        return _column(place, first, rows)
    return _column(place, 0, int(index.max()) + 1)[index]


class Slot:
    """One of the pieces on their way."""

    def __init__(self, cuda: Cuda, code: Code, part: Part, layout: Layout, rows: int) -> None:
        driver, plan = cuda.driver, part.ready.plan
        self.cuda, self.code, self.part, self.layout = cuda, code, part, layout
        self.stored = len(plan.outputs) - plan.reduced
        self.inputs = driver.buffer(layout.numbers * rows)
        self.outputs = driver.buffer(self.stored * rows)
        self.kept = Kept.of(driver, code, plan.reduced, rows)
        self.pinned = driver.pinned(layout.numbers * rows)
        chunks = -(-rows // CHUNK)
        self.back = driver.pinned(self.stored * rows + chunks * plan.reduced + rows // 2 + 2)
        places = 2 * (len(layout.columns) + len(plan.outputs)) + 3 * len(layout.arrays)
        self.places = driver.pinned(places).view(np.int64)
        self.none = driver.pinned(1)
        self.none[:] = 0.0
        self.span: tuple[int, int] | None = None
        self.mark: Any = None
        self.held: Any = None

    def start(self, first: int, last: int, streams: Sequence[Any]) -> None:
        """Have a piece copied, computed and copied back."""
        driver, part, rows = self.cuda.driver, self.part, last - first
        there, compute, home = streams
        index = None if part.index is None else part.index[first:last]
        self.layout.pack(self.pinned, first, rows, index)
        size = 8 * self.layout.numbers * rows
        driver.copy(self.inputs.address, self.pinned.ctypes.data, size, there)
        if self.kept.left:
            driver.copy(self.kept.left, self.none.ctypes.data, 8, there)
        driver.wait(compute, driver.mark(there))
        columns, arrays = self.layout.places(self.inputs.address, rows)
        stored = [(self.outputs.address + 8 * rows * at, 8) for at in range(self.stored)]
        targets = outputs_of(part, stored, self.kept.sums, rows, 0)
        self.places[:], packed = places_of(columns, targets, arrays)
        given = (rows, 0, 0, self.kept.tape, rows, self.kept.failed, self.kept.left)
        self.code.launch(packed, self.places, part.uniforms, given, compute)
        at, reduced = self.stored * rows, part.ready.plan.reduced
        if reduced:
            sums = self.back[at : at + -(-rows // CHUNK) * reduced]
            self.held = self.cuda.sums.run(self.kept.sums, rows, reduced, rows, sums, compute)
            at += len(sums)
        driver.wait(home, driver.mark(compute))
        driver.copy(self.back.ctypes.data, self.outputs.address, 8 * self.stored * rows, home)
        if self.kept.left:
            to = self.back[at:].ctypes.data
            driver.copy(to, self.kept.left, 8 + 4 * rows, home)
        self.span, self.mark = (first, last), driver.mark(home)

    def finish(self, outputs: Any) -> None:
        """Wait for the piece, and put its results where they belong."""
        if self.span is None:
            return
        self.cuda.driver.reached(self.mark)
        first, last = self.span
        part, rows = self.part, last - first
        self.span = self.held = None
        at, reduced = self.stored * rows, part.ready.plan.reduced
        if reduced:
            chunks = part.sums[first // CHUNK : -(-last // CHUNK)]
            chunks[:] = self.back[at : at + chunks.size].reshape(chunks.shape)
            at += chunks.size
        if self.kept.left:
            found = self.back[at:].view(np.int32)
            if found[1]:
                raise TakeError.rows()
            if found[0] and len(part.failed):
                part.failed[first:last] = found[2 : 2 + rows]
        for number, place in enumerate(outputs[: self.stored]):
            column = self.back[number * rows : (number + 1) * rows]
            if part.index is None:
                _column(place, first, rows)[:] = column
            else:
                index = part.index[first:last]
                _column(place, 0, int(index.max()) + 1)[index] = column


class FromHost:
    """Runs the plans of one function over columns on the host."""

    def __init__(self, cuda: Cuda) -> None:
        self.cuda = cuda

    def run(self, parts: Sequence[Part], inputs: Any, outputs: Any, threads: int) -> None:
        """Run parts: those that are worth it on the device, the others on the CPU."""
        here: list[Part] = []
        for part in parts:
            code = self.cuda.code_or_none(part.ready) if part.rows >= LEAST_ROWS else None
            if code is None:
                here.append(part)
            else:
                self.run_with(code, part, inputs, outputs)
        if here:
            ON_CPU.run(here, inputs, outputs, threads)

    def run_with(self, code: Code, part: Part, inputs: Any, outputs: Any) -> None:
        """Run one part, in pieces that fit."""
        layout = Layout(code, inputs)
        plan = part.ready.plan
        numbers = max(layout.numbers, len(plan.outputs) + code.program.tape, 1)
        most = max(min(SLOT_NUMBERS // numbers, part.rows + CHUNK - 1) // CHUNK, 1) * CHUNK
        slots: list[Slot] = []
        while not slots:
            try:
                slots = [Slot(self.cuda, code, part, layout, most) for _ in range(2)]
            except DeviceFullError as error:
                if most <= CHUNK:
                    raise PrintingError.device_full(self.cuda.name, str(error)) from None
                most = max(most // 2 // CHUNK, 1) * CHUNK
        driver, streams = self.cuda.driver, self.cuda.streams
        with self.cuda.lock:
            try:
                # slots may lie in memory that the caller's stream has let go of, yet still uses
                driver.wait(streams[0], driver.mark(driver.current()))
                for number, (first, last) in enumerate(pieces(part.rows, most)):
                    slot = slots[number % 2]
                    slot.finish(outputs)
                    slot.start(first, last, streams)
                for slot in sorted(slots, key=lambda each: each.span or (0, 0)):
                    slot.finish(outputs)
            finally:
                for stream in streams:
                    driver.settle(stream)

    def scratch(self, count: int, rows: int) -> Any:
        """Columns on the host."""
        return ON_CPU.scratch(count, rows)
