"""Change a program in small ways and see whether its tests notice.

    python tools/mutate.py src/retrograde/optim/methods.py --tests tests/optim
    python tools/mutate.py native/order.c --tests tests/contract tests/derivatives --sample 60

Each change (a mutant, see `mutations.py`) is imported by a process of its own; C is compiled and
linked into a copy of the native module first, which is built for one SIMD level in
`build/mutants`. No file of the checkout is written. The tests that
ran the changed line go first, quickest first, then the others, until one fails. A mutant that none
fails on survives: a test is missing, or the change makes no difference. The latter are listed in
`mutants.allow`, each with its reason.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import inspect
import json
import marshal
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from mutations import Mutant, mutants_of, unchanged

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = ROOT / "tools" / "mutants.allow"
BUILT = ROOT / "build" / "mutants"
WARM = frozenset({"numpy", "hypothesis", "mpmath", "scipy", "sympy", "torch"})
"""What of these the tests import is imported before the processes part: it takes the longest."""
SURVIVED, KILLED, INVALID = 0, 1, 99
PYTEST = [
    "-q", "-x", "--no-header", "-rN", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist",
    "-p", "no:unraisableexception", "-p", "no:threadexception",
    "-W", "ignore::pytest.PytestAssertRewriteWarning",
]  # fmt: skip


NATIVE = ("-k", "not reference")
"""C shows on the native core alone."""


# ---- mutants that are explained ------------------------------------------------------------------


@dataclass
class Allowed:
    """The mutants that no test can kill: by file, function, line as it stands, and change."""

    reasons: dict[tuple[str, str, str, str], str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path = ALLOWED) -> Allowed:
        """Paragraphs of a file, a function, a line of it, changes, and the reason."""
        found = cls()
        for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
            file, function, text, changes = "", "", "", []
            for line in paragraph.splitlines():
                key, _, rest = line.strip().partition(": ")
                if line.startswith("#"):
                    continue
                if key == "in":
                    function = rest.strip()
                elif key == "line":
                    text = rest.strip()
                elif key == "change":
                    changes.append(rest.strip())
                elif key == "why":
                    for change in changes:
                        found.reasons[file, function, text, change] = rest.strip()
                else:
                    file = line.strip()
        return found

    def why(self, mutant: Mutant) -> str | None:
        """Why a mutant survives, or None where nobody has said."""
        key = (_name(mutant.path), mutant.function, mutant.text, mutant.change)
        return self.reasons.get(key)


def _name(path: Path) -> str:
    """A file as the list of explained mutants calls it."""
    return os.path.relpath(path.resolve(), ROOT).replace(os.sep, "/")


# ---- putting a mutant in place -------------------------------------------------------------------


def put_in_place(mutant: Mutant, folder: Path) -> bool:
    """Have the next import of its module load the mutant; False where it does not compile."""
    target = str(mutant.path.resolve())
    held = folder / "mutant"
    if mutant.is_c:
        built = build(mutant, folder)
        if built is None:
            return False
        built.rename(held)
    else:
        held.write_bytes(marshal.dumps(mutant.code))
    load = load_extension if mutant.is_c else load_source
    load(target, str(held))
    hand_down(load, target, str(held), folder)
    return True


def load_source(target: str, held: str) -> None:
    """Whatever imports this file, under any name, runs the code that another one holds."""
    import importlib.machinery
    import marshal
    import os

    loader: Any = importlib.machinery.SourceFileLoader
    before, real = loader.get_code, os.path.realpath(target)
    with open(held, "rb") as file:
        code = marshal.load(file)

    def get_code(self: Any, name: str) -> Any:
        return code if os.path.realpath(self.path) == real else before(self, name)

    loader.get_code = get_code


def load_extension(target: str, held: str) -> None:
    """Whatever imports the native module loads this file."""
    import importlib.machinery

    loader: Any = importlib.machinery.ExtensionFileLoader
    before = loader.create_module

    def create_module(self: Any, spec: Any) -> Any:
        if spec.name.endswith("._native"):
            self.path = spec.origin = held
        return before(self, spec)

    loader.create_module = create_module


def hand_down(load: Callable[[str, str], None], target: str, held: str, folder: Path) -> None:
    """Have the Pythons that tests start load the mutant as well."""
    call = f"{load.__name__}({target!r}, {held!r})"
    text = f"from __future__ import annotations\n\n{inspect.getsource(load)}\n\n{call}\n"
    (folder / "sitecustomize.py").write_text(text, encoding="utf-8")
    start: Any = subprocess.Popen.__init__

    def with_folder(self: Any, *args: Any, env: Any = None, **more: Any) -> None:
        settings = dict(os.environ if env is None else env)
        paths = (str(folder), settings.get("PYTHONPATH"))
        settings["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        start(self, *args, env=settings, **more)

    subprocess.Popen.__init__ = with_folder  # type: ignore[method-assign]


@cache
def commands() -> list[str]:
    """The commands that build the native module, after they have: one SIMD level and lightly
    optimised, so that a changed file takes a second."""
    found = os.pathsep.join([os.environ.get("PATH", ""), os.path.dirname(sys.executable)])
    ninja, cmake = shutil.which("ninja", path=found), shutil.which("cmake", path=found)
    if ninja is None or cmake is None:
        raise SystemExit("mutants of C need CMake and Ninja: pip install cmake ninja")
    built = str(BUILT)
    configure = [
        cmake, "-S", str(ROOT), "-B", built, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}",
        "-DCMAKE_BUILD_TYPE=Release", f"-DPython_EXECUTABLE={sys.executable}",
        "-DRETROGRADE_LEVELS=OFF", "-DRETROGRADE_LOOP=ON", "-DRETROGRADE_OPTIMIZE=-O1",
    ]  # fmt: skip
    for command in (configure, [ninja, "-C", built]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    asked = subprocess.run(
        [ninja, "-C", built, "-t", "commands"], text=True, capture_output=True, check=True
    )
    return asked.stdout.splitlines()


def build(mutant: Mutant, folder: Path) -> Path | None:
    """The native module with one file changed; None where that does not compile."""
    assert isinstance(mutant.source, str)
    lines = commands()
    source, target = str(mutant.path.resolve()), folder / "_native.so"
    (compiled,) = (line.split() for line in lines if line.endswith(f" -c {source}"))
    (linked,) = (
        line.split(" && ")[-2 if line.endswith("&& :") else -1].split()
        for line in lines
        if " -shared " in line
    )
    changed = folder / mutant.path.name
    changed.write_text(mutant.source, encoding="utf-8")
    was, became = compiled[compiled.index("-o") + 1], str(folder / "changed.o")
    make = [became if part == was else part for part in compiled[:-2]]
    make += [
        "-w",
        "-I",
        str(mutant.path.resolve().parent),
        "-MF",
        str(folder / "d"),
        "-c",
        str(changed),
    ]
    link = [became if part == was else part for part in linked]
    link[link.index("-o") + 1] = str(target)
    for command in (make, link):
        if subprocess.run(command, cwd=BUILT, capture_output=True).returncode:
            return None
    return target


# ---- the tests -----------------------------------------------------------------------------------


class Watcher:
    """A pytest plugin: how long each test takes, and which lines of the changed files it runs."""

    def __init__(self, files: list[Path], notes: Path) -> None:
        self.files = {os.path.realpath(path) for path in files}
        self.notes, self.found = notes, dict[str, tuple[float, list[tuple[str, int]]]]()
        self.lines: set[tuple[str, int]] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        """Around every test, its fixtures included."""
        self.lines, begun = set(), time.perf_counter()
        sys.settrace(self._call)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            took = time.perf_counter() - begun
            self.found[item.nodeid] = took, sorted(self.lines)

    def _call(self, frame: FrameType, event: str, value: Any) -> Any:
        return self._line if frame.f_code.co_filename in self.files else None

    def _line(self, frame: FrameType, event: str, value: Any) -> Any:
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    def pytest_sessionfinish(self) -> None:
        """Hand it on."""
        warm = [name for name in sys.modules if name.partition(".")[0] in WARM]
        self.notes.write_text(json.dumps([self.found, warm]), encoding="utf-8")


class Order:
    """A pytest plugin: the tests in the order in which a mutant is most quickly killed."""

    def __init__(self, first: dict[str, float]) -> None:
        self.first = first

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Those that run the changed line go first, by their time."""
        items.sort(key=lambda item: self.first.get(item.nodeid, 1e9))


