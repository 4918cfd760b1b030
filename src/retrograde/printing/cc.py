"""``backend="cc"``: plans compiled by the system's compiler, in the background.

A plan is printed and compiled when it is made. Until its library is there, and for ever where there
is no compiler or it fails, the interpreter runs it, with the same bits. A library runs only after
it has given the interpreter's bits on rows made up for the purpose.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import threading
import warnings
from array import array
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from ..errors import BackendWarning, PrintingError
from ..program.executor import executor
from ..program.machines import ON_CPU, Machine
from ..program.replay import Ready
from ..value import core_name, native_core
from .cache import Cache
from .compiler import Compiler, compiler, processor
from .library import EXPORTED, given_places, library_source
from .maps import EXPORTED as MAPS_EXPORTED
from .maps import is_printed, maps_source
from .trial import differences, made_up

if TYPE_CHECKING:
    from ..program.rows import Bound
    from ..program.shaped.packing import Packed

NO_COMPILER = (
    "no C compiler was found",
    "Install gcc or clang, or name a compiler in the variable CC.",
)
NO_CORE = (
    "the native core is not here, which would run it",
    "retrograde info says why; install the package where it can be built, or leave backend out.",
)
"""Why nothing is compiled, and what to do about it."""

_MADE: WeakSet[CC] = WeakSet()
"""Those of this process."""


class Worker:
    """Compiles plans one after another, in a thread that ends with the process."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Any] = SimpleQueue()
        self._started = False
        self._lock = threading.Lock()

    def ask(self, work: Any) -> None:
        """Have something done."""
        with self._lock:
            if not self._started:
                self._started = True
                threading.Thread(target=self._run, name="retrograde-cc", daemon=True).start()
        self._queue.put(work)

    def _run(self) -> None:
        while True:
            self._queue.get()()


class CC:
    """What a compiled function hands its plans to."""

    worker = Worker()
    shared: Cache | None = None

    def __init__(self, name: str) -> None:
        self.name = name
        self.done = self.failed = self.asked = 0
        self._told = False
        self._idle = threading.Condition()
        _MADE.add(self)
        found = compiler()
        self.compiler: Compiler | None = found if core_name == "native" else None
        if self.compiler is None:
            self._tell(BackendWarning.absent(name, *(NO_COMPILER if found is None else NO_CORE)))

    @cached_property
    def cache(self) -> Cache:
        """Where libraries are kept; one for the whole process."""
        if CC.shared is None:
            CC.shared = Cache()
        return CC.shared

    def machine(self, bound: Bound) -> Machine:
        """The CPU: the executor calls what is compiled."""
        return ON_CPU

    def arrays(self) -> None:
        """There is no device."""
        return

    def made(self, ready: Ready) -> None:
        """A plan was made: have it compiled."""
        if ready.stages is None:
            self._ask(lambda: self._compile(ready))

    def packed(self, packed: Packed) -> None:
        """A plan of a function on tensors was made: have its maps compiled, where that pays."""
        if any(map(is_printed, packed.bodies)):
            self._ask(lambda: self._compile_maps(packed))

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until everything asked for is compiled, or has failed."""
        with self._idle:
            return self._idle.wait_for(lambda: self.done + self.failed == self.asked, timeout)

    @property
    def words(self) -> str:
        """How far it is, in one line."""
        if self.compiler is None:
            return "cc: the interpreter, since there is no compiler"
        failed = f", {self.failed} failed" if self.failed else ""
        return f"cc: {self.done} of {self.asked} plans compiled{failed}; {self.compiler.words}"

    def _ask(self, work: Callable[[], None]) -> None:
        if self.compiler is None:
            return
        with self._idle:
            self.asked += 1
        self.worker.ask(lambda: self._attempt(work))

    def _attempt(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            self._tell(BackendWarning.failed(self.name, str(error)))
            failed = True
        else:
            failed = False
        with self._idle:
            self.failed += failed
            self.done += not failed
            self._idle.notify_all()

    def _compile(self, ready: Ready) -> None:
        found = self._library(library_source(ready, self.name))
        address = _address(self.cache, found, EXPORTED)
        try:
            code = native_core.compiled_code(address, array("I", given_places(ready)))
        except ValueError as error:
            raise PrintingError.library(str(error)) from None
        _check(ready, code)
        ready.code[-1] = code

    def _compile_maps(self, packed: Packed) -> None:
        found = self._library(maps_source(packed.bodies))
        address = _address(self.cache, found, MAPS_EXPORTED)
        try:
            native_core.shaped_compiled(packed.capsule, address)
        except ValueError as error:
            raise PrintingError.library(str(error)) from None

    def _library(self, source: str) -> bytes:
        """The library of a source: kept, or made now."""
        assert self.compiler is not None
        told = (source, *self.compiler.command, self.compiler.version, *self.compiler.flags)
        key = hashlib.sha256("\0".join((*told, processor())).encode()).hexdigest()
        build = self.compiler.build
        found = self.cache.find(key)
        if found is None:
            found = self.cache.add(key, lambda folder, to: build(source, folder, to))
        return found

    def _tell(self, message: str) -> None:
        """Say once what went wrong; the interpreter goes on."""
        if self._told:
            return
        self._told = True
        with suppress(BackendWarning):  # where warnings are errors: this may be another thread
            warnings.warn(BackendWarning(message), stacklevel=4)


def _address(cache: Cache, found: bytes, exported: str) -> int:
    """Where a library, loaded now, has what it exports."""
    try:
        library = cache.load(found)
        return ctypes.addressof(ctypes.c_char.in_dll(library, exported))
    except (OSError, ValueError) as error:
        raise PrintingError.library(str(error)) from None


def _check(ready: Ready, code: Any) -> None:
    """Hold a library to the interpreter, bit for bit, on rows made up."""
    other = Ready(ready.program, ready.plan, ready.columns, [None, None, None, code], ready.loops)
    trial = made_up(ready)
    if differences(trial.plain(), trial.run(executor.run, other)):
        raise PrintingError.library("it has other bits than the interpreter")


def _forked() -> None:
    """What was asked for before belongs to the other process: the interpreter serves it here."""
    CC.worker = Worker()  # its thread is gone
    for each in list(_MADE):
        each._idle = threading.Condition()
        each.asked = each.done + each.failed


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
