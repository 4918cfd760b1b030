"""Leading every row of a call to the trace that fits it, and running the traces.

Rows first run through guards alone, route by route; then every trace runs over its own rows, all
traces in one native call. Where nobody went before, the function is recorded on the first row that
goes there, its decisions forced to the outcomes that row has shown, and the new trace is tried on
all rows that go there. Where one trace serves nearly all rows, it too is tried first, on all of
them, and only the others are led elsewhere.

Results come from the traces' programs alone, and reductions are added in the order of the rows:
what was recorded when, and which way a row was led, does not show in any bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any

import numpy as np

from ..errors import GuardError
from .derived import REDUCED, STORED, Mode
from .machines import NO_COLUMNS, ON_CPU, Machine
from .replay import CHUNK, Part, added
from .traces import Family, Route, Trace

BATCH = 256 * CHUNK
"""Rows that are led together, so that what is kept about them is bounded."""
SCRATCH = 64 * 1024 * 1024
"""Bytes of gradients per row that are held before they are reduced."""
WASTED_ROWS = 5_000
"""Rows that may run a trace in vain: it costs what a program of its guards does to make."""
WASTED_RUN = 20
"""Rows that a run costs, however few there are."""
TOGETHER = 64
"""New traces whose plans are held at a time."""

Recorder = Callable[[int, bytes, Trace], Trace]
"""Records the function on a row, the first decisions forced; the trace it leaves is given too."""


@dataclass
class Call:
    """One call of a compiled function, its arguments taken apart."""

    rows: int
    numbers: Sequence[float]
    inputs: Any
    threads: int
    arguments: int
    machine: Machine = ON_CPU

    def run(self, parts: Sequence[Part], outputs: Any) -> None:
        """Run parts over the call's rows."""
        self.machine.run(parts, self.inputs, outputs, self.threads)


@dataclass
class Outcome:
    """What a call leaves behind besides its results: who served it, and what was not kept."""

    served: set[int] = field(default_factory=set)
    loose: list[tuple[int, Trace]] = field(default_factory=list)
    recorded: int = 0


