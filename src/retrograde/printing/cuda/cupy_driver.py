"""The GPU through CuPy: NVRTC, memory, streams, and the arrays of other libraries by DLPack."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ...errors import PrintingError
from ...program.rows import kind_of_device
from .driver import DeviceFullError, Memory

OPTIONS = ("--std=c++17", "--fmad=false", "--disable-warnings")
"""Contraction is off, as in every target: that is what makes the bits the same."""
ANY_DIRECTION = 4
"""``cudaMemcpyDefault``: addresses tell."""
ON_DEVICE = 2
"""``kDLCUDA``."""


@cache
def cupy() -> Any:
    """The package; importing it takes a second, so it waits until a GPU is asked for."""
    return import_module("cupy")


class CupyBuffer:
    """Memory from CuPy's pool."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self.address = int(memory.ptr)


class CupyModule:
    """Kernels compiled by NVRTC; CuPy keeps them on disk."""

    def __init__(self, text: str, defined: Sequence[str]) -> None:
        options = (*OPTIONS, *[f"-D{each}" for each in defined])
        try:
            self._module = cupy().RawModule(code=text, options=options)
            self._module.compile()
        except cupy().cuda.compiler.CompileException as error:
            raise PrintingError.compiler("NVRTC", str(error)) from None
        self._kernels: dict[str, Any] = {}
        self.memory = Memory()

    def launch(
        self, kernel: str, threads: int, block: int, arguments: Sequence[int], stream: Any
    ) -> None:
        """Have a kernel run by at least so many threads."""
        found = self._kernels.get(kernel)
        if found is None:
            found = self._kernels[kernel] = self._module.get_function(kernel)
        given = tuple([np.int64(each) for each in arguments])
        try:
            found((-(-threads // block),), (block,), given, stream=stream)
        except cupy().cuda.driver.CUDADriverError as error:
            raise _full_or(error) from None

    def symbol(self, name: str) -> int:
        """The address of memory that belongs to the kernels."""
        return int(self._module.get_global(name).ptr)


def _full_or(error: Exception) -> Exception:
    """Lack of memory as such."""
    return DeviceFullError(str(error)) if "OUT_OF_MEMORY" in str(error) else error


class CupyDriver:
    """The current device of CuPy."""

    def __init__(self) -> None:
        try:
            count = cupy().cuda.runtime.getDeviceCount()
        except cupy().cuda.runtime.CUDARuntimeError as error:
            raise PrintingError.no_gpu(str(error)) from None
        if not count:
            raise PrintingError.no_gpu("there is no device")
        self._modules: dict[tuple[int, str, tuple[str, ...]], CupyModule] = {}

    @property
    def words(self) -> str:
        """The name of the device, and of CuPy."""
        number = cupy().cuda.runtime.getDevice()
        name = cupy().cuda.runtime.getDeviceProperties(number)["name"]
        said = name.decode() if isinstance(name, bytes) else str(name)
        return f"{said} (CuPy {cupy().__version__})"

    def module(self, text: str, defined: Sequence[str] = ()) -> CupyModule:
        """Compile kernels; CuPy loads the same text once on a device, and so it is kept once."""
        key = (cupy().cuda.runtime.getDevice(), text, tuple(defined))
        found = self._modules.get(key)
        if found is None:
            found = self._modules.setdefault(key, CupyModule(text, defined))
        return found

    def buffer(self, count: int) -> CupyBuffer:
        """Memory for so many doubles."""
        try:
            return CupyBuffer(cupy().cuda.alloc(max(8 * count, 8)))
        except cupy().cuda.memory.OutOfMemoryError as error:
            raise DeviceFullError(str(error)) from None

    def pinned(self, count: int) -> Any:
        """An array of doubles in pinned memory."""
        try:
            memory = cupy().cuda.alloc_pinned_memory(max(8 * count, 8))
        except cupy().cuda.runtime.CUDARuntimeError as error:
            raise DeviceFullError(str(error)) from None
        return np.frombuffer(memory, np.float64, count)

    def copy(self, to: int, start: int, size: int, stream: Any) -> None:
        """Copy bytes, in order with a stream."""
        if size:
            cupy().cuda.runtime.memcpyAsync(to, start, size, ANY_DIRECTION, stream.ptr)

    def current(self) -> Any:
        """CuPy's current stream."""
        return cupy().cuda.get_current_stream()

    def stream(self) -> Any:
        """A stream of its own."""
        return cupy().cuda.Stream(non_blocking=True)

    def mark(self, stream: Any) -> Any:
        """An event."""
        event = cupy().cuda.Event(disable_timing=True)
        event.record(stream)
        return event

    def wait(self, stream: Any, mark: Any) -> None:
        """Have a stream wait for an event."""
        stream.wait_event(mark)

    def settle(self, stream: Any) -> None:
        """Wait until all of a stream is done."""
        stream.synchronize()

    def reached(self, mark: Any) -> None:
        """Wait for an event."""
        mark.synchronize()

    def taken(self, thing: Any) -> Any:
        """An array on a device, by DLPack."""
        if isinstance(thing, cupy().ndarray):
            found = thing
        else:
            if isinstance(thing, np.ndarray) or kind_of_device(thing) != ON_DEVICE:
                return None
            found = cupy().from_dlpack(thing)
        if found.device.id != cupy().cuda.runtime.getDevice():
            raise PrintingError.other_device(found.device.id, cupy().cuda.runtime.getDevice())
        return found

    def is_array(self, thing: Any) -> bool:
        """Whether a thing is an array of CuPy's."""
        return isinstance(thing, cupy().ndarray)

    def address(self, array: Any) -> int:
        """Where it lies."""
        return int(array.data.ptr)

    def doubles(self, array: Any) -> Any:
        """The array as one of doubles."""
        return array.astype(np.float64, copy=False)

    def empty(self, count: int) -> Any:
        """A new array of doubles."""
        try:
            return cupy().empty(count, np.float64)
        except cupy().cuda.memory.OutOfMemoryError as error:
            raise DeviceFullError(str(error)) from None

    def handed(self, array: Any, like: Any) -> Any:
        """The array in the library of a thing that was taken."""
        library = type(like).__module__.partition(".")[0]
        if library == "torch":
            return import_module("torch").from_dlpack(array)
        if library in ("jax", "jaxlib"):
            dense = array if array.flags.c_contiguous else cupy().ascontiguousarray(array)
            return import_module("jax.dlpack").from_dlpack(dense)
        return array
