"""Install and test the package on every Python 3.10 or newer that this machine has.

    python tools/every_python.py                 all of them
    python tools/every_python.py --list          only say which there are
    python tools/every_python.py --only 3.12     one version; may be repeated
    python tools/every_python.py --others        all but the version (as 3.12) this runs on
    python tools/every_python.py --fetch 3.15    unpack one of Debian's first (also pypy3)

Each has its virtual environment in .cache/pythons, kept for the next time, and a quick build of the
native core: what is slow to compile does not know the interpreter. Some go on at once, since pip
uses one processor. What depends on the interpreter is tested: every room briefly, the contracts of
values on both cores, what reads bytecode and frames, and the house; slow tests are left out. PyPy
and CPython without its lock are to have the pure-Python core, and what tests it. Exits 1 when any
fails.
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
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import debian
import scratch

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache" / "pythons"
PIP = CACHE / "pip"
"""One pip for all, as not all of them bring one: the newest, which knows the newest Python."""

FETCHED = ROOT / ".cache" / "debian"
AT_ONCE = 3
OLDEST = (3, 10)
TESTS = (
    "tests/contract", "tests/smoke", "tests/test_house.py", "tests/program/test_names.py",
    "tests/program/test_reads.py", "tests/program/test_recording.py",
    "tests/program/test_traces.py", "tests/compat/test_numpy_protocol.py",
)  # fmt: skip

PURE_TESTS = ("tests/contract", "tests/smoke")
PURE_NEEDS = ("pytest", "pytest-xdist", "hypothesis", "mpmath", "--only-binary=hypothesis")
"""The other test requirements have no wheels for such interpreters, and of these not the newest."""

QUESTION = """
import platform, sys, sysconfig
print(platform.python_implementation())
print(platform.python_version())
print(int(bool(sysconfig.get_config_var("Py_GIL_DISABLED"))))
print(sys.base_prefix)
"""


class Interpreter(NamedTuple):
    """A Python of this machine; ``core`` is the one it is to have."""

    version: str
    path: Path
    prefix: Path
    core: str

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
    folders += sorted(FETCHED.glob("*/root/usr/bin"))
    for kept in (pyenv, uv, Path("/opt"), Path("/opt/python"), Path("/opt/hostedtoolcache/Python")):
        folders += sorted(kept.glob("*/bin")) + sorted(kept.glob("*/*/bin"))
    for folder in dict.fromkeys(folders):
        if "shims" not in folder.parts:  # pyenv's shims stand for interpreters found elsewhere
            for pattern in ("python3", "python3.[0-9]*", "pypy3.[0-9]*"):
                yield from sorted(folder.glob(pattern))


def ask(path: Path) -> Interpreter | None:
    """What an interpreter says of itself, or None where it is not one we support."""
    try:
        asked = subprocess.run(
            [path, "-I", "-c", QUESTION], text=True, capture_output=True, timeout=20, check=True
        )
        name, version, no_gil, prefix = asked.stdout.split("\n")[:4]
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    is_plain = name == "CPython" and no_gil == "0"
    version += "" if is_plain else "t" if name == "CPython" else f"-{name}"
    found = Interpreter(version, path, Path(prefix), "native" if is_plain else "reference")
    fits = name in ("CPython", "PyPy") and found.numbers[:2] >= OLDEST
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


def test(interpreter: Interpreter, workers: int) -> Outcome:
    """Install the package with its test extra into an environment of its own, and test it.

    Bytecode is not made of everything that is installed: the tests need little of it.
    """
    print(f"Python {interpreter.version} ...", flush=True)
    start = time.perf_counter()

    def finished(verdict: str, core: str, summary: str) -> Outcome:
        return Outcome(interpreter, verdict, core, summary, time.perf_counter() - start)

    home = CACHE / interpreter.version
    python = home / "bin" / "python"
    if not python.exists():
        if call([interpreter.path, "-I", "-c", "import venv"])[0] != 0:
            return finished("skipped", "-", "it comes without venv")
        code, printed = call([interpreter.path, "-m", "venv", "--without-pip", home])
        if code != 0:
            print(printed)
            return finished("FAILED", "-", "no virtual environment could be made")
    pip: list[str | Path] = [python, PIP / "pip", "--disable-pip-version-check"]
    # A fresh copy of the package; what it depends on is kept.
    call([*pip, "uninstall", "-q", "-y", "retrograde"])
    wanted = (f"{ROOT}[test]",) if interpreter.core == "native" else (str(ROOT), *PURE_NEEDS)
    install = [*pip, "install", "-q", "--no-compile", *wanted]
    code, printed = call(install, CMAKE_ARGS=scratch.QUICKLY, CMAKE_BUILD_PARALLEL_LEVEL="2")
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
    can_be_native = bool(compiler) and has_headers(interpreter)
    if core != interpreter.core and (core == "native" or can_be_native):
        return finished("FAILED", core, f"not the {interpreter.core} core: {reason}")
    if core != "native":
        print(f"    {core} core: {reason}")
    tests = TESTS if interpreter.core == "native" else PURE_TESTS
    options = ["-q", "-rfE", "-n", str(workers), "-m", "not slow", "-p", "no:cacheprovider"]
    code, printed = call([python, "-m", "pytest", *options, *tests])
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
    parser.add_argument(
        "--fetch", action="append", metavar="VERSION", default=[], help="as 3.15 or pypy3"
    )
    options = parser.parse_args()
    for name in options.fetch:
        if lacking := debian.missing():
            print(f"Python {name} cannot be fetched without {', '.join(lacking)}")
            break
        try:
            debian.python(FETCHED / name, name)
        except SystemExit as failure:
            print(f"Python {name} could not be fetched: {str(failure).strip().splitlines()[-1]}")
    interpreters = find()
    if options.others:
        this = sys.version_info[:2]
        interpreters = [i for i in interpreters if i.core != "native" or i.numbers[:2] != this]
        if not interpreters:
            print(f"there is no Python here but {platform.python_version()}")
            return 0
    if options.only:
        wanted = [f"{version}." for version in options.only]
        interpreters = [i for i in interpreters if f"{i.version}.".startswith(tuple(wanted))]
    if not interpreters:
        print("no Python fits", file=sys.stderr)
        return 1
    if options.list:
        for interpreter in interpreters:
            headers = "" if has_headers(interpreter) else "  (without C headers)"
            print(f"{interpreter.version:10} {interpreter.path}{headers}")
        return 0
    code, printed = call([sys.executable, "-m", "pip", "install", "-qU", "--target", PIP, "pip"])
    if code != 0:
        print(printed)
    workers = 2 if len(interpreters) == 1 else 0  # of pytest: with none it starts no process
    with ThreadPoolExecutor(AT_ONCE) as several:
        outcomes = list(several.map(partial(test, workers=workers), interpreters))
    print(f"\n{'Python':10} {'':7} {'engine':10} {'seconds':>7}  tests")
    for outcome in outcomes:
        print(
            f"{outcome.interpreter.version:10} {outcome.verdict:7} {outcome.core:10} "
            f"{outcome.seconds:7.0f}  {outcome.summary}"
        )
    return 1 if any(outcome.verdict == "FAILED" for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
