"""The process in which learner code runs: ``python -m retrograde.learn.runner``, a job on stdin.

It loads the file, asks it what the job says, and writes the answers to a file of its own.
Printing is kept short; writing outside the folder, starting programs and sockets are refused.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import sys
import traceback
from dataclasses import asdict
from types import ModuleType
from typing import Any

LONGEST_OUTPUT = 4_000
"""Characters a learner may print; the rest is dropped."""

_CHANGING = {
    "os.remove", "os.rmdir", "os.mkdir", "os.rename", "os.link", "os.symlink", "os.truncate",
    "os.chmod", "os.chown", "os.utime", "shutil.rmtree", "shutil.move", "shutil.copyfile",
}  # fmt: skip
_REFUSED = {
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty",
    "os.kill", "os.killpg", "socket.connect", "socket.bind", "ctypes.dlopen", "ctypes.dlsym",
}  # fmt: skip


class _Short:
    """Standard output that stops after a while, so that printing forever costs nothing."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._left = stream, LONGEST_OUTPUT
        self.encoding = "utf-8"

    def write(self, text: str) -> int:
        if self._left > 0:
            self._stream.write(text[: self._left])
            self._stream.flush()
            self._left -= len(text)
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


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
            if writes and path is not None and not inside(path):
                raise PermissionError(f"an exercise may not write outside its folder: {path}")
        elif event in _CHANGING:
            for path in arguments[:2]:
                if isinstance(path, (str, bytes)) and not inside(path):
                    raise PermissionError(f"an exercise may not change {os.fsdecode(path)}")

    sys.addaudithook(watch)


def _limit_memory(limit: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


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
    line = None
    if isinstance(error, SyntaxError) and error.filename == path:
        line = error.lineno
    for frame in traceback.extract_tb(error.__traceback__, limit=-3_000):
        if frame.filename == path:
            line = frame.lineno
    text = error.msg if isinstance(error, SyntaxError) else str(error)
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
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit and all: it is the learner's code
            result["problem"] = _problem(error, item["path"])
        results.append(result)
    return results


def main() -> None:
    """Do the job on standard input and leave the results where it says."""
    job = json.load(sys.stdin)
    with (
        open(job["results"], "w", encoding="utf-8") as results,
        open(job["where"], "w", encoding="utf-8") as where,
    ):
        from . import grading, probes  # noqa: F401  before the fence: importing may write caches

        sys.stdout = _Short(sys.stdout)
        sys.stderr = sys.stdout
        faulthandler.enable(where)
        faulthandler.dump_traceback_later(job["seconds"], exit=True, file=where)
        sys.dont_write_bytecode = True
        _limit_memory(job["memory"])
        _fence(os.path.realpath(os.getcwd()))
        sys.path.insert(0, os.getcwd())
        found = work(job)
        faulthandler.cancel_dump_traceback_later()
        json.dump(found, results)
    os._exit(0)  # whatever the learner left running or registered stays behind


if __name__ == "__main__":
    main()
