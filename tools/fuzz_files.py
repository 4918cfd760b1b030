"""Load a great many mutated program files: each must be refused, or give right answers.

    python tools/fuzz_files.py [count] [--first N] [--json] [--tensors]

Cases are numbered, and a number is always the same file; ``tests/program/mutations.py`` makes and
judges them, ``tests/program/tensor_mutations.py`` those of functions on tensors. They run in a
process of their own, so that a crash would be seen and its case named. Exits with 1 if any case was
neither refused nor right.
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
SLICE = 50_000
"""Cases a process."""


def judge(first: int, count: int, tensors: bool) -> None:
    """Judge cases in this process: a line when one begins that may crash, a line of counts."""
    sys.path.insert(0, str(ROOT))
    mutations = import_module(f"tests.program.{'tensor_' if tensors else ''}mutations")
    found: Counter[str] = Counter()
    for case in range(first, first + count):
        how = "?"
        try:
            how, data = mutations.mutated(case)
            if not how.startswith("raw"):
                print(f"case {case}")
            found[f"{how.split()[0]}: {mutations.verdict(case, how, data)}"] += 1
        except Exception as error:
            found["wrong"] += 1
            print(f"wrong {case} ({how}): {type(error).__name__}: {error}")
    print(json.dumps(found))


def run(first: int, count: int, tensors: bool) -> tuple[Counter[str], list[str]]:
    """A slice of cases in a process of its own: what became of them, and complaints."""
    done = subprocess.run(
        [
            sys.executable,
            "-u",
            __file__,
            str(count),
            "--first",
            str(first),
            "--here",
            *(["--tensors"] if tensors else []),
        ],
        capture_output=True,
        text=True,
    )
    lines = done.stdout.splitlines() or [""]
    wrong = [line for line in lines if line.startswith("wrong")]
    if done.returncode != 0:
        last = next((line for line in reversed(lines) if line.startswith("case")), "the first")
        wrong.append(f"exit {done.returncode} after {last}: {done.stderr[-500:]}")
        return Counter(crashed=1), wrong
    return Counter(json.loads(lines[-1])), wrong


def main(arguments: list[str]) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    parser.add_argument("--tensors", action="store_true", help="files of functions on tensors")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.here:
        judge(given.first, given.count, given.tensors)
        return 0
    began = time.perf_counter()
    total: Counter[str] = Counter()
    complaints: list[str] = []
    for first in range(given.first, given.first + given.count, SLICE):
        found, wrong = run(first, min(SLICE, given.first + given.count - first), given.tensors)
        total += found
        complaints += wrong
        print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr, flush=True)
        if not given.json:
            print(f"{first + SLICE - given.first:,} cases, {len(complaints)} wrong", flush=True)
    seconds = time.perf_counter() - began
    if given.json:
        print(json.dumps({"seconds": seconds, "wrong": complaints, **total}))
    else:
        for what, number in sorted(total.items()):
            print(f"{number:>9,}  {what}")
        print(f"{sum(total.values()):>9,}  in {seconds:.0f} s")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
