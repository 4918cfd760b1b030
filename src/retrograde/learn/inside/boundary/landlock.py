"""Landlock: files outside a list cannot be opened, and nothing can be written anywhere.

It needs no rights and cannot be undone. Newer versions also refuse connections, and signals and
sockets that lead out; on older ones the filter of system calls refuses those alone.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from .places import Place
from .system import call

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every machine
_BENEATH: Final = 1
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
_FILES: Final = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
"""Rights on files by the version that knows them: open, make, remove; move; cut; drive devices."""

_NETWORK: Final = {4: 0b11}
_SCOPES: Final = {6: 0b11}
"""From version 6: no sockets in the abstract namespace, no signals to processes outside."""


def version() -> int:
    """The version of Landlock this system has; 0 where it has none."""
    try:
        return call(_CREATE_RULESET, 0, 0, 1)
    except OSError:
        return 0


def confine(places: Sequence[Place]) -> int:
    """Let this process read what these places show, and open nothing else; the version used."""
    known = version()
    if not known:
        raise OSError("this system has no Landlock")
    handled = [
        sum(rights for since, rights in table.items() if since <= known)
        for table in (_FILES, _NETWORK, _SCOPES)
    ]
    size = 24 if known >= 6 else 16 if known >= 4 else 8
    attributes = ctypes.create_string_buffer(struct.pack("=3Q", *handled), 24)
    rules = call(_CREATE_RULESET, attributes, size, 0)
    try:
        for path, rights in _rights(places):
            with suppress(FileNotFoundError):
                _allow(rules, path, rights)
        call(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)
    return known


def _rights(places: Sequence[Place]) -> Iterator[tuple[str, int]]:
    """Files to read. Rights go down the tree, so beside a hidden folder each entry gets its own."""
    for place in places:
        if place.hidden:
            yield place.source, _READ_FOLDER
            with os.scandir(place.source) as entries:
                for entry in entries:
                    if entry.name not in place.hidden:
                        yield entry.path, _READ_FILE | _READ_FOLDER
        else:
            yield place.source, _READ_FILE | _READ_FOLDER


def _allow(rules: int, path: str, rights: int) -> None:
    handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            rights &= ~_READ_FOLDER
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, handle), 12)
        call(_ADD_RULE, rules, _BENEATH, rule, 0)
    finally:
        os.close(handle)
