"""What is asked of a GPU: memory, copies, kernels. One protocol; CuPy is what implements it.

Addresses are numbers, as everywhere in calls; whoever passes one keeps what it points to alive.
Work is put into streams, each done in order; what one stream waits for in another is marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from threading import RLock
from typing import Any, Protocol

from ...errors import PrintingError


class DeviceFullError(MemoryError):
    """There is no such memory left on the device: fewer rows at once may do."""


class Buffer(Protocol):
    """Memory on the device, for as long as this is held."""

    address: int


@dataclass(eq=False)
class Memory:
    """What the memory of some kernels has of the last launch: places of columns, uniform numbers.
    One launch is set up at a time, each after the one before on the device."""

    lock: AbstractContextManager[Any] = field(default_factory=RLock)
    places: bytes | None = None
    uniforms: bytes | None = None
    last: tuple[Any, Any] | None = None
    """The stream of the last launch, and its mark there."""


class Module(Protocol):
    """Compiled kernels, and the memory that belongs to them."""

    memory: Memory

    def launch(
        self, kernel: str, threads: int, block: int, arguments: Sequence[int], stream: Any
    ) -> None:
        """Have a kernel run by at least so many threads; arguments are addresses and counts."""

    def symbol(self, name: str) -> int:
        """The address of memory that belongs to the kernels."""


class Driver(Protocol):
    """A GPU, or what stands for one."""

    @property
    def words(self) -> str:
        """Which it is, in one line."""

    def module(self, text: str, defined: Sequence[str] = ()) -> Module:
        """Compile kernels; the same text is the same module, and has its memory once."""

    def buffer(self, count: int) -> Buffer:
        """Memory for so many doubles, or ``DeviceFullError``."""

    def pinned(self, count: int) -> Any:
        """An array of doubles on the host that is copied to the device without a detour."""

    def copy(self, to: int, start: int, size: int, stream: Any) -> None:
        """Copy bytes from ``start``; either may be on the host or on the device."""

    def current(self) -> Any:
        """The stream that the caller's arrays are made in."""

    def stream(self) -> Any:
        """A stream beside it."""

    def mark(self, stream: Any) -> Any:
        """How far a stream is."""

    def wait(self, stream: Any, mark: Any) -> None:
        """Have a stream wait for a mark."""

    def settle(self, stream: Any) -> None:
        """Wait until all of a stream is done."""

    def reached(self, mark: Any) -> None:
        """Wait until a mark is reached."""

    def taken(self, thing: Any) -> Any:
        """An array of another library on this device, without copying; None: it is none."""

    def is_array(self, thing: Any) -> bool:
        """Whether a thing is such an array."""

    def address(self, array: Any) -> int:
        """Where it lies."""

    def doubles(self, array: Any) -> Any:
        """The array as one of doubles; itself where it is one."""

    def empty(self, count: int) -> Any:
        """A new array of doubles."""

    def handed(self, array: Any, like: Any) -> Any:
        """The array in the library of a thing that was taken, without copying where that can be."""


@cache
def driver() -> Driver:
    """The GPU of this process; an error that says what is missing where there is none."""
    from .cupy_driver import CupyDriver

    try:
        return CupyDriver()
    except ImportError as error:
        raise PrintingError.no_cupy(str(error)) from None
