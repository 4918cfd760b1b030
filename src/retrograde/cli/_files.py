"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress

from ..errors import OutputError


def refuse_unwritable(path: str) -> None:
    """Raise now for a file that could not be written later."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise OutputError.of(path, IsADirectoryError(21, "it is a folder"))
    if not os.path.isdir(folder):
        raise OutputError.of(path, FileNotFoundError(2, "there is no such folder"))
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise OutputError.of(path, PermissionError(13, "Permission denied"))


def write_whole(path: str, text: str) -> None:
    """Write a text file; a failure leaves what was there before, and nothing half-written."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "w", encoding="utf-8") as there:  # a pipe, a terminal
                there.write(text)
            return
        _replace(os.path.realpath(path), text)
    except OSError as error:
        raise OutputError.of(path, error) from None


def _replace(path: str, text: str) -> None:
    mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o666 & ~_umask()
    if os.path.exists(path) and not os.access(path, os.W_OK):
        raise PermissionError(13, "Permission denied")
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".", suffix=".part")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
