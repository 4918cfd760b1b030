"""Time loops and branches: `python benchmarks/control.py`, see README.md.

The first call records, finds the loops, differentiates and lays out; later calls replay. Peers say
the loop themselves, and the branch. All agree on the gradients before anything is told.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter, process_time
from typing import Any

import numpy as np
from control_programs import PROGRAMS as LONG
from control_programs import Program, peers_of
from control_rows import ROWS, calls_of

PROGRAMS = LONG | ROWS

TOLERANCE = 1e-9


@dataclass
class Timing:
    """One engine on one program: seconds of the first call and of the fastest later one."""

    program: str
    engine: str
    first: float
    steady: float
    operations: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(description="Time functions with loops and branches.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=5, help="later calls of each engine (5)")
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="the time of this process's processors, all threads added, where others use them too",
    )
    parser.add_argument("--only", default=",".join(PROGRAMS), help="programs, by commas")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", UserWarning)  # that a recording is long is what is measured
    timings, wrong = [], False
    for name in options.only.split(","):
        program = PROGRAMS[name]()
        expected: Any = None
        calls = calls_of(program) if name in ROWS else peers_of(program)
        for engine, call in calls.items():
            clock = process_time if options.processor_time else perf_counter
            timing, gradients = _timed(program, engine, call, options.rounds, clock)
            timings.append(timing)
            expected = gradients if expected is None else expected
            if not np.allclose(gradients, expected, rtol=TOLERANCE, atol=TOLERANCE):
                print(f"{name}: {engine} has other derivatives", file=sys.stderr)
                wrong = True
    if options.json:
        print(json.dumps([asdict(timing) for timing in timings], indent=1))
    else:
        _table(timings)
    return int(wrong)


def _timed(
    program: Program,
    engine: str,
    call: Callable[[], Any],
    rounds: int,
    clock: Callable[[], float],
) -> tuple[Timing, Any]:
    began = clock()
    gradients = call()
    first = clock() - began
    steady = []
    for _ in range(rounds):
        began = clock()
        call()
        steady.append(clock() - began)
    return Timing(program.name, engine, first, min(steady), program.operations), np.array(gradients)


def _table(timings: list[Timing]) -> None:
    heads = ("first call", "us an op", "steady", "ns an op")
    print(f"{'program':<10}{'engine':<20}" + "".join(f"{head:>12}" for head in heads))
    for each in timings:
        count = each.operations
        first, steady = each.first / count * 1e6, each.steady / count * 1e9
        times = f"{each.first:>10.2f} s{first:>12.2f}{each.steady * 1e3:>9.2f} ms{steady:>12.1f}"
        print(f"{each.program:<10}{each.engine:<20}{times}")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"the most memory this process had: {most / 2**20:,.0f} MiB")


if __name__ == "__main__":
    sys.exit(main())
