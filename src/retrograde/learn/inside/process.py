"""The process itself: a boundary goes up, one file is loaded, questions are answered one by one.

On standard input come a line about the task and the source, then a line a question; on standard
output go lines of JSON. What learner code prints goes to standard error.
"""

from __future__ import annotations

import builtins
import faulthandler
import json
import os
import signal
import sys
from contextlib import suppress
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import Any, Final

from .asking import Subject, raised
from .boundary.places import Place, Shown

LONGEST_LINE: Final = 1 << 16


class _Lines:
    """Lines of a descriptor, and bytes between them; no more is read than asked for."""

    def __init__(self, handle: int) -> None:
        self._handle, self._kept = handle, b""

    def _more(self) -> bool:
        more = os.read(self._handle, LONGEST_LINE)
        self._kept += more
        return bool(more)

    def line(self) -> bytes:
        """The next line; empty at the end."""
        while b"\n" not in self._kept and self._more():
            pass
        line, _, self._kept = self._kept.partition(b"\n")
        return line

    def bytes(self, count: int) -> bytes:
        """The next bytes."""
        while len(self._kept) < count and self._more():
            pass
        found, self._kept = self._kept[:count], self._kept[count:]
        return found


class _Packages:
    """Finds the packages that are shown, and nothing beside them."""

    def __init__(self, paths: dict[str, str]) -> None:
        self._paths = paths

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The package of a name, or a module of one that lies elsewhere."""
        place = self._paths.get(name)
        if place is None:
            return None
        if place.endswith(".so"):
            return spec_from_file_location(name, place)
        return spec_from_file_location(
            name, os.path.join(place, "__init__.py"), submodule_search_locations=[place]
        )


def main() -> None:
    """Do the task on standard input."""
    kind, parent = sys.argv[1], int(sys.argv[2])
    sys.argv[:] = [""]
    asked, said = _take_channels()
    lines = _Lines(asked)
    task = json.loads(lines.line())
    source: bytes | str = lines.bytes(task["length"])
    try:
        guards = confine(kind, parent, task)
    except OSError as error:
        os.write(said, json.dumps({"refused": f"{error}"[:300]}).encode() + b"\n")
        os._exit(3)
    if task["text"]:
        source = source.decode("utf-8", "surrogatepass")  # type: ignore[union-attr]
    _prepare(task, said)
    _answer(lines, said, task, source, guards)


def _take_channels() -> tuple[int, int]:
    """Both channels on descriptors of their own; nothing to read for the learner, one to print."""
    asked, said = os.dup(0), os.dup(1)
    nothing, other = os.pipe()
    os.close(other)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return asked, said


def confine(kind: str, parent: int, task: dict[str, Any]) -> list[str]:
    """Put up the boundary; what it is made of. Raises OSError where the system refuses."""
    if kind == "none":
        with suppress(ImportError, OSError, ValueError):
            from .boundary.limits import limit_some

            limit_some(task["memory"], task["seconds"])
        return []
    from .boundary import landlock, limits, namespaces, seccomp, system

    if kind not in ("bubblewrap", "namespaces", "landlock"):
        raise OSError("there is no such boundary")
    if not seccomp.supported():
        raise OSError(f"the calls of a {system.MACHINE} are not known")
    shown = Shown(
        tuple(Place(it[0], it[1], tuple(it[2])) for it in task["places"]),
        tuple((it[0], it[1]) for it in task["links"]),
    )
    guards = ["seccomp"]
    if kind != "bubblewrap":  # which has seen to it, and is our parent in there
        system.die_with_parent()
        if os.getppid() != parent:
            os._exit(3)
    if kind == "namespaces":
        namespaces.enter(shown)
    system.drop_capabilities()
    system.no_more_rights()
    if kind == "landlock" or landlock.version():
        targets = [Place(it.target, it.target, it.hidden) for it in shown.places]
        seen = shown.places if kind == "landlock" else targets
        guards.append(f"landlock {landlock.confine(seen)}")
    limits.limit(task["memory"], task["seconds"])
    seccomp.confine()
    return guards if kind == "landlock" else [kind, *guards]


def _prepare(task: dict[str, Any], said: int) -> None:
    """Make Python the same on every run, and quiet about what it is."""
    os.environ.clear()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    sys.path[:] = [it for it in sys.path if os.path.basename(it) not in ("", "site-packages")]
    sys.path_importer_cache.clear()
    sys.dont_write_bytecode = True
    sys.meta_path.append(_Packages(task["packages"]))
    sys.excepthook = lambda *error: None
    sys.unraisablehook = lambda error: None
    if not task["recursion"]:
        sys.setrecursionlimit = lambda limit: None  # deep graphs are to be walked without
    faulthandler.enable(said)
    if hasattr(signal, "SIGALRM"):
        faulthandler.register(signal.SIGALRM, said, all_threads=False)


def _answer(
    lines: _Lines, said: int, task: dict[str, Any], source: bytes | str, guards: list[str]
) -> None:
    write, dumps, leave, file = os.write, json.dumps, os._exit, f"{task['name']}.py"

    def say(reply: dict[str, Any]) -> None:
        data = dumps(reply).encode() + b"\n"
        while data:
            data = data[write(said, data) :]

    say({"ready": guards})
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, task["seconds"])
    try:
        namespace = _loaded(source, task["name"], file)
        subject = Subject(namespace, file, confined=True)
        say({"loaded": True})
    except BaseException as error:  # SystemExit and all: it is the learner's code
        say(raised(error, file))
        leave(1)
    while line := lines.line():
        try:
            say(subject.reply(json.loads(line)))
        except BaseException as error:
            say(raised(error, file))
    leave(0)  # whatever the learner registered stays behind


def _loaded(source: bytes | str, name: str, file: str) -> dict[str, Any]:
    module = ModuleType(name)
    module.__file__ = file
    sys.modules[name] = module
    if (b"random" if isinstance(source, bytes) else "random") in source:  # type: ignore[operator]
        import random

        random.seed(0)
    builtins.exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)
    return module.__dict__