@dataclass
class Suite:
    """The tests, what they take and what they run, and the mutants to try them on."""

    tests: list[str]
    limit: float | None
    took: dict[str, float] = field(default_factory=dict)
    ran: dict[tuple[str, int], list[str]] = field(default_factory=dict)

    def look(self, files: list[Path]) -> bool:
        """Run the tests as they are, and note what they do; False where they fail."""
        with tempfile.TemporaryDirectory() as folder:
            notes = Path(folder, "notes")
            child = os.fork()
            if child == 0:
                _quiet()
                watcher = Watcher([path for path in files if path.suffix == ".py"], notes)
                os._exit(int(pytest.main([*PYTEST, *self.tests], [watcher])))
            _, status = os.waitpid(child, 0)
            if status or not notes.exists():
                return False
            found, warm = json.loads(notes.read_text(encoding="utf-8"))
        for name, (took, lines) in found.items():
            self.took[name] = took
            for file, line in lines:
                self.ran.setdefault((file, line), []).append(name)
        for name in warm:
            with suppress(Exception):  # some are no modules of their own
                importlib.import_module(name)
        if self.limit is None:
            self.limit = 60.0 + 10.0 * sum(self.took.values())
        gc.freeze()  # what is here already need not be looked through in every process
        return True

    def start(self, mutant: Mutant) -> Trial:
        """A process that tries one mutant."""
        folder = tempfile.mkdtemp(prefix="mutant-")
        child = os.fork()
        if child == 0:
            outcome = KILLED
            try:
                os.setpgid(0, 0)
                _quiet()
                outcome = self._try(mutant, Path(folder))
            finally:
                os._exit(outcome)
        assert self.limit is not None
        return Trial(mutant, child, Path(folder), time.monotonic() + self.limit)

    def survives(self, mutant: Mutant) -> bool:
        """Whether no test fails on a mutant."""
        trial = self.start(mutant)
        while (outcome := trial.outcome()) is None:
            time.sleep(0.01)
        return outcome == SURVIVED

    def _try(self, mutant: Mutant, folder: Path) -> int:
        names = self.ran.get((os.path.realpath(mutant.path), mutant.line), [])
        first = {name: self.took[name] for name in names} or self.took
        if not put_in_place(mutant, folder):
            return INVALID
        files = sorted({name.partition("::")[0] for name in names})
        ordered = Order(first)
        if files and pytest.main([*PYTEST, *files], [ordered, Only(set(names))]) != 0:
            return KILLED
        rest = Only(set(self.took) - set(names))
        return KILLED if rest.names and pytest.main([*PYTEST, *self.tests], [ordered, rest]) else 0


