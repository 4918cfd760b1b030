"""A file that is written beside its place, and what is known of it should it break off.

Beside ``greeks.parquet`` there are, while it is made, ``greeks.parquet.partial`` with its first
batches and ``greeks.parquet.journal``, a line for each batch that is safely on the disk. Whoever
comes back cuts off what the journal does not know, and goes on. The file has its name when it is
whole.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO

from ..errors import MapError
from .sinks import SINKS, Sink

if sys.platform != "win32":
    import fcntl

SYNC_BYTES = 128 * 1024 * 1024
SYNC_SECONDS = 2.0
"""After so much, or so long, what was written is put on the disk and noted."""


@dataclass(frozen=True)
class Line:
    """One batch: its rows, where it ends in the file, what the sink remembers of it."""

    rows: int
    end: int
    note: str


class Draft:
    """A file on its way: batches are appended, and it gets its name when it is whole."""

    def __init__(self, path: str, about: dict[str, Any], restart: bool) -> None:
        self.path = os.path.realpath(path)
        self.partial, self._journal = f"{self.path}.partial", f"{self.path}.journal"
        self._about = about
        self.lines: list[Line] = []
        self._waiting: list[Line] = []
        self._synced_at, self._synced_to = time.monotonic(), 0
        make = _sink_of(path)
        if os.path.isdir(self.path):
            raise MapError.unwritten(self.path, IsADirectoryError(21, "it is a folder"))
        try:
            with open(self.partial, "ab"):
                pass  # it is there from now on, and nothing in it is lost
            self._file: BinaryIO = open(self.partial, "r+b")  # noqa: SIM115
        except OSError as error:
            raise MapError.unwritten(self.path, error) from error
        try:
            self._lock()
            if restart or not self._kept():
                self.lines = []
            self._log = open(  # noqa: SIM115  it is open as long as the file is
                self._journal, "a" if self.lines else "w", encoding="utf-8"
            )
        except BaseException as error:
            self._file.close()
            if isinstance(error, OSError):
                raise MapError.unwritten(self.path, error) from error
            raise
        self.sink: Sink = make(self._file)

    @property
    def rows(self) -> int:
        """Rows that were written."""
        return self.safe_rows + sum(line.rows for line in self._waiting)

    @property
    def safe_rows(self) -> int:
        """Rows that are on the disk, and noted."""
        return sum(line.rows for line in self.lines)

    def begin(self, schema: Any) -> None:
        """Write what stands before the first batch, or find the batches that are there."""
        with self._said():
            self._file.truncate(self.lines[-1].end if self.lines else 0)
            if self.lines:
                notes = [line.note for line in self.lines]
                self.sink.recall(schema, notes, [line.end for line in self.lines])
            else:
                self._log.write(json.dumps(self._about) + "\n")
                self.sink.begin(schema)

    def append(self, put: Callable[[Sink], str], rows: int) -> None:
        """One more batch, put into the sink."""
        with self._said():
            note = put(self.sink)
            self._waiting.append(Line(rows, self._file.tell(), note))
            long = time.monotonic() - self._synced_at >= SYNC_SECONDS
            if long or self._waiting[-1].end - self._synced_to >= SYNC_BYTES:
                self._sync()

    def finish(self) -> None:
        """The file is whole: it gets its name."""
        with self._said():
            self.sink.finish()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._log.close()
            if sys.platform == "win32":  # elsewhere it is renamed while it is locked
                self._file.close()
            os.replace(self.partial, self.path)
            self._file.close()
            os.unlink(self._journal)

    def leave(self) -> int:
        """Break off: what can be noted is noted. How many rows are there."""
        with suppress(OSError, ValueError):
            self._sync()
        for file in (self._file, self._log):
            with suppress(OSError, ValueError):
                file.close()
        if not self.lines:
            self._forget()
        return self.safe_rows

    def _sync(self) -> None:
        """Put on the disk what was written, then say so in the journal."""
        if not self._waiting:
            return
        self._file.flush()
        os.fsync(self._file.fileno())
        for line in self._waiting:
            self._log.write(json.dumps([line.rows, line.end, line.note]) + "\n")
        self._log.flush()
        self.lines += self._waiting
        self._waiting = []
        self._synced_at, self._synced_to = time.monotonic(), self.lines[-1].end

    def _kept(self) -> bool:
        """Whether there is a draft to go on with; one of something else is not touched."""
        try:
            with open(self._journal, encoding="utf-8") as journal:
                text = journal.read()
        except FileNotFoundError:
            return False
        whole = [line for line in text.split("\n")[:-1] if line]  # the last one may be cut off
        if not whole or not os.path.exists(self.partial):
            return False
        try:
            about, *lines = [json.loads(line) for line in whole]
            self.lines = [Line(*line) for line in lines]
        except (ValueError, TypeError):
            raise MapError.journal(self._journal, self.partial) from None
        for name, now in json.loads(json.dumps(self._about)).items():
            if about.get(name) != now:
                raise MapError.other(self.path, self.partial, name, about.get(name), now)
        if self.lines and os.path.getsize(self.partial) < self.lines[-1].end:
            raise MapError.journal(self._journal, self.partial)
        return True

    def _lock(self) -> None:
        """One process a file, where the system can see to that."""
        if sys.platform != "win32":
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise MapError.locked(self.path) from None
            except OSError:  # a file system without locks
                pass

    def _forget(self) -> None:
        for path in (self._journal, self.partial):
            with suppress(FileNotFoundError):
                os.unlink(path)

    def _said(self) -> Any:
        return _Said(self)


class _Said:
    """Says of what the system refuses which file it is."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, OSError) and not isinstance(error, MapError):
            raise MapError.unwritten(self._draft.path, error) from error


def _sink_of(path: str) -> type[Sink]:
    ending = os.path.splitext(path)[1].lower()
    if ending not in SINKS:
        raise MapError.no_sink(path, list(SINKS))
    return SINKS[ending]
