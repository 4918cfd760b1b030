"""Time programs with branches: `python benchmarks/branches.py`, see README.md.

Every row goes its own way; peers use masks or a loop by hand. All agree before anything is timed.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from time import perf_counter, process_time
from typing import Any

import numpy as np
from branches_peers import LIBRARIES, PEERS
from branches_programs import PROGRAMS, Program
from progress import progress
from replay_peers import set_environment

TOLERANCE = 1e-9
TURN, MOST_CALLS = 0.2, 50
"""Seconds that a peer's turn should take, and how often it is called in one at most."""
GOALS = {"heston": 5.0, "residual": 5.0}
"""How much faster than the best library peer."""


@dataclass
class Timing:
    """One peer on one program: seconds of the first call, milliseconds of the others."""

    program: str
    peer: str
    first: float
    median: float
    minimum: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(description="Time programs with branches.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--rounds", type=int, default=9, help="turns of each peer (9)")
    parser.add_argument("--only", default=",".join(PROGRAMS), help="programs, by commas")
    parser.add_argument("--peers", default=",".join(PEERS), help="peers, by commas")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a goal is missed")
    options = parser.parse_args(arguments)
    set_environment()
    timings: list[Timing] = []
    wrong = False
    with progress() as bar:
        names, peers = options.only.split(","), options.peers.split(",")
        for name in names:
            advance = bar(name, len(peers) * (options.rounds + 1))
            found, disagreed = _measure(PROGRAMS[name](), peers, options.rounds, advance)
            timings += found
            wrong |= disagreed
    ratios = {name: _ratio(timings, name) for name in options.only.split(",")}
    if options.json:
        print(json.dumps({"timings": [asdict(it) for it in timings], "ratios": ratios}, indent=2))
    else:
        _print(timings, ratios)
    missed = any(ratio is not None and ratio < GOALS.get(n, 0.0) for n, ratio in ratios.items())
    return int(wrong or (options.strict and missed))


def _measure(
    program: Program, peers: Sequence[str], rounds: int, advance: Any
) -> tuple[list[Timing], bool]:
    """Every peer in turns, processor time; a peer that disagrees is named and left out."""
    calls, first, expected, wrong = {}, {}, None, False
    for name in peers:
        start = perf_counter()
        try:
            call = PEERS[name](program)
            results = [np.asarray(result) for result in call()]
        except ImportError as error:
            print(f"{name} on {program.name}: {error}", file=sys.stderr)
            continue
        finally:
            advance()
        first[name] = perf_counter() - start
        expected = results if expected is None else expected
        if _differ(results, expected):
            print(f"{name} disagrees on {program.name}", file=sys.stderr)
            wrong = True
            continue
        start = perf_counter()
        call()
        calls[name] = call, max(1, min(MOST_CALLS, int(TURN / (perf_counter() - start))))
    spent: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for name, (call, often) in calls.items():
            for _ in range(often):
                start = process_time()
                results = call()
                spent[name].append(1e3 * (process_time() - start))
                del results
            advance()
    gc.unfreeze()
    return [
        Timing(program.name, name, first[name], statistics.median(times), min(times))
        for name, times in spent.items()
    ], wrong


def _differ(results: Sequence[Any], expected: Sequence[Any]) -> bool:
    return any(
        not np.max(np.abs(got - exact)) <= TOLERANCE * np.max(np.abs(exact))
        for got, exact in zip(results, expected)
    )


def _ratio(timings: Sequence[Timing], program: str) -> float | None:
    """How much faster than the fastest library peer; None without both."""
    ours = [it.median for it in timings if (it.program, it.peer) == (program, "retrograde")]
    theirs = [it.median for it in timings if it.program == program and it.peer in LIBRARIES]
    return min(theirs) / ours[0] if ours and theirs else None


def _print(timings: Sequence[Timing], ratios: dict[str, float | None]) -> None:
    print(f"Python {platform.python_version()}, {platform.platform()}, {os.cpu_count()} cores")
    print("processor time, one thread; median of the calls after the first (minimum)")
    for name, ratio in ratios.items():
        program = PROGRAMS[name](8)
        print(f"\n{name}: {program.title}, {PROGRAMS[name]().count:,} rows")
        for it in (it for it in timings if it.program == name):
            title = {"numpy": "numpy, value only", "numba": "numba, by hand"}.get(it.peer, it.peer)
            print(
                f"  {title:18} {it.median:9.2f} ms ({it.minimum:.2f}), first call {it.first:.2f} s"
            )
        if ratio is not None:
            goal = f", goal {GOALS[name]:.0f}x" if name in GOALS else ""
            print(f"  {ratio:.1f}x faster than the best library peer{goal}")


if __name__ == "__main__":
    sys.exit(main())
