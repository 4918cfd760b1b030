"""Calls of Linux that Python has no function for."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Final

_LIBRARY: Final = ctypes.CDLL(None, use_errno=True)
_SET_PDEATHSIG, _SET_DUMPABLE, _NO_NEW_PRIVILEGES = 1, 4, 38
_KILL: Final = 9
_CAPSET: Final = {"x86_64": 126, "aarch64": 91}
_PIVOT_ROOT: Final = {"x86_64": 155, "aarch64": 41}
MACHINE: Final = os.uname().machine


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def call(number: int, *arguments: Any) -> int:
    """A system call by its number; whole numbers are passed as longs."""
    passed = [ctypes.c_long(it) if isinstance(it, int) else it for it in arguments]
    return _checked(int(_LIBRARY.syscall(ctypes.c_long(number), *passed)), f"call {number}")


def prctl(option: int, value: int, more: Any = None) -> None:
    """Set a property of this process."""
    passed = ctypes.c_ulong(0) if more is None else more
    rest = (ctypes.c_ulong(0),) * 2
    _checked(_LIBRARY.prctl(option, ctypes.c_ulong(value), passed, *rest), f"prctl {option}")


def die_with_parent() -> None:
    """Be killed when the process that started this one ends."""
    prctl(_SET_PDEATHSIG, _KILL)


def no_more_rights() -> None:
    """Never gain a right again, by whatever program; leave no core; let nobody trace."""
    prctl(_NO_NEW_PRIVILEGES, 1)
    prctl(_SET_DUMPABLE, 0)


def drop_capabilities() -> None:
    """Give up every right of an administrator, also of one inside a namespace."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    call(_CAPSET[MACHINE], ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))


def unshare(flags: int) -> None:
    """Move into namespaces of its own."""
    _checked(_LIBRARY.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount a file system, or change a mount."""
    done = _LIBRARY.mount(
        os.fsencode(source), os.fsencode(target), kind.encode(),
        ctypes.c_ulong(flags), options.encode(),
    )  # fmt: skip
    _checked(done, f"mount {target}")


def detach(target: str) -> None:
    """Take a mount away, with everything below it."""
    _checked(_LIBRARY.umount2(os.fsencode(target), 2), f"umount {target}")


def pivot_root(root: str, old: str) -> None:
    """Make a folder the root, and move the old root to another folder below it."""
    names = [ctypes.c_char_p(os.fsencode(it)) for it in (root, old)]
    call(_PIVOT_ROOT[MACHINE], *names)