class Only:
    """A pytest plugin: these tests and no others."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Drop the others."""
        items[:] = [item for item in items if item.nodeid in self.names]


@dataclass
class Trial:
    """A mutant whose tests are running."""

    mutant: Mutant
    child: int
    folder: Path
    end: float

    def outcome(self) -> int | None:
        """How it ended; None while it has not. Crashing, and never ending, is being noticed."""
        done, status = os.waitpid(self.child, os.WNOHANG)
        if not done and time.monotonic() < self.end:
            return None
        with suppress(ProcessLookupError):
            os.killpg(self.child, signal.SIGKILL)
        if not done:
            os.waitpid(self.child, 0)
        shutil.rmtree(self.folder, ignore_errors=True)
        code = os.waitstatus_to_exitcode(status) if done else KILLED
        return code if code in (SURVIVED, INVALID) else KILLED


def _quiet() -> None:
    """What a mutant makes the tests print is nobody's business."""
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)


# ---- from the command line -----------------------------------------------------------------------


class Bar:
    """How far it is, on a terminal; survivors are printed as they are found."""

    def __init__(self, count: int, shown: bool) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        console = Console(stderr=not shown, highlight=False, emoji=False)
        self.shown = shown
        self.progress = Progress(
            BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"),
            TimeRemainingColumn(), console=console, disable=not console.is_terminal,
        )  # fmt: skip
        self.task = self.progress.add_task("none survived", total=count)

    def __enter__(self) -> Bar:
        self.progress.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.progress.stop()

    def note(self, mutant: Mutant | None, survivors: int) -> None:
        """One more is done; it is given where it survived."""
        if mutant is not None and self.shown:
            self.progress.console.print(str(mutant), markup=False, soft_wrap=True)
        said = f"{survivors} survived" if survivors else "none survived"
        self.progress.update(self.task, advance=1, description=said)


