"""A plan as kernels that a device has: compiled when it first runs, and held to the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock
from typing import Any

import numpy as np

from ...program.replay import Ready
from ..device_text import NAME, SUMS_BLOCK, Kernels, device_source, sums_source
from ..library import given_places
from .driver import Buffer, Driver, Module

PACKED = "RG_PACKED=1"


class Sums:
    """Rows added up on the device, in the interpreter's order."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self._module = driver.module(sums_source())

    def run(self, start: int, apart: int, columns: int, rows: int, to: Any, stream: Any) -> Any:
        """Have the chunks of some columns added up and copied to the host; what must be held until
        that is done."""
        count = -(-rows // 1024) * columns
        lanes = self.driver.buffer(9 * count)
        sums = lanes.address + 64 * count
        given = (rows, start, apart, columns, lanes.address)
        self._module.launch("rg_lanes", 8 * count, SUMS_BLOCK, given, stream)
        self._module.launch("rg_trees", count, SUMS_BLOCK, (count, lanes.address, sums), stream)
        self.driver.copy(to.ctypes.data, sums, 8 * count, stream)
        return lanes


class Code:
    """The kernels of one plan, for columns that are packed or not.

    What they read of a call besides its rows (places of columns, uniform numbers) lies in memory of
    their own, so one launch is set up at a time, each after the one before on the device.
    """

    def __init__(self, ready: Ready, title: str, driver: Driver) -> None:
        self.driver = driver
        self.kernels: Kernels = device_source(ready, title)
        self.program = self.kernels.program
        self.given = given_places(ready)
        self.lock = RLock()
        self._modules: dict[bool, Module] = {}
        self._uniforms: Buffer | None = None
        self._now: dict[bool, tuple[bytes, bytes]] = {}
        self._last: tuple[Any, Any] | None = None

    def module(self, packed: bool) -> Module:
        """The kernels, compiled."""
        found = self._modules.get(packed)
        if found is None:
            defined = (PACKED,) if packed else ()
            found = self._modules[packed] = self.driver.module(self.kernels.text, defined)
        return found

    def launch(
        self,
        packed: bool,
        places: Any,
        uniforms: Any,
        arguments: Sequence[int],
        stream: Any,
    ) -> None:
        """Have rows computed: ``arguments`` are those of the kernel, the number of rows first."""
        with self.lock:
            module, driver = self.module(packed), self.driver
            if self._last is not None and self._last[0] is not stream:
                driver.wait(stream, self._last[1])
            given = np.ascontiguousarray(uniforms[self.given], dtype=np.float64)
            now = (places.tobytes(), given.tobytes())
            before = self._now.get(packed, (None, None))
            if now[0] != before[0] and places.size:
                driver.copy(module.symbol("rg_places"), places.ctypes.data, places.nbytes, stream)
            if now[1] != before[1]:
                self._compute_uniforms(module, given, stream)
            self._now[packed] = now
            module.launch(f"{NAME}_rows", arguments[0], self.program.block, arguments, stream)
            self._last = stream, driver.mark(stream)

    def _compute_uniforms(self, module: Module, given: Any, stream: Any) -> None:
        """Compute what is the same for all rows, once, on the device."""
        driver, count = self.driver, self.program.uniforms
        if self._uniforms is None:
            self._uniforms = driver.buffer(count + len(self.given) + 1)
        start = self._uniforms.address
        driver.copy(start + 8 * count, given.ctypes.data, given.nbytes, stream)
        module.launch(f"{NAME}_once", 1, 1, (start + 8 * count, start), stream)
        driver.copy(module.symbol("rg_uniforms"), start, 8 * count, stream)
