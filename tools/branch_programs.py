"""Run a great many random functions with loops and branches: each must give the same in all forms.

    python tools/branch_programs.py [count] [--first N] [--json]

Cases are numbered, and a number is always the same function. ``tests/program/branch_cases.py``
makes and holds them. They run in processes of their own, a slice each, so that a crash would be
seen and its case named. Exits with 1 if any function gave something else.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SLICE = 1_000
"""Cases a process."""


def hold(first: int, count: int) -> None:
    """Hold cases in this process: a line for each that is wrong, and one of counts."""
    sys.path.insert(0, str(ROOT))
    cases = import_module("tests.program.branch_cases")
    found: Counter[str] = Counter()
    for case in range(first, first + count):
        try:
            found += cases.hold(case)
        except Exception as error:
            found["wrong"] += 1
            print(f"wrong {case}: {type(error).__name__}: {error}".replace("\n", " "), flush=True)
    print(json.dumps(found))


def run(first: int, count: int) -> tuple[Counter[str], list[str]]:
    """A slice of cases in a process of its own: what was found, and complaints."""
    command = [sys.executable, "-u", __file__, str(count), "--first", str(first), "--here"]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = done.stdout.splitlines() or [""]
    wrong = [line for line in lines if line.startswith("wrong")]
    if done.returncode != 0:
        wrong.append(f"exit {done.returncode} in {first} to {first + count}: {done.stderr[-500:]}")
        return Counter(crashed=1), wrong
    return Counter(json.loads(lines[-1])), wrong


def main(arguments: list[str]) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", nargs="?", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.here:
        hold(given.first, given.count)
        return 0
    total: Counter[str] = Counter()
    complaints: list[str] = []
    began = time.monotonic()
    end = given.first + given.count
    for first in range(given.first, end, SLICE):
        counts, wrong = run(first, min(SLICE, end - first))
        total += counts
        complaints += wrong
        for line in wrong:
            print(line, flush=True)
        if not given.json:
            passed = time.monotonic() - began
            print(f"{first + SLICE:>9,} {passed:7.0f} s  {dict(total)}", flush=True)
    if given.json:
        print(json.dumps({"counts": total, "wrong": complaints}))
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
