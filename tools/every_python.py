"""Install and test the package on every CPython 3.10 or newer that this machine has.

    python tools/every_python.py                 all of them
    python tools/every_python.py --list          only say which there are
    python tools/every_python.py --only 3.12     one version; may be repeated
    python tools/every_python.py --others        all but the version this command runs on

Each has its virtual environment in .cache/pythons, kept for the next time, and a quick build of the
native core: what is slow to compile does not know the interpreter. What depends on the
interpreter is tested: every room briefly, the contracts of values on both cores, what reads
bytecode and frames, and the house; slow tests are left out. Exits 1 when any fails.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import scratch

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache" / "pythons"
OLDEST = (3, 10)
TESTS = (
    "tests/contract", "tests/smoke", "tests/test_house.py", "tests/program/test_names.py",
    "tests/program/test_reads.py", "tests/program/test_recording.py",
    "tests/program/test_traces.py", "tests/compat/test_numpy_protocol.py",
)  # fmt: skip

QUESTION = """
import platform, sys, sysconfig
print(platform.python_implementation())
print(platform.python_version())
print(int(bool(sysconfig.get_config_var("Py_GIL_DISABLED"))))
print(sys.base_prefix)
"""


class Interpreter(NamedTuple):
    """A CPython of this machine."""

    version: str
    path: Path
    prefix: Path

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version as numbers, for sorting."""
        return tuple(int(digits) for digits in re.findall(r"\d+", self.version)[:3])


class Outcome(NamedTuple):
    """How one interpreter did."""

    interpreter: Interpreter
    verdict: str  # "passed", "FAILED" or "skipped"
    core: str
    summary: str
    seconds: float


def candidates() -> Iterator[Path]:
    """Every file that is called like an interpreter, in the places where they live."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    folders += [Path("/usr/bin"), Path("/usr/local/bin")]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    uv = Path.home() / ".local" / "share" / "uv" / "python"
    for kept in (pyenv, uv, Path("/opt"), Path("/opt/python"), Path("/opt/hostedtoolcache/Python")):
        folders += sorted(kept.glob("*/bin")) + sorted(kept.glob("*/*/bin"))
    for folder in dict.fromkeys(folders):
        if "shims" not in folder.parts:  # pyenv's shims stand for interpreters found elsewhere
            yield from sorted(folder.glob("python3")) + sorted(folder.glob("python3.[0-9]*"))


def ask(path: Path) -> Interpreter | None:
    """What an interpreter says of itself, or None where it is not a CPython we support."""
    try:
        asked = subprocess.run(
            [path, "-I", "-c", QUESTION], text=True, capture_output=True, timeout=20, check=True
        )
        name, version, no_gil, prefix = asked.stdout.split("\n")[:4]
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    found = Interpreter(version, path, Path(prefix))
    fits = name == "CPython" and no_gil == "0" and found.numbers[:2] >= OLDEST
    return found if fits else None


def find() -> list[Interpreter]:
    """One interpreter for each version, oldest first; one with C headers is preferred."""
    found: dict[str, Interpreter] = {}
    seen: set[Path] = set()
    for path in candidates():
        real = path.resolve()
        if real in seen or real.name.endswith("-config") or not os.access(path, os.X_OK):
            continue
        seen.add(real)
        interpreter = ask(real)
        if interpreter is None:
            continue
        known = found.get(interpreter.version)
        if known is None or (has_headers(interpreter) and not has_headers(known)):
            found[interpreter.version] = interpreter
    return sorted(found.values(), key=lambda interpreter: interpreter.numbers)


def has_headers(interpreter: Interpreter) -> bool:
    """Whether extension modules can be built for it."""
    short = ".".join(map(str, interpreter.numbers[:2]))
    return (interpreter.prefix / "include" / f"python{short}" / "Python.h").exists()


def test(interpreter: Interpreter) -> Outcome:
    """Install the package with its test extra into an environment of its own, and test it."""
    start = time.perf_counter()

    def finished(verdict: str, core: str, summary: str) -> Outcome:
        return Outcome(interpreter, verdict, core, summary, time.perf_counter() - start)

    home = CACHE / interpreter.version
    python = home / "bin" / "python"
    if not python.exists():
        if call([interpreter.path, "-I", "-c", "import ensurepip, venv"])[0] != 0:
            return finished("skipped", "-", "it comes without venv or ensurepip")
        code, printed = call([interpreter.path, "-m", "venv", home])
        if code != 0:
            print(printed)
            return finished("FAILED", "-", "no virtual environment could be made")
    pip: list[str | Path] = [python, "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    # A fresh copy of the package; what it depends on is kept.
    call([python, "-m", "pip", "uninstall", "-q", "-y", "retrograde"])
    code, printed = call([*pip, f"{ROOT}[test]"], CMAKE_ARGS=scratch.QUICKLY)
    if code != 0:
        print(printed)
        return finished("FAILED", "-", "did not install")
    asking = "from retrograde import value; print(value.core_name, '|', value.core_reason)"
    code, printed = call([python, "-I", "-c", asking])
    core, _, reason = printed.strip().rpartition("\n")[2].partition(" | ")
    if code != 0:
        print(printed)
        return finished("FAILED", "-", "cannot be imported")
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if core != "native" and compiler and has_headers(interpreter):
        return finished("FAILED", core, f"no native core: {reason}")
    options = ["-q", "-rfE", "-n", "2", "-m", "not slow", "-p", "no:cacheprovider"]
    code, printed = call([python, "-m", "pytest", *options, *TESTS])
    if code != 0:
        print(printed)
    verdict = "passed" if code == 0 else "FAILED"
    return finished(verdict, core, printed.strip().rpartition("\n")[2].strip("= "))


def call(command: list[str | Path], **more: str) -> tuple[int, str]:
    """Run a command in the root of the checkout; its exit status and what it printed."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"} | more
    done = subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="say which there are, and stop")
    parser.add_argument("--only", action="append", metavar="VERSION", help="as 3.12 or 3.12.1")
    parser.add_argument("--others", action="store_true", help="leave out this very version")
    options = parser.parse_args()
    interpreters = find()
    if options.others:
        this = platform.python_version()
        interpreters = [i for i in interpreters if i.version != this]
        if not interpreters:
            print(f"there is no CPython here but {this}")
            return 0
    if options.only:
        wanted = [f"{version}." for version in options.only]
        interpreters = [i for i in interpreters if f"{i.version}.".startswith(tuple(wanted))]
    if not interpreters:
        print("no CPython fits", file=sys.stderr)
        return 1
    if options.list:
        for interpreter in interpreters:
            headers = "" if has_headers(interpreter) else "  (without C headers)"
            print(f"{interpreter.version:10} {interpreter.path}{headers}")
        return 0
    outcomes = []
    for interpreter in interpreters:
        print(f"Python {interpreter.version} ...", flush=True)
        outcomes.append(test(interpreter))
    print(f"\n{'Python':10} {'':7} {'engine':10} {'seconds':>7}  tests")
    for outcome in outcomes:
        print(
            f"{outcome.interpreter.version:10} {outcome.verdict:7} {outcome.core:10} "
            f"{outcome.seconds:7.0f}  {outcome.summary}"
        )
    return 1 if any(outcome.verdict == "FAILED" for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