class Router:
    """Runs one mode of a function over the rows of one call."""

    def __init__(
        self, family: Family, call: Call, mode_of: Callable[[], Mode], record: Recorder | None
    ) -> None:
        self.family = family
        self.call = call
        self.mode_of = mode_of
        self.record = record
        self.outcome = Outcome()
        self.lost: list[tuple[Any, Route, int]] = []

    # ---- the two ways to run -----------------------------------------------------------------

    def store(self, count: int, outputs: Any) -> None:
        """Store every output per row; ``outputs`` are arrays of (address, stride)."""
        work = _Assigned(self, self.mode_of(), STORED * count, outputs)
        rows = self.call.rows
        if self._mostly(self.family.main, work):
            self._lead(self._try_main(self.family.main, work), work)
        else:
            for first in range(0, rows, BATCH):
                self._batch(work, first, min(first + BATCH, rows))
        self._finish()

    def reduce(self, kinds: str, outputs: Any) -> Any:
        """Store some outputs per row and add up the others over all rows.

        ``kinds`` says which, a letter each; ``outputs`` are where those go that are stored.
        """
        family, call = self.family, self.call
        if len(family.traces) == 1:
            part = self._whole(family.traces[0], self.mode_of(), self._all_of(kinds))
            call.run([part], outputs)
            if not part.any_failed:
                self.count(family.traces[0], call.rows)
                return added(part.sums)
        sums: list[Any] = []
        first = 0
        while first < call.rows:
            mode = self.mode_of()
            chunk_sums, last = self._reduced_batch(mode, self._all_of(kinds), outputs, first)
            if self.mode_of() == mode:  # else a leaf was captured that no trace had before: again
                sums.append(chunk_sums)
                first = last
        self._finish()
        width = self._all_of(kinds).count(REDUCED)
        padded = [np.pad(chunk, ((0, 0), (0, width - chunk.shape[1]))) for chunk in sums]
        return added(np.concatenate(padded) if padded else np.zeros((0, width)))

    def sorted_rows(self) -> list[tuple[Trace, Any]]:
        """Which trace serves which rows; nothing is run but guards."""
        work = _Sorted(self)
        assert self.family.root is not None
        self._lead([(self.family.root, np.arange(self.call.rows))], work)
        self._finish()
        return [(trace, np.sort(np.concatenate(found))) for trace, found in work.rows.values()]

    def _all_of(self, kinds: str) -> str:
        """The kinds of all outputs: gradients of captured leaves that turned up are reduced."""
        mode = self.mode_of()
        if mode.kind == "backward":
            return REDUCED * (1 + len(mode.wrt))
        return kinds

    def _reduced_batch(self, mode: Mode, kinds: str, outputs: Any, first: int) -> tuple[Any, int]:
        """The sums of the chunks of one batch, and where the next one starts."""
        call = self.call
        reduced = kinds.count(REDUCED)
        size = SCRATCH // (8 * max(reduced, 1)) // CHUNK * CHUNK
        last = min(first + min(max(size, CHUNK), BATCH), call.rows)
        scratch = call.machine.scratch(reduced, last - first)
        address, width = scratch.address, scratch.apart
        # rows are numbered from the first of the call, the scratch from the first of the batch
        own = iter([(address + place * width - first * 8, 8) for place in range(reduced)])
        given = iter(outputs.tolist())
        places = [next(given) if kind == STORED else next(own) for kind in kinds]
        table = np.array(places, dtype=np.int64).reshape(-1, 2)
        self._batch(_Assigned(self, mode, STORED * len(kinds), table), first, last)
        return scratch.summed(call.threads), last

    # ---- one batch ---------------------------------------------------------------------------

    def _whole(self, trace: Trace, mode: Mode, what: str) -> Part:
        """A trace over all rows of the call, with its guards."""
        ready = trace.ready(mode, what, self.call.arguments)
        return Part.of(ready, self.call.rows, self.call.numbers, trace.captured)

    def _batch(self, work: _Assigned, first: int, last: int) -> None:
        """Lead the rows from ``first`` to ``last`` and store their results."""
        root = self.family.root
        assert root is not None
        self._lead([(root, np.arange(first, last, dtype=np.int64))], work)

    def _lead(self, wave: list[tuple[Route, Any]], work: _Assigned) -> None:
        """Rows from route to route, until each has its trace."""
        while wave:
            wave = self._step(wave, work)
        work.flush()

    def _mostly(self, main: Trace, work: _Assigned) -> bool:
        """Whether to run the main trace on every row: its waste is less than a run of guards."""
        served = sum(trace.rows for trace in self.family.traces)
        if len(self.family.traces) == 1 or not served:
            return True
        if main.wasted < WASTED_ROWS and not main.has_router(0):
            return 2 * main.rows >= served
        arguments = self.call.arguments
        full = main.ready(work.mode, work.what, arguments).plan.done
        guards = main.router(0, arguments).plan.done
        return (1 - main.rows / served) * (full + guards) < guards

    def _try_main(self, main: Trace, work: _Assigned) -> list[tuple[Route, Any]]:
        """Run the main trace with its guards over all rows; lead those that fail."""
        part = self._whole(main, work.mode, work.what)
        self.call.run([part], work.outputs)
        others = np.flatnonzero(part.failed >= 0)
        self.count(main, self.call.rows - len(others))
        if len(others) and len(self.family.traces) > 1:
            main.wasted += len(others) + WASTED_RUN
        wave: list[tuple[Route, Any]] = []
        for guard, rows in _grouped(part.failed[others], others):
            path = main.path[:guard] + bytes([1 - main.path[guard]])
            route, leaves_at = self.family.route_after(path)
            if leaves_at is None:
                wave.append((route, rows))
            else:
                self._go_on(wave, route, leaves_at, rows)
        return wave

    def _step(self, wave: list[tuple[Route, Any]], work: _Assigned) -> list[tuple[Route, Any]]:
        """Rows through the guards of their routes: settled, or on to the next route."""
        call = self.call
        further: list[tuple[Route, Any]] = []
        fresh: list[tuple[Route, Any]] = []
        known: list[tuple[Route, Any]] = []
        for route, rows in wave:
            (fresh if work.runs and _is_tried(route) else known).append((route, rows))
        for first in range(0, len(fresh), TOGETHER):
            self._try(fresh[first : first + TOGETHER], work, further)
        checked: list[tuple[Route, Any, Part]] = []
        for route, rows in known:
            trace = route.trace
            if route.start == len(trace.path):
                work.add(trace, rows)
                continue
            ready = trace.router(route.start, call.arguments)
            part = Part.of(ready, len(rows), call.numbers, trace.captured, rows)
            checked.append((route, rows, part))
        if checked:
            call.run([part for _, _, part in checked], NO_COLUMNS)
        for route, rows, part in checked:
            for guard, these in _grouped(part.failed, rows):
                if guard < 0:
                    work.add(route.trace, these)
                else:
                    self._go_on(further, route, route.start + guard, these)
        return further

    def _try(
        self,
        fresh: list[tuple[Route, Any]],
        work: _Assigned,
        further: list[tuple[Route, Any]],
    ) -> None:
        """Run traces on all rows that arrive there, at the price of those that go on."""
        call = self.call
        parts = []
        for route, rows in fresh:
            ready = route.trace.ready(work.mode, work.what, call.arguments)
            parts.append(Part.of(ready, len(rows), call.numbers, route.trace.captured, rows))
        call.run(parts, work.outputs)
        for (route, rows), part in zip(fresh, parts):
            served = len(rows)
            for guard, these in _grouped(part.failed, rows):
                if guard >= 0:
                    self._go_on(further, route, guard, these)
                    served -= len(these)
            self.count(route.trace, served)
            if served < len(rows):
                route.trace.wasted += len(rows) - served + WASTED_RUN
            if not route.trace.kept:
                route.trace.plans.clear()

    def _go_on(self, wave: list[tuple[Route, Any]], route: Route, guard: int, rows: Any) -> None:
        """To the route that leaves at a guard; it is recorded where nobody went that way."""
        known = route.others.get(guard)
        if known is None:
            if self.record is None:
                self.lost.append((rows, route, guard))
                return
            known = self._grown(route, guard, int(rows[0]))
        wave.append((known, rows))

    def _grown(self, route: Route, guard: int, row: int) -> Route:
        assert self.record is not None
        path = route.trace.path[:guard] + bytes([1 - route.trace.path[guard]])
        trace = self.record(row, path, route.trace)
        self.outcome.recorded += 1
        self.family.splits[route.trace.site(guard)] += 1
        if self.family.has_room:
            route.others[guard] = Route(self.family.keep(trace), guard + 1)
            return route.others[guard]
        return Route(trace, guard + 1)

    # ---- afterwards --------------------------------------------------------------------------

    def count(self, trace: Trace, rows: int) -> None:
        """Rows that a trace serves; of traces that are not kept, those with most are remembered."""
        if not rows:
            return  # it was only tried
        trace.rows += rows
        if trace.kept:
            self.outcome.served.add(id(trace))
            return
        self.outcome.loose.append((rows, trace))
        most = max(len(self.family.traces), 1)
        if len(self.outcome.loose) > 2 * most:
            self.outcome.loose = nlargest(most, self.outcome.loose, key=lambda item: item[0])

    def _finish(self) -> None:
        """After the last row: keep what was used, and lay the routes anew."""
        if self.lost:
            self._refuse()
        if self.outcome.loose:
            fresh = nlargest(len(self.family.traces), self.outcome.loose, key=lambda item: item[0])
            self.family.exchange([trace for _, trace in fresh], self.outcome.served)
        elif self.outcome.recorded:
            self.family.settle()

    def _refuse(self) -> None:
        _, route, guard = min(self.lost, key=lambda item: int(item[0][0]))
        every = np.sort(np.concatenate([rows for rows, _, _ in self.lost]))
        outcome = bool(route.trace.path[guard])
        raise GuardError.of(every, self.call.rows, route.trace.site(guard), outcome)


