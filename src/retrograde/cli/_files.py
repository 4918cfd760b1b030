"""Files that a command writes: refused early, written whole or not at all."""

from __future__ import annotations

import os

from .._shared.writing import write_whole
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


def write_text(path: str, text: str) -> None:
    """Write a text file; a failure leaves what was there before, and nothing half-written."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "w", encoding="utf-8") as there:  # a pipe, a terminal
                there.write(text)
        else:
            write_whole(path, text.encode())
    except OSError as error:
        raise OutputError.of(path, error) from None
