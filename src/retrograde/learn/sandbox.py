"""Running learner code: a process behind a boundary, asked from outside, one question at a time.

Nothing that comes back is believed: a reply is one short line, what it holds is checked by who
asked, and text is shown with escapes. Whatever happens ends as a problem in words.
"""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from ..errors import BoundaryError
from .boundaries import KINDS, NONE, packages, shown, start
from .inside.asking import Question, Reply
from .plain import plain
from .questions import Asker

SECONDS: Final = 10.0
MEMORY: Final = 1 << 30
"""Bytes of address space learner code may use."""

LONGEST_OUTPUT: Final = 4_000
"""Characters learner code may print; the rest is dropped."""

LONGEST_REPLY: Final = 1 << 16
MOST_LINES: Final = 64
"""Lines that may wait to be read; what a process says beyond them is dropped."""

STARTING: Final = 20.0
"""Seconds allowed on top for starting Python on a busy machine."""

GRACE: Final = 1.5
"""Seconds after the time limit in which the process may still say where it is."""

SILENCE: Final = 0.2
"""Seconds without a further line after which a process has said where it is."""

T = TypeVar("T")


@dataclass(frozen=True)
class Ran(Generic[T]):
    """What came of a file: a result, or a problem in words; and what was printed on the way."""

    result: T | None = None
    problem: str = ""
    line: int | None = None
    printed: str = ""
    boundary: str = NONE


