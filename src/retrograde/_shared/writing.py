"""The one writer of files: written beside, flushed, renamed into place.

At every moment the target is the old file or the new one, whole. A process that is killed in
between leaves its draft behind; the next write to the same target takes it away.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from contextlib import suppress
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

_LONGEST = 100
_STALE = 3600.0
"""Seconds after which a draft is taken for abandoned where files cannot be locked."""


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Put a file in place, whole or not at all; what cannot be done raises an ``OSError``.

    An existing file keeps its permissions, and one that may not be written is not replaced.
    """
    target = os.path.realpath(path)
    if os.path.isdir(target):
        raise IsADirectoryError(21, "it is a folder")
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise PermissionError(13, "Permission denied")
    folder, name = os.path.split(target)
    _sweep(folder, name)
    file, draft = _draft(folder, name)
    try:
        with file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.chmod(draft, _mode(target))
            if sys.platform != "win32":  # renamed while it is locked: nobody sweeps it
                os.replace(draft, target)
        if sys.platform == "win32":
            os.replace(draft, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise
    _flush_folder(folder)


def _prefix(name: str) -> str:
    return f".{name[:_LONGEST]}."


def _draft(folder: str, name: str) -> tuple[BinaryIO, str]:
    """A new file beside the target, locked for as long as it is open."""
    while True:
        draft = os.path.join(folder, f"{_prefix(name)}{os.urandom(6).hex()}.part")
        file = open(draft, "xb")  # noqa: SIM115  the caller closes it
        if _lock(file):
            return file, draft
        file.close()  # swept in the instant before it was locked


def _lock(file: BinaryIO) -> bool:
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return os.fstat(file.fileno()).st_nlink > 0


def _sweep(folder: str, name: str) -> None:
    """Take away the drafts of this target whose writers are gone."""
    ours = re.compile(re.escape(_prefix(name)) + r"[0-9a-f]{12}\.part\Z")
    with suppress(OSError):
        for found in os.listdir(folder):
            if ours.match(found):
                with suppress(OSError):
                    _take_away(os.path.join(folder, found))


def _take_away(draft: str) -> None:
    if sys.platform == "win32":
        import time

        if time.time() - os.stat(draft).st_mtime > _STALE:
            os.unlink(draft)
        return
    handle = os.open(draft, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)  # a pipe would wait
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises while its writer lives
        os.unlink(draft)
    finally:
        os.close(handle)


def _mode(target: str) -> int:
    """The permissions of the file that is replaced, or those of a new one."""
    try:
        return stat.S_IMODE(os.stat(target).st_mode)
    except OSError:
        mask = os.umask(0o077)
        os.umask(mask)
        return 0o666 & ~mask


def _flush_folder(folder: str) -> None:
    """Have the new name itself on the disk, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
