"""The process in which learner code runs: ``python -m retrograde.learn.runner``, a job on stdin.

It loads the file, asks it what the job says, and writes the answers to a file of its own.
Printing is kept short; writing outside the folder, starting programs and sockets are refused: by
an audit hook that says so in words, and on Linux by the system.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import os
import sys
from dataclasses import asdict
from types import ModuleType
from typing import Any

from .landlock import confine
from .programs import line_of, words_of

LARGEST_FILE = 16 << 20
"""Bytes a file that learner code writes may have."""

_CHANGING = {
    "os.remove", "os.rmdir", "os.mkdir", "os.rename", "os.link", "os.symlink", "os.truncate",
    "os.chmod", "os.chown", "os.utime", "os.setxattr", "os.removexattr", "shutil.rmtree",
    "shutil.move", "shutil.copyfile", "sqlite3.connect",
}  # fmt: skip
_REFUSED = {
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty",
    "os.kill", "os.killpg", "socket.connect", "socket.bind", "ctypes.dlopen", "ctypes.dlsym",
}  # fmt: skip


class _Short(io.TextIOBase):
    """Standard output that stops after a while, so that printing forever costs nothing."""

    encoding = "utf-8"

    def __init__(self, stream: Any, longest: int) -> None:
        self._stream, self._left = stream, longest

    @property
    def buffer(self) -> _Short:
        return self

    def write(self, text: str | bytes) -> int:
        shown = text if isinstance(text, str) else bytes(text).decode("utf-8", "replace")
        if self._left > 0:
            self._stream.write(shown[: self._left])
            self._stream.flush()
            self._left -= len(shown)
        return len(text)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def _fence(folder: str) -> None:
    """Refuse what reaches outside a folder. Against accidents: it is no prison."""

    def inside(path: Any) -> bool:
        if isinstance(path, int):
            return True
        place = os.path.realpath(os.fsdecode(path))
        return place == folder or place.startswith(folder + os.sep) or place == os.devnull

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _REFUSED:
            raise PermissionError(f"{event} is not allowed in an exercise")
        if event == "open":
            path, mode, flags = arguments
            writes = (mode and set(mode) & set("wax+")) or (
                isinstance(flags, int)
                and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            )
            outside = path is not None and not inside(path)
            if outside and (writes or (mode is None and os.path.isdir(path))):
                raise PermissionError(f"an exercise may not write outside its folder: {path}")
        elif event in _CHANGING:
            for path in arguments[:2]:
                if isinstance(path, (str, bytes)) and not inside(path):
                    raise PermissionError(f"an exercise may not change {os.fsdecode(path)}")

    confine(folder)  # before the hook, which refuses the means
    sys.addaudithook(watch)


def _limit(memory: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _loaded(path: str, name: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        source = file.read()
    module = ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    exec(compile(source, path, "exec"), module.__dict__)
    return module.__dict__


def _problem(error: BaseException, path: str) -> dict[str, Any]:
    """What was raised, and the last line of the learner's file on the way there."""
    line = line_of(error)
    if isinstance(error, SyntaxError) and error.filename == path:
        line = error.lineno
    text = error.msg if isinstance(error, SyntaxError) else words_of(error)
    return {"raised": type(error).__name__, "why": text[:500], "line": line}


def work(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Load each file of a job and ask it; one result a file."""
    from .grading import collect
    from .probes import probe

    results: list[dict[str, Any]] = []
    for item in job["items"]:
        result: dict[str, Any] = {"answers": [], "problem": None}
        try:
            namespace = _loaded(item["path"], item["name"])
            if item["probe"] == "grade":
                result["graded"] = collect(namespace, item["seed"])
            else:
                result["answers"] = [asdict(it) for it in probe(item["probe"]).ask(namespace)]
        except BaseException as error:  # SystemExit and all: it is the learner's code
            result["problem"] = _problem(error, item["path"])
        results.append(result)
    return results


def main() -> None:
    """Do the job on standard input and leave the results where it says."""
    job = json.load(sys.stdin)
    leave = json.dumps, os._exit  # as they are now
    with (
        open(job["results"], "w", encoding="utf-8") as results,
        open(job["where"], "w", encoding="utf-8") as where,
    ):
        from . import grading, probes  # noqa: F401  before the fence: importing may write caches

        sys.stdout = _Short(sys.stdout, job["output"])
        sys.stderr = sys.stdout
        faulthandler.enable(where)
        faulthandler.dump_traceback_later(job["seconds"], exit=True, file=where)
        sys.dont_write_bytecode = True
        if all(item["probe"] != "grade" for item in job["items"]):
            sys.setrecursionlimit = lambda limit: None  # deep graphs are to be walked without
        sys.excepthook = lambda *error: None
        _limit(job["memory"])
        _fence(os.path.realpath(os.getcwd()))
        sys.path.insert(0, os.getcwd())
        found = work(job)
        faulthandler.cancel_dump_traceback_later()
        results.write(leave[0](found))
    leave[1](0)  # whatever the learner left running or registered stays behind


if __name__ == "__main__":
    main()
