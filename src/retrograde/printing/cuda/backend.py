"""``backend="cuda"``: what a compiled function hands its rows to."""

from __future__ import annotations

import warnings
from contextlib import suppress
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

from ...errors import BackendWarning, PrintingError
from ...program.machines import Machine
from ...program.replay import Part, Ready
from ..trial import differences, made_up
from .arrays import Arrays
from .code import Code, Sums
from .driver import Driver, driver
from .running import OnDevice
from .streaming import FromHost

if TYPE_CHECKING:
    from ...program.rows import Bound
    from ...program.shaped.packing import Packed


class Cuda:
    """One compiled function on the device: its plans as kernels, and the machines that run them."""

    def __init__(self, name: str, made: Driver | None = None) -> None:
        self.name = name
        self.driver = driver() if made is None else made
        self.lock = RLock()
        self.done = self.failed = 0
        self._told = False
        self._codes: dict[int, tuple[Ready, Code | PrintingError]] = {}
        self._on_device, self._from_host = OnDevice(self), FromHost(self)

    @cached_property
    def sums(self) -> Sums:
        """What adds rows up."""
        return Sums(self.driver)

    @cached_property
    def streams(self) -> list[Any]:
        """To the device, on it, and back."""
        return [self.driver.stream() for _ in range(3)]

    # ---- a target ----------------------------------------------------------------------------

    def made(self, ready: Ready) -> None:
        """A plan was made: it is compiled when rows are run."""

    def packed(self, packed: Packed) -> None:
        """Functions on tensors are the interpreter's."""

    def wait(self, timeout: float | None = None) -> bool:
        """There is nothing to wait for."""
        return True

    @property
    def words(self) -> str:
        """How far it is, in one line."""
        failed = f", {self.failed} left to the interpreter" if self.failed else ""
        return f"cuda: {self.done} plans compiled{failed}; {self.driver.words}"

    def arrays(self) -> Arrays:
        """What takes the arrays of a call."""
        return Arrays(self.driver, self.name)

    def machine(self, bound: Bound) -> Machine:
        """What runs the rows of a call."""
        return self._on_device if bound.on_device else self._from_host

    # ---- plans -------------------------------------------------------------------------------

    def code(self, ready: Ready) -> Code:
        """The kernels of a plan; an error where there are none."""
        with self.lock:
            known = self._codes.get(id(ready))
            if known is None:
                known = self._codes[id(ready)] = ready, self._made(ready)
        if isinstance(known[1], PrintingError):
            raise known[1]
        return known[1]

    def code_or_none(self, ready: Ready) -> Code | None:
        """The kernels of a plan; where there are none that is said once, and the CPU goes on."""
        try:
            return self.code(ready)
        except PrintingError as error:
            if not self._told:
                self._told = True
                with suppress(BackendWarning):
                    message = BackendWarning.failed(self.name, str(error))
                    warnings.warn(BackendWarning(message), stacklevel=4)
            return None

    def _made(self, ready: Ready) -> Code | PrintingError:
        try:
            code = Code(ready, self.name, self.driver)
            self._check(ready, code)
        except PrintingError as error:
            self.failed += 1
            return error
        self.done += 1
        return code

    def _check(self, ready: Ready, code: Code) -> None:
        """Hold kernels to the interpreter, bit for bit, on rows made up."""
        trial = made_up(ready)

        def run(parts: list[Part], inputs: Any, outputs: Any, threads: int) -> None:
            for part in parts:
                self._from_host.run_with(code, part, inputs, outputs)

        if differences(trial.plain(), trial.run(run)):
            raise PrintingError.other_bits(self.driver.words)
