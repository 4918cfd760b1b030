"""Time replays against tuned C and the peers: `python benchmarks/replay.py`, see README.md.

This file chooses what to run and in which order. Programs live in replay_workloads.py, the limit
in limits/, peers in replay_peers.py, the clock in replay_measure.py, promises in replay_goals.py.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter_ns, process_time_ns

from goals import Goal
from measure import Effort
from progress import Bar, progress
from replay_goals import ReplayResults, replay_goals
from replay_measure import ReplayTiming, Turns, time_recording
from replay_memory import extra_bytes
from replay_peers import Peer, Retrograde, RetrogradeTwoThreads, all_peers, set_environment
from replay_report import print_replay_report
from replay_workloads import Rows, asian_rows, black_scholes_rows
from results import Machine, Presence

WORKLOADS = {"black-scholes": black_scholes_rows, "asian": asian_rows}
SECTIONS = (*WORKLOADS, "threads", "recording", "memory")


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to measure."""

    effort: Effort
    recorded: tuple[int, ...]
    """Operations of the programs whose recording is timed."""
    weighed_rows: tuple[int, ...]


FULL = Plan(Effort(9, 100_000_000), (10**3, 10**4, 10**5, 10**6), (10**6, 4 * 10**6))
QUICK = Plan(Effort(5, 30_000_000), (10**3, 10**4, 10**5), (10**6, 2 * 10**6))
REPEATED_BELOW = 10**5
"""Shorter programs are recorded three times, longer ones once."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    options = _parse(arguments)
    set_environment()
    asked = _asked(options.peers)
    presences = [Presence(it.key, it.title, it.version(), it.available()) for it in asked]
    present = [peer for peer, it in zip(asked, presences, strict=True) if it.absent is None]
    machine = Machine(platform.python_version(), platform.platform(), os.cpu_count() or 1)
    results = ReplayResults(machine, options.quick, options.processor_time, presences)
    with progress() as bar:
        _measure(results, present, options, bar)
    judged = replay_goals(results)
    if options.json:
        print(json.dumps(_as_json(results, judged), indent=2))
    else:
        print_replay_report(results, judged)
    if any(it.disagrees for it in results.failures):
        return 1
    return int(options.strict and any(goal.met is False for goal in judged))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    keys = [peer.key for peer in all_peers()]
    parser = argparse.ArgumentParser(description="Time replays against tuned C and the peers.")
    parser.add_argument(
        "--quick", action="store_true", help="fewer rounds, no peer that is slow to compile"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="on a busy machine: time of the processor, not of the clock on the wall",
    )
    parser.add_argument("--strict", action="store_true", help="exit 1 when a goal is missed")
    parser.add_argument(
        "--only",
        type=lambda text: _chosen(text, SECTIONS),
        default=SECTIONS,
        metavar="SECTION,...",
        help=f"some of {', '.join(SECTIONS)}",
    )
    parser.add_argument(
        "--peers",
        type=lambda text: _chosen(text, keys),
        default=None,
        metavar="PEER,...",
        help=f"some of {', '.join(keys)}",
    )
    return parser.parse_args(arguments)


def _chosen(text: str, names: Sequence[str]) -> tuple[str, ...]:
    chosen = tuple(text.split(","))
    for name in chosen:
        if name not in names:
            raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(names)}")
    return chosen


def _asked(keys: Sequence[str] | None) -> list[Peer]:
    """The peers that were named, or those that every run is for."""
    if keys is None:
        return [peer for peer in all_peers() if not peer.on_request]
    return [peer for peer in all_peers() if peer.key in keys]


def _joining(present: Sequence[Peer], rows: Rows, options: argparse.Namespace) -> list[Peer]:
    """The peers of one workload; in a quick run none that compiles slowly, unless it was named."""
    waiting = options.peers is not None or not options.quick
    return [
        peer
        for peer in present
        if peer.joins(rows) and (waiting or rows.name not in peer.slow_to_compile)
    ]


def _measure(
    results: ReplayResults, present: Sequence[Peer], options: argparse.Namespace, bar: Bar
) -> None:
    """Fill in the sections of `results`."""
    only, plan = options.only, QUICK if options.quick else FULL
    clock = process_time_ns if options.processor_time else perf_counter_ns
    engine_is_here = any(isinstance(peer, Retrograde) for peer in present)
    for name, make in WORKLOADS.items():
        if not {name, "threads"} & set(only):
            continue
        rows = make()
        results.titles[name] = rows.title
        if name in only:
            peers = _joining(present, rows, options)
            results.replays += _replays(results, Turns(rows, peers, plan.effort, clock), bar)
        if "threads" in only and engine_is_here:
            pair: list[Peer] = [Retrograde(), RetrogradeTwoThreads()]
            for peer in pair:
                peer.load()
            turns = Turns(rows, pair, plan.effort, perf_counter_ns)
            results.threads += _replays(results, turns, bar)
    if "recording" in only and engine_is_here:
        advance = bar("recording", len(plan.recorded))
        for operations in plan.recorded:
            repeats = 3 if operations < REPEATED_BELOW else 1
            results.recordings.append(time_recording(operations, repeats, clock))
            advance()
    if "memory" in only and engine_is_here:
        advance = bar("memory", len(plan.weighed_rows))
        for count in plan.weighed_rows:
            extra = extra_bytes(count)
            results.memory += [] if extra is None else [extra]
            advance()


def _replays(results: ReplayResults, turns: Turns, bar: Bar) -> list[ReplayTiming]:
    timings, failures = turns.take(bar(turns.rows.name, turns.steps))
    results.failures += failures
    return timings


def _as_json(results: ReplayResults, judged: Sequence[Goal]) -> dict[str, object]:
    verdicts = [{**dataclasses.asdict(goal), "verdict": goal.verdict} for goal in judged]
    return {**dataclasses.asdict(results), "goals": verdicts}


if __name__ == "__main__":
    sys.exit(main())
