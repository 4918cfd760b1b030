"""What replays promise, as a list that a run is held against.

Ratios compare medians; beside each stands the same ratio of the minima. Everything returns new
arrays, the limit too: like is compared with like.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from goals import Goal
from measure import Spread
from replay_measure import Failure, Recording, ReplayTiming
from replay_memory import Extra
from results import Machine, Presence

ENGINE = "retrograde"
COMPILED = "retrograde-cc"
LIMIT = "c"
NOT_PEERS = (ENGINE, COMPILED, LIMIT, "c-kept", "c-plain")
LINEAR = 1.3
"""How much dearer an operation may be in a program ten times as long."""
FLAT_BYTES_A_ROW = 1.0


@dataclass(slots=True)
class ReplayResults:
    """One run. Sections that were not asked for are empty."""

    machine: Machine
    quick: bool
    processor_time: bool
    """Whether replays and recordings were timed by the processor's clock; threads never are."""
    peers: list[Presence]
    titles: dict[str, str] = field(default_factory=dict)
    """Of the workloads."""
    replays: list[ReplayTiming] = field(default_factory=list)
    threads: list[ReplayTiming] = field(default_factory=list)
    """retrograde with one and with two threads."""
    recordings: list[Recording] = field(default_factory=list)
    memory: list[Extra] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def title(self, key: str) -> str:
        """The name under which a peer is shown."""
        return next((it.title for it in self.peers if it.engine == key), key)

    def of(self, workload: str) -> dict[str, ReplayTiming]:
        """The peers of a workload."""
        return {it.peer: it for it in self.replays if it.workload == workload}


def replay_goals(results: ReplayResults) -> list[Goal]:
    """Every goal, held against what this run measured."""
    calls, paths = results.of("black-scholes"), results.of("asian")
    return [
        _at_most("Black-Scholes: times tuned C", 1.5, _ratio(calls, ENGINE, LIMIT)),
        _at_least("Black-Scholes: faster than the fastest peer", 1, _advantage(calls)),
        _at_most("Asian: times tuned C", 1.35, _ratio(paths, ENGINE, LIMIT)),
        _at_most("Asian: times tuned C, the craft's aim", 1.15, _ratio(paths, ENGINE, LIMIT)),
        _at_most("Black-Scholes, backend cc: times tuned C", 1.15, _ratio(calls, COMPILED, LIMIT)),
        _at_most("Asian, backend cc: times tuned C", 1.25, _ratio(paths, COMPILED, LIMIT)),
        _at_least("Asian: faster than JAX at its best", 3, _advantage(paths, "jax")),
        _at_least("Asian: faster than torch at its best", 3, _advantage(paths, "torch")),
        *(
            _at_least(f"{name}: two threads over one", 1.7, _two_threads(results, name))
            for name in ("black-scholes", "asian")
        ),
        *_recording_goals(results.recordings),
        _memory_goal(results.memory),
    ]


def _ratio(timings: dict[str, ReplayTiming], above: str, below: str) -> Spread | None:
    if above not in timings or below not in timings:
        return None
    a, b = timings[above].a_row, timings[below].a_row
    return Spread(a.median / b.median, a.minimum / b.minimum)


def _advantage(timings: dict[str, ReplayTiming], family: str = "") -> Spread | None:
    """How much faster than the fastest peer, or the fastest whose name begins so."""
    peers = [key for key in timings if key not in NOT_PEERS and key.startswith(family)]
    found = [it for key in peers if (it := _ratio(timings, key, ENGINE)) is not None]
    if not found:
        return None
    return Spread(min(it.median for it in found), min(it.minimum for it in found))


def _two_threads(results: ReplayResults, workload: str) -> Spread | None:
    timings = {it.peer: it for it in results.threads if it.workload == workload}
    return _ratio(timings, ENGINE, f"{ENGINE}-2")


def _recording_goals(recordings: Sequence[Recording]) -> Iterable[Goal]:
    costs = [it.microseconds_an_operation for it in recordings]
    title = "recording and passes: an operation"
    yield Goal(title, False, 40, "us", max(costs) if costs else None)
    title = "recording: an operation of the longest over ten times shorter"
    yield Goal(title, False, LINEAR, "x", costs[-1] / costs[-2] if len(costs) > 1 else None)


def _memory_goal(extras: Sequence[Extra]) -> Goal:
    title = "memory beyond inputs and outputs: growth a row"
    if len(extras) < 2:
        return Goal(title, False, FLAT_BYTES_A_ROW, "bytes")
    first, last = extras[0], extras[-1]
    growth = (last.bytes - first.bytes) / (last.rows - first.rows)
    return Goal(title, False, FLAT_BYTES_A_ROW, "bytes", growth)


def _at_most(title: str, bound: float, spread: Spread | None) -> Goal:
    return _judged(title, False, bound, spread)


def _at_least(title: str, bound: float, spread: Spread | None) -> Goal:
    return _judged(title, True, bound, spread)


def _judged(title: str, at_least: bool, bound: float, spread: Spread | None) -> Goal:
    if spread is None:
        return Goal(title, at_least, bound, "x")
    return Goal(title, at_least, bound, "x", spread.median, spread.minimum)
