"""Run other people's programs as they are and under `retrograde run`, and compare what they print.

    python tools/outside.py FOLDER              every .py file in it, as a table
    python tools/outside.py FOLDER --json       the same as data
    python tools/outside.py FILE.py ...         these files
    python tools/outside.py FOLDER --core reference

The class to replace is found: the one with operators and a backward pass, in the script or in a
module beside it that it imports. Numbers may differ by 1e-9 of their size; times and places in
memory are not compared. Exits 0 when every program gave the same, 1 when one did not, and 2 when
there was nothing to compare. Programs that fail as they are, or give something else each time they
run, count as neither.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

RULES = {"__add__", "__radd__", "__mul__", "__rmul__", "__sub__", "__pow__", "__neg__"}
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")
TIMES = re.compile(
    r"(?i)\b(time|took|elapsed|seconds?|secs?|duration|ms|fps|/s|per second|speed|memory)\b"
    r"|\d\s?(s|ms|us|µs|ns)\b"
)
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Result:
    """How one program did: "same", "different", "failed", or "skipped"; and why.

    ``ours`` tells how far ours took the place: "ours", "ours but for …", or "own: why".
    """

    program: str
    replaced: str
    verdict: str
    reason: str = ""
    ours: str = ""
    seconds: float = 0.0
    seconds_ours: float = 0.0


def engines_in(path: Path) -> list[str]:
    """The classes of a file that have operators and a backward pass, the fullest first."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            names = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            names |= {
                target.id
                for part in node.body
                if isinstance(part, ast.Assign)
                for target in part.targets
                if isinstance(target, ast.Name)
            }
            if len(names & RULES) >= 2:
                passes = any("backward" in name or "backprop" in name for name in names)
                found.append((not passes, -len(names & RULES), node.name))
    return list(dict.fromkeys(name for *_, name in sorted(found)))


def class_of(path: Path) -> str:
    """What --replace is to be given for a script; empty where no engine was found."""
    own = engines_in(path)
    if own:
        return own[0]
    for node in ast.walk(ast.parse(path.read_bytes())):
        modules = []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        for module in modules:
            engines = engines_in(path.parent / (module.replace(".", "/") + ".py"))
            if engines:
                return f"{module}.{engines[0]}"
    return ""


def difference(plain: str, ours: str) -> str:
    """Where two outputs differ first; empty where they give the same."""
    one, other = plain.splitlines(), ours.splitlines()
    for line, (left, right) in enumerate(zip(one, other), 1):
        if not same_line(left, right):
            return f"line {line}: {left.strip()[:60]!r} became {right.strip()[:60]!r}"
    if len(one) != len(other):
        return f"{len(one)} lines became {len(other)}"
    return ""


def same_line(left: str, right: str) -> bool:
    """Whether two lines show the same: text as it is, numbers up to rounding."""
    left, right = (_plain(text) for text in (left, right))
    if left == right:
        return True
    if NUMBER.sub("#", left) != NUMBER.sub("#", right):
        return bool(TIMES.search(left) and TIMES.search(right))
    pairs = zip(NUMBER.findall(left), NUMBER.findall(right))
    return all(_close(float(a), float(b)) for a, b in pairs) or bool(TIMES.search(left))


def _plain(text: str) -> str:
    text = re.sub(r"0x[0-9a-fA-F]+", "0x", text)
    return re.sub(r"np\.float(?:64|32)\(([^()]*)\)", r"\1", text)


def _close(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b))


def compared(path: Path, core: str, limit: float) -> Result:
    """One program, as it is and under `retrograde run`."""
    replaced = class_of(path)
    if not replaced:
        return Result(path.name, "", "skipped", "no engine found in it")
    plain, seconds = _run([path.name], path, core, limit)
    if plain.returncode:
        told = plain.stderr.strip().splitlines()
        return Result(path.name, replaced, "skipped", f"fails as it is: {told[-1] if told else ''}")
    command = ["-m", "retrograde", "run", path.name, "--replace", replaced]
    ours, seconds_ours = _run(command, path, core, limit)
    said = [line for line in ours.stderr.splitlines() if line.startswith("retrograde: ")]
    how = _how(said)
    if ours.returncode:
        last = [line for line in ours.stderr.strip().splitlines() if line not in said]
        reason = (last or said or [f"exit code {ours.returncode}"])[-1]
        return Result(path.name, replaced, "failed", reason, how, seconds, seconds_ours)
    reason = difference(plain.stdout, ours.stdout)
    if reason and any(
        difference(plain.stdout, _run([path.name], path, core, limit)[0].stdout) for _ in range(3)
    ):
        return Result(path.name, replaced, "skipped", "gives something else each time", how)
    verdict = "different" if reason else "same"
    return Result(path.name, replaced, verdict, reason, how, seconds, seconds_ours)


def _how(said: list[str]) -> str:
    for line in said:
        if " stayed the script's own: " in line:
            return "own: " + line.partition(" stayed the script's own: ")[2]
        if " is ours but for " in line:
            return "ours but for " + line.partition(" is ours but for ")[2].partition(":")[0]
    return "ours"


def _run(
    arguments: list[str], path: Path, core: str, limit: float
) -> tuple[subprocess.CompletedProcess[str], float]:
    environment = {
        **os.environ,
        "PYTHONUTF8": "1",
        "PYTHONHASHSEED": "0",
        "MPLBACKEND": "Agg",
        "RETROGRADE_CORE": core,
    }
    began = time.perf_counter()
    try:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=path.parent, env=environment, timeout=limit,
            capture_output=True, encoding="utf-8", errors="replace", check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        done = subprocess.CompletedProcess(arguments, 124, "", f"took more than {limit:g} s")
    return done, time.perf_counter() - began


def main() -> int:
    """Compare the programs named on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("places", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--core", default="", choices=("", "native", "reference"))
    parser.add_argument("--limit", type=float, default=120.0, help="seconds a program may take")
    options = parser.parse_args()
    files = [
        file
        for place in options.places
        for file in (sorted(place.glob("*.py")) if place.is_dir() else [place])
    ]
    results = []
    for file in files:
        results.append(compared(file.resolve(), options.core, options.limit))
        if not options.json:
            last = results[-1]
            told = last.reason or last.ours
            print(f"{last.verdict:9}  {last.program:32}  {last.replaced:14}  {told}", flush=True)
    counts = Counter(result.verdict for result in results)
    if options.json:
        print(json.dumps({"programs": [asdict(each) for each in results], "counts": counts}))
    else:
        kinds = ("same", "different", "failed", "skipped")
        print(", ".join(f"{counts[kind]} {kind}" for kind in kinds))
    if not counts["same"] + counts["different"] + counts["failed"]:
        return 2
    return int(counts["different"] + counts["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main())
