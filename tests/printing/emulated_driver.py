"""A driver without a GPU: its kernels are the same text compiled as C, its memory is the host's.

What lies on the device is a class of its own that NumPy's own ways do not lead to, and memory runs
out where it is told to.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from retrograde.errors import PrintingError
from retrograde.printing.cuda.driver import DeviceFullError, Memory
from retrograde.printing.device_text import emulated

from .support import build

FLAGS = ("-O1", "-Wno-unknown-pragmas", "-Wno-unused-function")


GUARDED, BEYOND = 16, 1234.5
"""Doubles behind every buffer, and what they are: nobody writes there."""


class OnDevice(np.ndarray):
    """An array on the device: NumPy must not be asked where it lies."""

    @property
    def __array_interface__(self):
        raise AttributeError("an array on a device has no address on the host")

    @property
    def __cuda_array_interface__(self):
        return {
            "data": (self.ctypes.data, False),
            "shape": self.shape,
            "typestr": "<f8",
            "version": 3,
        }

    def __dlpack_device__(self):
        return 2, 0


def on_device(array: Any) -> OnDevice:
    return np.array(array).view(OnDevice)


class Foreign:
    """An array of another library, which speaks DLPack and nothing else."""

    def __init__(self, array: Any) -> None:
        self.array = on_device(array)

    def __dlpack_device__(self):
        return 2, 0


class Buffer:
    """Memory that lies where the last of its size lay, as with CuPy's pool: what still points there
    finds other numbers."""

    def __init__(self, driver: Emulated, count: int) -> None:
        self.driver, self.count = driver, count
        known = driver.free.setdefault(count, [])
        self.memory = known.pop() if known else np.empty(count + GUARDED)
        self.memory[:count], self.memory[count:] = np.nan, BEYOND
        self.address = self.memory.ctypes.data
        driver.used += count

    def __del__(self) -> None:
        self.driver.used -= self.count
        if (self.memory[self.count :] != BEYOND).any():
            self.driver.overrun += 1
        self.driver.free[self.count].append(self.memory)


class Module:
    def __init__(self, library: ctypes.CDLL, driver: Emulated) -> None:
        self.library, self.driver, self.memory = library, driver, Memory()

    def launch(
        self, kernel: str, threads: int, block: int, arguments: Sequence[int], stream: Any
    ) -> None:
        self.driver.launched.append((kernel, arguments[0]))
        given = [ctypes.c_int64(each) for each in arguments]
        if kernel == "rg_lanes":
            self.lanes = given
            return
        if kernel == "rg_trees":
            self.library.rg_launch_sums(*self.lanes, given[2])
            return
        assert block <= 1024
        getattr(self.library, {"rg_program_once": "rg_launch_once"}.get(kernel, "rg_launch_rows"))(
            *given
        )

    def symbol(self, name: str) -> int:
        self.library.rg_symbol.restype = ctypes.c_void_p
        return self.library.rg_symbol(name == "rg_uniforms")


class Emulated:
    """The device: ``room`` is how many doubles it has."""

    words = "a device that is emulated"

    def __init__(self, folder: Any, room: float = float("inf"), bend: str = "") -> None:
        self.folder, self.room, self.bend = folder, room, bend
        self.used = self.overrun = 0
        self.free: dict[int, list[Any]] = {}
        self.launched: list[tuple[str, int]] = []
        self.modules: list[tuple[str, ...]] = []
        self.loaded: dict[tuple[str, tuple[str, ...]], Module] = {}

    def module(self, text: str, defined: Sequence[str] = ()) -> Module:
        self.modules.append(tuple(defined))
        if self.bend == "bits":
            text = text.replace("RG_IN + (n)) = (value)", "RG_IN + (n)) = (value) + 1.0")
        if self.bend == "fail":
            raise PrintingError.compiler("NVRTC", "it does not want to")
        key = (text, tuple(defined))
        if key not in self.loaded:
            flags = (*FLAGS, *[f"-D{each}" for each in defined])
            self.loaded[key] = Module(build(emulated(text), self.folder, flags=flags), self)
        return self.loaded[key]

    def buffer(self, count: int) -> Buffer:
        if self.used + count > self.room:
            raise DeviceFullError(f"{count} doubles")
        return Buffer(self, count)

    def pinned(self, count: int) -> Any:
        return np.full(count, np.nan)

    def copy(self, to: int, start: int, size: int, stream: Any) -> None:
        ctypes.memmove(to, start, size)

    def current(self) -> Any:
        return "the caller's"

    def stream(self) -> Any:
        return object()

    def mark(self, stream: Any) -> Any:
        return stream

    def wait(self, stream: Any, mark: Any) -> None:
        pass

    def settle(self, stream: Any) -> None:
        pass

    def reached(self, mark: Any) -> None:
        pass

    def taken(self, thing: Any) -> Any:
        if isinstance(thing, Foreign):
            return thing.array
        return thing if isinstance(thing, OnDevice) else None

    def is_array(self, thing: Any) -> bool:
        return isinstance(thing, OnDevice)

    def address(self, array: Any) -> int:
        return array.ctypes.data

    def doubles(self, array: Any) -> Any:
        return array.astype(np.float64, copy=False)

    def empty(self, count: int) -> Any:
        if self.used + count > self.room:
            raise DeviceFullError(f"{count} doubles")
        return np.full(count, np.nan).view(OnDevice)

    def handed(self, array: Any, like: Any) -> Any:
        return Foreign(array) if isinstance(like, Foreign) else array
