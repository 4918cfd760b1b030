"""Executors: what runs plans over rows. One protocol, an implementation each for either core.

A run is given parts, each a program with its plan and some rows, and buffers: inputs and outputs
are tables of (address, stride), a row a column. The native executor runs the plan's steps over
tiles of lanes in threads; ``interpreter.py`` is the same in plain Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ..value import core, core_name, native_core
from .interpreter import Interpreter

if TYPE_CHECKING:
    from .replay import Part


class Executor(Protocol):
    """Runs programs laid out, and single rows of the law."""

    @property
    def lanes(self) -> int:
        """How many rows a thread works on at once."""

    def run(self, parts: Sequence[Part], inputs: Any, outputs: Any, threads: int) -> None:
        """Run parts together: store their outputs, fill their sums and their failed guards.

        ``inputs`` and ``outputs`` are arrays of (address, stride) in bytes; whoever calls keeps
        what they point to alive.
        """

    def evaluate(self, op: str, numbers: Sequence[float]) -> float:
        """A row of the law on numbers: the bits that a run has."""


class Native:
    """The executor of ``native/executor.c``."""

    def __init__(self) -> None:
        self._index = {name: index for index, name in enumerate(core.OP_NAMES)}

    @property
    def lanes(self) -> int:
        """How many rows a thread works on at once, at the SIMD level in use."""
        return int(native_core.tile_lanes())

    def run(self, parts: Sequence[Part], inputs: Any, outputs: Any, threads: int) -> None:
        """Run parts in threads, without the GIL."""
        native_core.replay([part.native() for part in parts], inputs, outputs, threads)

    def evaluate(self, op: str, numbers: Sequence[float]) -> float:
        """A row of the law, by the kernels of the SIMD level in use."""
        return float(native_core.evaluate(self._index[op], tuple(numbers)))


executor: Executor = Native() if core_name == "native" else Interpreter()
"""The one that goes with the core."""