class _Assigned:
    """Rows that have found their traces, run together."""

    runs = True

    def __init__(self, router: Router, mode: Mode, what: str, outputs: Any) -> None:
        self.router = router
        self.mode = mode
        self.what = what
        self.outputs = outputs
        self.rows: dict[int, tuple[Trace, list[Any]]] = {}

    def add(self, trace: Trace, rows: Any) -> None:
        """These rows are that trace's."""
        self.rows.setdefault(id(trace), (trace, []))[1].append(rows)
        self.router.count(trace, len(rows))

    def flush(self) -> None:
        """Run the traces over their rows."""
        call = self.router.call
        parts = []
        for trace, found in self.rows.values():
            index = found[0] if len(found) == 1 else np.sort(np.concatenate(found))
            ready = trace.ready(self.mode, self.what, call.arguments)
            parts.append(Part.of(ready, len(index), call.numbers, trace.captured, index))
        if parts:
            call.run(parts, self.outputs)
        self.rows = {}


class _Sorted(_Assigned):
    """Rows that have found their traces, and are not run."""

    runs = False

    def __init__(self, router: Router) -> None:
        super().__init__(router, Mode("value"), "", None)

    def add(self, trace: Trace, rows: Any) -> None:
        """These rows are that trace's."""
        self.rows.setdefault(id(trace), (trace, []))[1].append(rows)

    def flush(self) -> None:
        """Nothing is run."""


def _is_tried(route: Route) -> bool:
    """Whether rows run a trace as a whole, guards and all, rather than its guards first: a program
    of the guards alone is only made once that has cost as much as making it."""
    trace = route.trace
    if not trace.rows:
        return True
    is_open = route.start < len(trace.path)
    return is_open and trace.wasted < WASTED_ROWS and not trace.has_router(route.start)


def _grouped(failed: Any, rows: Any) -> list[tuple[int, Any]]:
    """Rows by the guard they failed, -1 for none; in each group in their order."""
    if not len(failed) or (failed[0] == failed).all():
        return [(int(failed[0]), rows)] if len(failed) else []
    order = np.argsort(failed, kind="stable")
    ordered = failed[order]
    starts = np.flatnonzero(np.diff(ordered)) + 1
    pieces = np.split(rows[order], starts)
    return [(int(ordered[at]), piece) for at, piece in zip([0, *starts.tolist()], pieces)]
