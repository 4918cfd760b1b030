"""The clock: passes of several engines timed in turns, and the cycle collector watched.

Engines take turns round by round, so that a busy moment of the machine falls on all of them.
What the numbers mean is decided in goals.py, how they look in report.py.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter_ns

from engines import Engine
from workloads import Workload

MOST_PASSES_A_TURN = 200


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure: the rounds, and the time that one engine's turn should take."""

    rounds: int
    turn_ns: int


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle and the best of several measurements, in nanoseconds an operation."""

    median: float
    minimum: float

    @classmethod
    def of(cls, nanoseconds: Sequence[int], operations: int) -> Spread:
        return cls(statistics.median(nanoseconds) / operations, min(nanoseconds) / operations)


@dataclass(frozen=True, slots=True)
class Timing:
    """One engine on one workload. The whole pass is forward, backward and freeing the graph."""

    engine: str
    workload: str
    operations: int
    passes: int
    forward: Spread
    backward: Spread | None
    whole: Spread


@dataclass(slots=True)
class _Entry:
    """An engine on a workload while it is being measured."""

    engine: Engine
    workload: Workload
    passes_a_turn: int = 1
    forward: list[int] = field(default_factory=list)
    backward: list[int] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)

    def warm_up(self, turn_ns: int) -> None:
        """One pass off the record, which tells how many fit into a turn."""
        with _collector(self.engine.keeps_collector):
            *_, whole = _time_pass(self.engine, self.workload)
        self.passes_a_turn = max(1, min(MOST_PASSES_A_TURN, turn_ns // whole))

    def take_turn(self) -> None:
        with _collector(self.engine.keeps_collector):
            for _ in range(self.passes_a_turn):
                forward, backward, whole = _time_pass(self.engine, self.workload)
                self.forward.append(forward)
                self.backward.append(backward)
                self.whole.append(whole)
                if not self.engine.keeps_collector:
                    gc.collect()  # so that the next pass finds the memory of this one

    def timing(self) -> Timing:
        operations = self.workload.operations
        return Timing(
            engine=self.engine.key,
            workload=self.workload.name,
            operations=operations,
            passes=len(self.whole),
            forward=Spread.of(self.forward, operations),
            backward=Spread.of(self.backward, operations) if self.engine.differentiates else None,
            whole=Spread.of(self.whole, operations),
        )


def time_in_turns(
    pairs: Sequence[tuple[Engine, Workload]], effort: Effort, advance: Callable[[], None]
) -> list[Timing]:
    """Time every pair of an engine and a workload; `advance` is called after each step."""
    entries = [_Entry(engine, workload) for engine, workload in pairs]
    for entry in entries:
        entry.warm_up(effort.turn_ns)
        advance()
    for _ in range(effort.rounds):
        for entry in entries:
            entry.take_turn()
            advance()
    return [entry.timing() for entry in entries]


def steps_of(pairs: Sequence[tuple[Engine, Workload]], effort: Effort) -> int:
    """How often `time_in_turns` will call `advance`."""
    return len(pairs) * (effort.rounds + 1)


def count_collections(engine: Engine, workload: Workload) -> int:
    """How often the cycle collector ran by itself during one pass, with the collector on."""
    started = 0

    def watch(phase: str, info: dict[str, int]) -> None:
        nonlocal started
        started += phase == "start"

    with _collector(True):
        gc.callbacks.append(watch)
        try:
            _time_pass(engine, workload)
        finally:
            gc.callbacks.remove(watch)
    return started


def _time_pass(engine: Engine, workload: Workload) -> tuple[int, int, int]:
    """Nanoseconds of forward, of backward and of the whole pass, on fresh leaves."""
    engine.begin()
    prepared = workload.prepare(engine)
    start = perf_counter_ns()
    root = engine.forward(prepared.run)
    built = perf_counter_ns()
    engine.backward(root)
    differentiated = perf_counter_ns()
    del root
    freed = perf_counter_ns()
    return built - start, differentiated - built, freed - start


@contextmanager
def _collector(enabled: bool) -> Iterator[None]:
    """The cycle collector on or off; whatever is left over is collected before and after."""
    was_enabled = gc.isenabled()
    gc.collect()
    (gc.enable if enabled else gc.disable)()
    try:
        yield
    finally:
        (gc.enable if was_enabled else gc.disable)()
        gc.collect()
