"""Machines: where the rows of a call lie, and what runs plans over them there.

The one of every call is the CPU, with arrays in its memory. A backend may bring others
(``printing/cuda``): for them rows, results and what is added up later lie on a device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .layout import laid_out
from .program import ROW, Input, Program
from .replay import Part, Ready, run

if TYPE_CHECKING:
    from .rows import Bound
    from .shaped.packing import Packed

NO_COLUMNS = np.zeros((0, 2), dtype=np.int64)


class Scratch(Protocol):
    """Columns of numbers that are added up later: where the first begins, and how far apart they
    are in bytes."""

    address: int
    apart: int

    def summed(self, threads: int) -> Any:
        """The columns added up as every reduction does, a row a chunk."""


class Machine(Protocol):
    """Runs plans over rows in its memory."""

    def run(self, parts: Sequence[Part], inputs: Any, outputs: Any, threads: int) -> None:
        """Run parts together; ``inputs`` and ``outputs`` are arrays of (address, stride)."""

    def scratch(self, count: int, rows: int) -> Scratch:
        """Columns of any numbers."""


class Target(Protocol):
    """What may run plans faster than an executor: each is handed over when it is made."""

    def made(self, ready: Ready) -> None:
        """A plan was made."""

    def packed(self, packed: Packed) -> None:
        """A plan of a function on tensors was made."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all that was handed over is dealt with; False where that takes longer."""

    @property
    def words(self) -> str:
        """How far it is, in one line."""

    def machine(self, bound: Bound) -> Machine:
        """What runs the rows of a call."""

    def arrays(self) -> DeviceArrays | None:
        """What takes arrays of a device as arguments of a call; None: there are none."""


class DeviceArrays(Protocol):
    """The arrays of one call that lie on a device: as arguments, and new ones for results."""

    met: bool

    def taken(self, thing: Any) -> Any:
        """An array on the device; None: it is none."""

    def note(self, bound: Bound, place: str, thing: Any) -> None:
        """An array of rows is on the device: so must all of them be."""

    def check(self, bound: Bound, place: str) -> None:
        """An array of rows is on the host: so must all of them be."""

    def doubles(self, array: Any) -> Any:
        """The array as one of doubles."""

    def address(self, array: Any) -> int:
        """Where an array lies."""

    def take(self, count: int, rows: int) -> Any:
        """Columns for results."""

    def uploaded(self, array: Any) -> Any:
        """Numbers of the host on the device."""


class OnCpu:
    """The executor that goes with the core."""

    def run(self, parts: Sequence[Part], inputs: Any, outputs: Any, threads: int) -> None:
        """Run parts together."""
        run(parts, inputs, outputs, threads)

    def scratch(self, count: int, rows: int) -> Scratch:
        """Columns of any numbers."""
        return CpuScratch(count, rows)


ON_CPU = OnCpu()


class CpuScratch:
    """Columns in an array of NumPy's."""

    def __init__(self, count: int, rows: int) -> None:
        self._table = np.empty((count, rows))
        self.address: int = self._table.__array_interface__["data"][0]
        self.apart: int = self._table.strides[0]

    def summed(self, threads: int) -> Any:
        """The columns added up as every reduction does."""
        return summed(self._table, threads)


def summed(table: Any, threads: int = 1) -> Any:
    """The rows of a table (columns, rows) added up as every reduction does, chunk by chunk."""
    count, rows = table.shape
    if not rows:
        return np.zeros((0, count))
    address, (down, across) = table.__array_interface__["data"][0], table.strides
    columns = [(address + place * down, across) for place in range(count)]
    part = Part.of(_adding(count), rows, (), [])
    run([part], np.array(columns, dtype=np.int64).reshape(-1, 2), NO_COLUMNS, threads)
    return part.sums


def _adding(count: int) -> Ready:
    """A plan that adds up ``count`` columns as every reduction does."""
    inputs = {i: Input(ROW, f"column {i}") for i in range(count)}
    program = Program(inputs=inputs, outputs=list(range(count)), count=count)
    return Ready.of(program, laid_out(program, [("reduce", i) for i in range(count)]), count)
