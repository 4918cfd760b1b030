"""The clock of replays: peers take turns, once each has agreed with eager values.

What lives here: timing a workload on all peers, and timing what comes before a replay (recording
and passes). What the numbers mean is decided in replay_goals.py.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter, perf_counter_ns, process_time_ns
from typing import Any

import numpy as np
from measure import Effort, Spread
from replay_peers import Peer, Replay, Results, Retrograde
from replay_workloads import OPERATIONS_A_STEP, Rows, asian_rows

TOLERANCE = 1e-9
CHECKED_ROWS = 40
RECORDED_ROWS = 8
MOST_CALLS_A_TURN = 50

Clock = Callable[[], int]
"""Nanoseconds."""


@dataclass(frozen=True, slots=True)
class ReplayTiming:
    """One peer on one workload."""

    peer: str
    workload: str
    rows: int
    calls: int
    a_row: Spread
    """Nanoseconds a row."""
    first_call: float
    """Seconds from the function to its first results: recording or compiling, and one call."""
    cores: float
    """Processor time over time: above 1 it had more than one thread, below 1 it had to wait."""
    error: float
    """The largest difference from eager values, relative to the scale of each output."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A peer that is here but did not get through a workload, or disagreed."""

    peer: str
    workload: str
    reason: str
    disagrees: bool = False


@dataclass(frozen=True, slots=True)
class Recording:
    """What it took to record, differentiate and plan a program, and to run it on a few rows."""

    operations: int
    seconds: float

    @property
    def microseconds_an_operation(self) -> float:
        return 1e6 * self.seconds / self.operations


@dataclass(slots=True)
class _Entry:
    peer: Peer
    rows: Rows
    clock: Clock
    replay: Replay
    first_call: float
    error: float
    calls_a_turn: int = 1
    nanoseconds: list[int] = field(default_factory=list)
    processor: int = 0
    wall: int = 0

    def take_turn(self) -> None:
        processor, wall = process_time_ns(), perf_counter_ns()
        for _ in range(self.calls_a_turn):
            start = self.clock()
            results = self.replay()
            self.nanoseconds.append(self.clock() - start)
            del results  # freed off the clock, and before the next call needs the memory
        self.processor += process_time_ns() - processor
        self.wall += perf_counter_ns() - wall

    def timing(self) -> ReplayTiming:
        return ReplayTiming(
            peer=self.peer.key,
            workload=self.rows.name,
            rows=self.rows.count,
            calls=len(self.nanoseconds),
            a_row=Spread.of(self.nanoseconds, self.rows.count),
            first_call=self.first_call,
            cores=self.processor / self.wall,
            error=self.error,
        )


@dataclass(frozen=True, slots=True)
class Turns:
    """Peers that take turns on a workload."""

    rows: Rows
    peers: Sequence[Peer]
    effort: Effort
    clock: Clock

    @property
    def steps(self) -> int:
        """How often `take` will call `advance`, if no peer fails."""
        return len(self.peers) * (self.effort.rounds + 1)

    def take(self, advance: Callable[[], None]) -> tuple[list[ReplayTiming], list[Failure]]:
        """Time every peer; `advance` is called after each step."""
        expected = _expected(self.rows)
        entries: list[_Entry] = []
        failures: list[Failure] = []
        for peer in self.peers:
            started = self._start(peer, expected)
            if isinstance(started, _Entry):
                entries.append(started)
            else:
                failures.append(started)
            advance()
        gc.collect()
        gc.freeze()  # what compilers left behind is no business of the calls that follow
        for _ in range(self.effort.rounds):
            for entry in entries:
                entry.take_turn()
                advance()
        gc.unfreeze()
        return [entry.timing() for entry in entries], failures

    def _start(self, peer: Peer, expected: Sequence[Any]) -> _Entry | Failure:
        """The first call of a peer, and whether it agrees."""
        rows = self.rows
        try:
            building = peer.building_time(rows)
            start = perf_counter()
            replay = peer.prepare(rows)
            results = replay()
            first_call = building + perf_counter() - start
        except Exception as error:  # a peer's compiler may raise anything
            text = str(error).strip().splitlines() or [""]
            return Failure(peer.key, rows.name, f"{type(error).__name__}: {text[0]}")
        error = _error(rows, results, expected)
        if not error <= TOLERANCE:  # written so that a NaN is a disagreement
            reason = f"relative error {error:.1e}, {TOLERANCE:.0e} allowed"
            return Failure(peer.key, rows.name, reason, disagrees=True)
        del results
        entry = _Entry(peer, rows, self.clock, replay, first_call, error)
        start = perf_counter()
        replay()
        in_a_turn = self.effort.turn_ns / (1e9 * (perf_counter() - start))
        entry.calls_a_turn = max(1, min(MOST_CALLS_A_TURN, int(in_a_turn)))
        return entry


def time_recording(operations: int, repeats: int, clock: Clock) -> Recording:
    """The best of several first calls of a fresh program of so many operations."""
    rows = asian_rows(RECORDED_ROWS, operations // OPERATIONS_A_STEP)
    engine = Retrograde()
    engine.load()
    seconds = []
    for _ in range(repeats):
        gc.collect()
        start = clock()
        engine.prepare(rows)()
        seconds.append((clock() - start) / 1e9)
    return Recording(operations, min(seconds))


def _checked(rows: Rows) -> Any:
    return np.linspace(0, rows.count - 1, CHECKED_ROWS).astype(int)


def _expected(rows: Rows) -> list[Any]:
    """Value and gradients of some rows by eager values: one array for each."""
    found = [rows.expected(int(row)) for row in _checked(rows)]
    return [np.array(column) for column in zip(*((value, *grads) for value, grads in found))]


def _error(rows: Rows, results: Results, expected: Sequence[Any]) -> float:
    value, gradients = results
    outputs = [_as_array(it)[_checked(rows)] for it in (value, *gradients)]
    if len(outputs) not in (1, len(expected)):
        return float("nan")
    errors = [
        np.max(np.abs(output - exact)) / np.max(np.abs(exact))
        for output, exact in zip(outputs, expected)
    ]
    return float(np.max(errors))  # a NaN stays one


def _as_array(output: Any) -> Any:
    return np.asarray(output.detach() if hasattr(output, "detach") else output)
