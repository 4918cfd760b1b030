"""Running learner code: a copy in a temporary folder, a process of its own, a time limit.

The learner's folder is never the place where the code runs, and nothing of it but the one file is
read: tests changed there change nothing.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..errors import LearnError
from .programs import Answer

SECONDS: Final = 10.0
MEMORY: Final = 4 << 30
"""Bytes of address space learner code may use."""

LONGEST_OUTPUT: Final = 4_000
"""Characters learner code may print; the rest is dropped."""

STARTING: Final = 20.0
"""Seconds allowed on top for starting Python on a busy machine."""


@dataclass(frozen=True)
class Job:
    """One file to load and what to ask it; for grading, the seed of the student."""

    name: str
    source: str
    probe: str
    seed: str = ""


@dataclass(frozen=True)
class Ran:
    """What came of a file: answers, or a problem in words; and what was printed on the way."""

    answers: tuple[Answer, ...] = ()
    problem: str = ""
    line: int | None = None
    printed: str = ""
    graded: dict[str, Any] = field(default_factory=dict)


def run(jobs: Sequence[Job], seconds: float = SECONDS) -> list[Ran]:
    """Run files one after the other in one process.

    >>> [it.problem for it in run([Job("mine", "1 +", "rule add")])]
    ['SyntaxError: invalid syntax']
    """
    try:
        with tempfile.TemporaryDirectory(
            prefix="retrograde-", ignore_cleanup_errors=True
        ) as folder:
            return _run(Path(os.path.realpath(folder)), jobs, seconds)
    except OSError as error:
        raise LearnError.no_room(error) from None


def _run(folder: Path, jobs: Sequence[Job], seconds: float) -> list[Ran]:
    here = folder / "work"
    here.mkdir()
    items = []
    for job in jobs:
        path = here / f"{job.name}.py"
        path.write_text(job.source, encoding="utf-8", errors="surrogateescape")
        items.append({"path": str(path), "name": job.name, "probe": job.probe, "seed": job.seed})
    results, where = folder / "results.json", folder / "where.txt"
    task = {
        "items": items, "results": str(results), "where": str(where),
        "seconds": seconds, "memory": MEMORY, "output": LONGEST_OUTPUT,
    }  # fmt: skip
    output = folder / "printed.txt"
    with open(output, "wb") as printing:
        process = subprocess.Popen(
            [sys.executable, "-X", "utf8", "-m", "retrograde.learn.runner"],
            stdin=subprocess.PIPE, stdout=printing, stderr=subprocess.DEVNULL,
            cwd=here, env=_environment(here), text=True, encoding="utf-8",
            start_new_session=True,
        )  # fmt: skip
    try:
        process.communicate(json.dumps(task), timeout=seconds + STARTING)
        late = False
    except subprocess.TimeoutExpired:
        late = True
    finally:
        _end(process)
    with open(output, encoding="utf-8", errors="replace") as written:
        printed = written.read(LONGEST_OUTPUT)
    try:
        found = json.loads(results.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return [_ended(process.returncode, late, seconds, where, jobs, printed)] * len(jobs)
    return [_ran(it, printed) for it in found]


def _end(process: subprocess.Popen[str]) -> None:
    """End what is left of a process, and what it may have started."""
    with suppress(OSError, AttributeError):  # gone already; or a system without groups
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _environment(home: Path) -> dict[str, str]:
    """Only what Python needs: no home, no user site, the package on the path."""
    package = Path(__file__).resolve().parents[2]
    kept = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "RETROGRADE_CORE", "LANG")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(package), *filter(None, [os.environ.get("PYTHONPATH", "")])]
    )
    return {
        **environment, "HOME": str(home), "TMPDIR": str(home), "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip


def _ran(it: dict[str, Any], printed: str) -> Ran:
    problem = it["problem"]
    if problem is None:
        answers = tuple(Answer(**answer) for answer in it["answers"])
        return Ran(answers, printed=printed, graded=it.get("graded", {}))
    text = f"{problem['raised']}: {problem['why']}".rstrip(": ")
    if problem["raised"] == "RecursionError":
        text = "it recurses without end (RecursionError)"
    elif problem["raised"] == "SystemExit":
        text = "it ends the program (exit or sys.exit): take that line out"
    elif problem["raised"] == "MemoryError":
        text = "it takes more memory than it may have (MemoryError)"
    elif "[Errno 27]" in problem["why"]:
        text = "it prints or writes more than a file may hold here (16 MB)"
    elif problem["raised"] == "EOFError":
        text = "it asks for input, and there is none here: take input() out (EOFError)"
    return Ran(problem=text, line=problem["line"], printed=printed)


def _ended(
    code: int, late: bool, seconds: float, where: Path, jobs: Sequence[Job], printed: str
) -> Ran:
    """The process left no results: it ran too long, crashed, or ended itself."""
    line, text = None, ""
    try:
        text = where.read_text(encoding="utf-8", errors="replace")
        places = re.findall(r'File "([^"]*)", line (\d+)', text)
        names = {f"{job.name}.py" for job in jobs}
        line = next((int(at) for file, at in places if Path(file).name in names), None)
    except OSError:
        pass
    if late or "Timeout (" in text:
        problem = f"it was still running after {seconds:g} seconds: does a loop never end?"
    elif code < 0:
        problem = (
            f"it crashed Python (signal {-code}): without a recursion limit, endless recursion does"
        )
    elif code:
        problem = "Python broke down before it could answer: is something built in replaced?"
    else:
        problem = "it ended Python before it could answer (os._exit?)"
    return Ran(problem=problem, line=line, printed=printed)
