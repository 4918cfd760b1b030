"""Leading calls of functions on tensors to their recordings, and recording where there is none."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any

from ...errors import FunctionResultError, RecordingError, RecordingWarning
from ...value import core
from ..misfits import name_row
from ..traces import collector_paused
from .arguments import Taken
from .row_answers import Rebound
from .runs import REFUSED, Run
from .traces import Family, Trace, recorded

if TYPE_CHECKING:
    from ..machines import Target

MANY_SHAPES = 16
"""Recordings for other shapes from which on a function says so."""

ATTEMPTS = 5
"""How often a call is begun until nothing that it reads is rebound on the way."""

MOST_SITES = 256
"""Calls made before that are kept."""

MOST_FAMILIES = 128
"""Kinds of arguments whose recordings are kept: the one used longest ago makes room."""

Call = Callable[[dict[str, Any]], Any]


class Lasting:
    """Names of a function without Python: they mean what they meant."""

    def unchanged(self) -> bool:
        """Always."""
        return True


class Leading:
    """The recordings of a function, by what its arguments are like."""

    def __init__(self, name: str, call: Call, target: Target | None = None) -> None:
        self.name, self._call, self._target = name, call, target
        self.families: dict[Any, Family] = {}
        self._lock = RLock()
        self._warned = False
        self._sites: list[Any] = []  # of the native core

    def forget(self) -> None:
        """Forget what was recorded."""
        with self._lock:
            self.families.clear()
            self._sites.clear()

    def settled(self) -> tuple[list[Family], list[Any]]:
        """The families whose names mean what they did, and the leaves that they captured."""
        with self._lock:
            found = [family for family in self.families.values() if family.names.unchanged()]
        leaves = {
            id(it): it for family in found for trace in family.traces for it in trace.captured
        }
        return found, list(leaves.values())

    # ---- leading a call to its trace -----------------------------------------------------------

    def _led(
        self,
        taken: Taken,
        wanted: Callable[[Trace], Run],
        settles: bool = False,
        leaves: list[Any] | None = None,
    ) -> tuple[Family, Trace, Run, Any]:
        """The family and the trace that a call leads to, its run and what that gave."""
        if core.in_recording():
            raise RecordingError.replayed(self.name)
        family = self._family(taken)
        trace = family.traces[-1]
        begun = 1
        while True:
            takers = taking(trace) if settles else None
            with collector_paused():
                run = wanted(trace)
            try:
                found = run(taken.leaves if leaves is None else leaves, trace.captured, takers)
            except REFUSED:
                # perhaps on a side of a branch that this call does not take: recorded, it goes
                # another way, or raises where the line is known
                other = self._another(family, taken, b"")
                if other is not None and other.path == trace.path:
                    raise
            else:
                if not isinstance(found, bytes):
                    trace.calls += 1
                    return family, trace, run, found
                wrong = next(n for n, it in enumerate(trace.path) if it != found[n])
                path = trace.path[:wrong] + found[wrong : wrong + 1]
                other = family.fitting(path)
                if other is None:
                    other = self._another(family, taken, path)
            if other is None:  # something that it reads was rebound on the way: begin again
                if (begun := begun + 1) > ATTEMPTS:
                    raise RecordingError.restless(self.name, [])
                family = self._family(taken)
                other = family.traces[-1]
            trace = other

    def _family(self, taken: Taken) -> Family:
        key = taken.key
        with self._lock:
            family = self.families.get(key)
            if family is not None and family.names.unchanged():
                self.families[key] = self.families.pop(key)
                return family
            family = Family(arguments=taken.outline())
            self._of_row(family, taken, 0, b"")
            if taken.rows == 0:  # made-up numbers decided the branches
                return family
            self.families.pop(key, None)
            self.families[key] = family
            if len(self.families) > MOST_FAMILIES:
                del self.families[next(iter(self.families))]
                self._sites.clear()
            if len(self.families) == MANY_SHAPES and not self._warned:
                self._warned = True
                message = RecordingWarning.shapes(self.name, MANY_SHAPES)
                warnings.warn(RecordingWarning(message), stacklevel=6)
            return family

    def _another(self, family: Family, taken: Taken, path: bytes) -> Trace | None:
        """One more trace; None where names mean something else than in the others."""
        with self._lock:
            trace, names = recorded(self.name, self._call, taken, path)
            trace.target = self._target
            if family.names is not None and names.differing(family.names):
                return None
            if trace.path[: len(path)] != path:
                site = trace.program.guards[min(len(path), len(trace.path)) - 1].site
                raise RecordingError.unsteady(self.name, site)
            if family.traces and trace.outputs.paths != family.traces[0].outputs.paths:
                raise FunctionResultError.branches(
                    self.name, family.traces[0].outputs.places, trace.outputs.places
                )
            fixed = trace.outputs.structure.fixed
            if family.traces and fixed != family.traces[0].outputs.structure.fixed:
                raise FunctionResultError.fixed(
                    self.name, family.traces[0].outputs.structure.fixed, fixed
                )
            for known in family.traces:
                if known.path == trace.path:  # of a call that another trace could not be asked
                    family.traces.remove(known)
                    family.traces.append(known)
                    return known
            if family.names is None:
                family.names = names
            else:
                family.names.absorb(names)
            family.traces.append(trace)
            return trace

    def _of_row(self, family: Family, taken: Taken, row: int, path: bytes) -> Trace | None:
        """One more trace, by one row; what the function raises says on which."""
        try:
            return self._another(family, taken.row(row), path)
        except Exception as error:
            if taken.rows:
                name_row(error, self.name, row)
            raise

    def _one_more(self, family: Family, taken: Taken, row: int, path: bytes) -> Trace:
        found = self._of_row(family, taken, row, path)
        if found is None:
            raise Rebound
        shapes, others = _shapes(family.traces[0]), _shapes(found)
        if shapes != others:
            family.traces.remove(found)
            raise FunctionResultError.shapes(self.name, shapes, others)
        return found

    def _until_settled(self, once: Callable[[], Any]) -> Any:
        """A call over rows, begun again where what it reads was rebound on the way."""
        if core.in_recording():
            raise RecordingError.replayed(self.name)
        for _ in range(ATTEMPTS):
            try:
                return once()
            except Rebound:
                continue
        raise RecordingError.restless(self.name, [])


def _shapes(trace: Trace) -> list[tuple[int, ...]]:
    return [tuple(trace.program.shapes[output]) for output in trace.program.outputs]


def taking(trace: Trace) -> tuple[int, ...]:
    """The captured leaves, by number, that take gradients now."""
    return tuple(n for n, leaf in enumerate(trace.captured) if leaf.requires_grad)