def try_all(suite: Suite, mutants: list[Mutant], jobs: int, shown: bool) -> dict[str, list[Mutant]]:
    """Every mutant under what became of it."""
    allowed, waiting, running = Allowed.read(), mutants[::-1], list[Trial]()
    found: dict[str, list[Mutant]] = {"killed": [], "survived": [], "explained": [], "invalid": []}
    with Bar(len(mutants), shown) as bar:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(suite.start(waiting.pop()))
            time.sleep(0.01)
            for trial in list(running):
                outcome = trial.outcome()
                if outcome is None:
                    continue
                running.remove(trial)
                kind = {SURVIVED: "survived", INVALID: "invalid"}.get(outcome, "killed")
                if kind == "survived" and allowed.why(trial.mutant):
                    kind = "explained"
                found[kind].append(trial.mutant)
                bar.note(trial.mutant if kind == "survived" else None, len(found["survived"]))
    return found


def report(found: dict[str, list[Mutant]]) -> dict[str, Any]:
    """What was found, as plain data: counts and shares by file, and the survivors."""
    files: dict[str, dict[str, int]] = {}
    for kind, mutants in found.items():
        for mutant in mutants:
            counts = files.setdefault(_name(mutant.path), dict.fromkeys(found, 0))
            counts[kind] += 1
    survivors = [
        {
            "file": _name(m.path),
            "line": m.line,
            "in": m.function,
            "text": m.text,
            "change": m.change,
        }
        for m in found["survived"]
    ]
    return {
        "files": {name: {**counts, "share": share(counts)} for name, counts in files.items()},
        "survivors": survivors,
    }


def share(counts: dict[str, int]) -> float:
    """The part of the mutants that compile which is killed or explained."""
    good = counts["killed"] + counts["explained"]
    return good / max(good + counts["survived"], 1)


def _lines(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main(arguments: list[str] | None = None) -> int:
    """Try the mutants of some files and print those that survive; 1 below the share wanted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, help="the files to change: .py or native .c")
    parser.add_argument("--tests", required=True, nargs="+", help="what pytest is to run")
    parser.add_argument("--sample", type=int, metavar="N", help="only N mutants, drawn at random")
    parser.add_argument("--lines", type=_lines, metavar="A-B", help="only those on these lines")
    parser.add_argument("--seed", type=int, default=0, help="of that draw")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--limit", type=float, help="seconds a mutant may take")
    parser.add_argument("--share", type=float, default=0.0, help="the least share to be killed")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    options = parser.parse_args(arguments)
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(ROOT / ".cache" / "bytecode")
    mutants = list(chain.from_iterable(mutants_of(path) for path in options.files))
    if options.lines is not None:
        mutants = [mutant for mutant in mutants if mutant.line in options.lines]
    if options.sample is not None and options.sample < len(mutants):
        kept = set(random.Random(options.seed).sample(range(len(mutants)), options.sample))
        mutants = [mutant for index, mutant in enumerate(mutants) if index in kept]
    if any(path.suffix == ".c" for path in options.files):
        commands()  # once, before the processes part
    native = all(path.suffix == ".c" for path in options.files)
    suite = Suite([*options.tests, *(NATIVE if native else ())], options.limit)
    if not suite.look(options.files):
        print("the tests fail as they are, or there are none", file=sys.stderr)
        return 2
    if not all(suite.survives(unchanged(path)) for path in options.files):
        print("the tests fail on a copy of the file: they look at more than it", file=sys.stderr)
        return 2
    found = report(try_all(suite, mutants, options.jobs, not options.json))
    if options.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        for name, counts in found["files"].items():
            said = ", ".join(
                f"{counts[kind]} {kind}" for kind in ("killed", "explained", "survived")
            )
            print(f"{name}: {said}: {100 * counts['share']:.1f} %")
    return int(any(counts["share"] < options.share for counts in found["files"].values()))


if __name__ == "__main__":
    sys.exit(main())
