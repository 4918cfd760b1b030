"""A plan as kernels that a device has: compiled when it first runs, and held to the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
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
    theirs, which they share with other plans of the same text.
    """

    def __init__(self, ready: Ready, title: str, driver: Driver) -> None:
        self.driver = driver
        self.kernels: Kernels = device_source(ready, title)
        self.program = self.kernels.program
        self.given = given_places(ready)
        self._modules: dict[bool, Module] = {}
        self._uniforms: dict[bool, Buffer] = {}

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
        module, driver = self.module(packed), self.driver
        memory = module.memory
        with memory.lock:
            if memory.last is not None and memory.last[0] is not stream:
                driver.wait(stream, memory.last[1])
            given = np.ascontiguousarray(uniforms[self.given], dtype=np.float64)
            now, numbers = places.tobytes(), given.tobytes()
            if now != memory.places and places.size:
                memory.places = None
                driver.copy(module.symbol("rg_places"), places.ctypes.data, places.nbytes, stream)
                memory.places = now
            if numbers != memory.uniforms:
                memory.uniforms = None
                self._compute_uniforms(packed, given, stream)
                memory.uniforms = numbers
            module.launch(f"{NAME}_rows", arguments[0], self.program.block, arguments, stream)
            memory.last = stream, driver.mark(stream)

    def _compute_uniforms(self, packed: bool, given: Any, stream: Any) -> None:
        """Compute what is the same for all rows, once, on the device; in memory of one module, as
        launches of another may still read theirs."""
        module, driver, count = self.module(packed), self.driver, self.program.uniforms
        if packed not in self._uniforms:
            self._uniforms[packed] = driver.buffer(count + len(self.given) + 1)
        start = self._uniforms[packed].address
        driver.copy(start + 8 * count, given.ctypes.data, given.nbytes, stream)
        module.launch(f"{NAME}_once", 1, 1, (start + 8 * count, start), stream)
        driver.copy(module.symbol("rg_uniforms"), start, 8 * count, stream)
