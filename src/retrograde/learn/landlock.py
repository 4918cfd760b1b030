"""Linux's own fence around files: after ``confine`` a process changes nothing outside a folder.

Landlock needs no rights and cannot be undone. Where the system has none, nothing happens: the
runner's audit hook still refuses what it sees.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Final

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_NO_NEW_PRIVILEGES: Final = 38
_BENEATH: Final = 1
_CHANGES: Final = {1: 0b1_1111_1111_0010, 2: 1 << 13, 3: 1 << 14}
"""Rights that change files, by the version that knows them: write, remove, make; move; truncate."""


def confine(folder: str) -> bool:
    """Forbid this process to change any file outside a folder; whether the system does it.

    Files that are open already stay as they are, and so does ``/dev/null``.
    """
    if not sys.platform.startswith("linux"):
        return False
    with suppress(ImportError, OSError, AttributeError):
        return _confine(folder)
    return False


def _confine(folder: str) -> bool:
    import ctypes

    class Beneath(ctypes.Structure):
        _pack_ = 1
        _layout_ = "ms"
        _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]

    system = ctypes.CDLL(None, use_errno=True)

    def call(number: int, *arguments: object) -> int:
        return int(system.syscall(ctypes.c_long(number), *arguments))

    none = ctypes.c_void_p()
    version = call(_CREATE_RULESET, none, ctypes.c_size_t(0), ctypes.c_uint32(1))
    changes = sum(rights for known, rights in _CHANGES.items() if known <= version)
    if not changes:
        return False
    handled = ctypes.c_uint64(changes)
    rules = call(_CREATE_RULESET, ctypes.byref(handled), ctypes.c_size_t(8), ctypes.c_uint32(0))
    if rules < 0:
        return False
    try:
        for place, rights in ((folder, changes), (os.devnull, changes & (1 << 1 | 1 << 14))):
            parent = os.open(place, os.O_PATH | os.O_CLOEXEC)
            rule = Beneath(rights, parent)
            call(_ADD_RULE, ctypes.c_int(rules), ctypes.c_int(_BENEATH), ctypes.byref(rule),
                 ctypes.c_uint32(0))  # fmt: skip
            os.close(parent)
        if system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
            return False
        return call(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0)) == 0
    finally:
        os.close(rules)
