"""Calls of a function on tensors from a program file, which replays and cannot record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ...errors import CompileError, GuardError, NotRecordedError, NumberError
from ...tensor import Tensor
from ...value import core
from .arguments import SETTING, Taken
from .calls import Calls
from .leading import Lasting
from .traces import Family, Trace
from .writer import StoredTensors


class StoredCalls(Calls):
    """Calls of a function whose recordings are all there are."""

    def __init__(self, stored: StoredTensors) -> None:
        super().__init__(stored.name, _no_function, stored.wanted)
        for family in stored.families:
            assert family.arguments is not None
            family.names = Lasting()
            self.families[family.arguments.key] = family

    def _family(self, taken: Taken) -> Family:
        family = self.families.get(taken.key)
        if family is None:
            known = [in_words(it.arguments) for it in self.families.values() if it.arguments]
            raise NotRecordedError.of(self.name, in_words(taken), known)
        return family

    def _another(self, family: Family, taken: Taken, path: bytes) -> Trace | None:
        guard = len(path) - 1
        trace = family.fitting(path[:guard])
        site = trace.program.guards[guard].site if trace is not None else None
        raise GuardError.on_tensors(self.name, site, bool(path[guard]))

    def story(self, given: dict[str, Any], row: int = 0) -> NoReturn:
        """A file holds no Python to tell it by."""
        self._not_yet("the story", "Ask the compiled function for it.")

    def births(self, given: dict[str, Any], threads: Any = None) -> NoReturn:
        """A file holds no Python to find them by."""
        self._not_yet("births", "Ask the compiled function for them.")

    def _watch(self, taken: Taken, numbers: Sequence[int]) -> None:
        if core.in_anomaly():
            self._not_yet("anomaly() over a loaded call", "Call the compiled function under it.")


def _no_function(arguments: dict[str, Any]) -> Any:
    raise AssertionError("a loaded function has no Python")


def in_words(taken: Taken) -> str:
    """The arguments of a call in words."""
    parts = []
    for place, kind, varies, leaf in zip(taken.places(), taken.kinds, taken.varies, taken.leaves):
        if kind == SETTING:
            parts.append(f"{place}: {leaf!r}")
            continue
        shape = tuple(np.shape(leaf)[varies:])
        rows = " a row" if varies else ""
        parts.append(f"{place}: {kind}{f' of shape {shape}' if shape else ''}{rows}")
    return ", ".join(parts) or "nothing"


def set_parameters(name: str, known: Mapping[str, Any], numbers: Mapping[str, Any]) -> None:
    """Set some parameters: all of those given, or none where one of them does not fit."""
    found: dict[str, Any] = {}
    for place, given in numbers.items():
        if place not in known:
            listed = ", ".join(list(known)[:8]) or "none"
            raise CompileError.call(name, f"there is no parameter {place!r}: {listed}")
        array = np.asarray(given)
        if array.dtype.kind not in "biuf":
            raise NumberError.of(f"{name}: the parameter {place!r}", given)
        if array.shape != known[place].shape:
            raise CompileError.call(
                name, f"{place!r} has shape {known[place].shape}, and {array.shape} was given"
            )
        found[place] = array.astype(np.float64)
    for place, array in found.items():
        if isinstance(known[place], Tensor):
            core.write_tensor(known[place], array)
        else:
            known[place].data = float(array)