class Stopped(Exception):  # noqa: N818  it is not an error of ours
    """The process said or did something that ends the conversation."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.line = problem, line


class Refused(Exception):  # noqa: N818
    """The system does not let this boundary go up."""


def run(
    source: str | bytes,
    asking: Callable[[Asker], T],
    *,
    name: str = "student",
    seconds: float = SECONDS,
    boundary: str = "",
    trust: bool = False,
    recursion: bool = True,
    ours: bool = False,
) -> Ran[T]:
    """Load a file behind a boundary and let ``asking`` ask it.

    ``boundary`` is one of ``KINDS``, or the first of them that this system lets go up; where none
    does, ``trust`` runs the file without. Without ``recursion`` Python's limit stays as it is;
    with ``ours`` the file may import retrograde.

    >>> run("1 +", lambda ask: ask({"ask": "engine"}), trust=True).problem
    'SyntaxError: invalid syntax'
    """
    kinds = [boundary] if boundary else [*KINDS, *([NONE] if trust else [])]
    refused: dict[str, str] = {}
    for kind in kinds:
        if kind in _refused and not boundary:
            refused[kind] = _refused[kind]
            continue
        try:
            process = _Process(kind, source, name, seconds, recursion, ours)
        except (Refused, OSError) as error:
            refused[kind] = _refused[kind] = plain(str(error), 200)
            continue
        with process:
            return process.conversation(asking)
    raise BoundaryError.none_here("; ".join(f"{it}: {why}" for it, why in refused.items()))


def boundary_here() -> str:
    """The boundary that goes up on this system, by trying; "none" where none does, or where no
    process starts at all, as in a browser."""
    try:
        return run("", lambda ask: None, trust=True).boundary
    except BoundaryError:
        return NONE


_refused: dict[str, str] = {}
"""Boundaries that did not go up, and why: they are not tried again."""


class _Process:
    """A process behind a boundary, from its start to its end."""

    def __init__(
        self,
        kind: str,
        source: str | bytes,
        name: str,
        seconds: float,
        recursion: bool,
        ours: bool,
    ) -> None:
        if kind != NONE and not sys.platform.startswith("linux"):
            raise Refused("this is not Linux")
        self.kind, self._file, self._seconds = kind, f"{name}.py", seconds
        text = isinstance(source, str)
        data = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
        self._most_lines = data.count(b"\n") + data.count(b"\r") + data.count(b"\f") + 1
        seen = shown(ours) if kind != NONE else None
        task = {
            "name": name, "length": len(data), "text": text, "seconds": seconds,
            "memory": MEMORY, "recursion": recursion, "packages": packages(ours),
            "places": [(it.source, it.target, it.hidden) for it in seen.places] if seen else [],
            "links": seen.links if seen else [],
        }  # fmt: skip
        self._process = start(kind, ours)
        self._printed = bytearray()
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._to_send: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._to_send.put(json.dumps(task).encode() + b"\n" + data)
        works = (self._send, self._read_lines, self._read_printed)
        self._threads = [threading.Thread(target=work, daemon=True) for work in works]
        for thread in self._threads:
            thread.start()
        self._until = time.monotonic() + STARTING
        try:
            self._await_ready()
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    # ---- the channels ----

    def _send(self) -> None:
        """What is to be sent, until there is an empty message; who does not read waits alone."""
        with suppress(OSError, ValueError):
            handle = self._process.stdin.fileno()  # type: ignore[union-attr]
            while data := self._to_send.get():
                while data:
                    data = data[os.write(handle, data) :]

    def _read_lines(self) -> None:
        """Lines for the queue; an endless one is handed over when it is too long."""
        kept = b""
        with suppress(OSError, ValueError):
            handle = self._process.stdout.fileno()  # type: ignore[union-attr]
            while more := os.read(handle, LONGEST_REPLY):
                kept += more
                *lines, kept = kept.split(b"\n")
                found = [line + b"\n" for line in lines[:MOST_LINES]]
                if len(kept) > LONGEST_REPLY:
                    found, kept = [*found, kept], b""
                if self._lines.qsize() < MOST_LINES:  # more was never asked for
                    for line in found:
                        self._lines.put(line)
        self._lines.put(kept)
        self._lines.put(b"")

    def _read_printed(self) -> None:
        with suppress(OSError, ValueError):
            handle = self._process.stderr.fileno()  # type: ignore[union-attr]
            while more := os.read(handle, LONGEST_REPLY):
                self._printed += more[: max(0, 4 * LONGEST_OUTPUT - len(self._printed))]

    def _line(self) -> bytes:
        """The next line; empty when the process has ended or its time is up."""
        try:
            return self._lines.get(timeout=max(0.0, self._until - time.monotonic()))
        except queue.Empty:
            raise Stopped(self._late()) from None

    # ---- the conversation ----

    def _await_ready(self) -> None:
        try:
            said = _data(self._line())
        except Stopped:
            raise Refused("it did not start") from None
        if "ready" not in said:
            self._end(patience=GRACE)
            told = self._printed.decode("utf-8", "replace").strip() or "it did not start"
            raise Refused(str(said.get("refused") or told))
        self._until = time.monotonic() + self._seconds + GRACE

    def conversation(self, asking: Callable[[Asker], T]) -> Ran[T]:
        """Hear whether the file was loaded, let ``asking`` ask, and end the process."""
        problem, line, result = "", None, None
        try:
            said = self._reply()
            if "loaded" not in said:
                raise Stopped(_words(said), self._checked_line(said.get("line")))
            result = asking(self._ask)
        except Stopped as stopped:
            problem, line = stopped.problem, stopped.line
        self._end()
        printed = self._printed.decode("utf-8", "backslashreplace")
        return Ran(
            result, problem, line, plain(printed[:LONGEST_OUTPUT], LONGEST_OUTPUT, lines=True),
            self.kind,
        )  # fmt: skip

    def _ask(self, question: Question) -> Reply:
        self._to_send.put(json.dumps(question).encode() + b"\n")
        return self._reply()

    def _reply(self) -> Reply:
        line = self._line()
        if line.startswith(b"{"):
            return _data(line) | {"line": self._checked_line(_data(line).get("line"))}
        raise self._stopped(line)

    def _stopped(self, line: bytes) -> Stopped:
        """No reply: the process ended, or says where it is because its time is up."""
        told = line
        with suppress(Stopped):
            while line and len(told) < LONGEST_REPLY:
                self._until = min(self._until, time.monotonic() + SILENCE)
                line = self._line()
                told += line
        text = told.decode("utf-8", "replace")
        places = re.findall(r'File "([^"\n]*)", line (\d{1,9})\b', text)
        place = next((int(at) for file, at in places if file == self._file), None)
        where = self._checked_line(place)
        if text and not text.startswith("Fatal Python error"):
            return Stopped(self._late(), where)
        code = self._end(patience=GRACE)
        if code < 0 or code > 128:
            signalled = -code if code < 0 else code - 128
            if signalled == getattr(signal, "SIGXCPU", -1):
                return Stopped(self._late(), where)
            why = ": without a recursion limit, endless recursion does" * (signalled == 11)
            return Stopped(f"it crashed Python (signal {signalled}){why}", where)
        if code:
            return Stopped(
                "Python broke down before it could answer: is something built in replaced?", where
            )
        return Stopped("it ended Python before it could answer (os._exit?)", where)

    def _late(self) -> str:
        return f"it was still running after {self._seconds:g} seconds: does a loop never end?"

    def _checked_line(self, line: object) -> int | None:
        return line if type(line) is int and 1 <= line <= self._most_lines else None

    def _end(self, patience: float = 0.0) -> int:
        """End the process and whatever it may have started; its exit code.

        Its group is killed before it is waited for: until then its number is no one else's.
        """
        process = self._process
        until = time.monotonic() + patience
        while not _has_ended(process) and time.monotonic() < until:
            time.sleep(0.002)
        if process.returncode is None:
            with suppress(OSError, AttributeError):  # gone already; or a system without groups
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        code = process.wait()
        self._to_send.put(b"")
        for thread in self._threads:
            thread.join(GRACE)
        for channel in (process.stdin, process.stdout, process.stderr):
            with suppress(OSError):
                channel.close()  # type: ignore[union-attr]
        return code


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process has ended; it is not waited for, so that it keeps its number."""
    if process.returncode is not None or not hasattr(os, "waitid"):
        return process.poll() is not None
    how = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, how) is not None


def _data(line: bytes) -> Reply:
    """A line of JSON, if it is one object; else nothing."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _words(said: Reply) -> str:
    """What was raised while a file was loaded, in words that help."""
    name, why = plain(str(said.get("raised", "")), 80), plain(str(said.get("why", "")), 300)
    text = f"{name}: {why}".rstrip(": ") or "it could not be loaded"
    if name == "RecursionError":
        text = "it recurses without end (RecursionError)"
    elif name == "SystemExit":
        text = "it ends the program (exit or sys.exit): take that line out"
    elif name == "MemoryError":
        text = "it takes more memory than it may have (MemoryError)"
    elif name == "EOFError":
        text = "it asks for input, and there is none here: take input() out (EOFError)"
    elif name == "ModuleNotFoundError":
        text += ": only Python's own modules and NumPy are here"
    elif re.match(r"\[Errno (1|13|30)\]", why):
        text = (
            f"it may not do that here ({text}): no files are read or written, no programs, "
            "threads or connections started"
        )
    return text
