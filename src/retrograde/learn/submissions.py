"""Files that strangers handed in: only regular files of a sensible size are read, and only once.

A pipe would wait forever, a device never end, a link lead elsewhere: each is refused by name.
"""

from __future__ import annotations

import os
import stat
from typing import Final

from ..errors import LearnError
from .plain import plain

LARGEST: Final = 1_000_000
"""Bytes a submission may have."""

_FLAGS: Final = sum(
    getattr(os, name, 0)
    for name in ("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
)


def read_submission(path: str) -> bytes:
    """The bytes of a file someone handed in."""
    try:
        before = os.lstat(path)
        _refuse_others(path, before)
        handle = os.open(path, _FLAGS)
        try:
            found = os.fstat(handle)
            _refuse_others(path, found)
            data = b""
            while len(data) <= LARGEST and (more := os.read(handle, LARGEST + 1 - len(data))):
                data += more
        finally:
            os.close(handle)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise LearnError.unread(plain(path), plain(why)) from None
    if len(data) > LARGEST:
        raise LearnError.unread(plain(path), f"it is larger than {LARGEST:,} bytes")
    return data


def _refuse_others(path: str, found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise LearnError.unread(plain(path), "it is a link, and links are not followed")
    if not stat.S_ISREG(found.st_mode):
        raise LearnError.unread(plain(path), "it is not a regular file")
    if found.st_size > LARGEST:
        raise LearnError.unread(plain(path), f"it is larger than {LARGEST:,} bytes")


def submissions_in(folder: str) -> list[str]:
    """Every file of Python in a folder by name; nothing below it, and nothing is opened yet."""
    try:
        names = sorted(it for it in os.listdir(folder) if it.endswith(".py"))
    except OSError as error:
        raise LearnError.unread(plain(folder), error.strerror or "") from None
    return [os.path.join(folder, it) for it in names]
