"""Namespaces: a root folder that holds Python and nothing else, and no other process or network.

``enter`` returns in a grandchild that is alone there. The child between is the first process of
the namespace: when it ends, the system kills whatever is left in it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from .places import Place, Shown
from .system import (
    detach,
    die_with_parent,
    drop_capabilities,
    mount,
    no_more_rights,
    pivot_root,
    unshare,
)

_ALL: Final = 0x10000000 | 0x20000 | 0x20000000 | 0x40000000 | 0x8000000 | 0x4000000 | 0x2000000
"""User, mount, pid, network, ipc, uts, cgroup."""

_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_PROGRAMS = 1, 2, 4, 8
_REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1 << 5, 1 << 12, 1 << 14, 1 << 18
_NO_ACCESS_TIMES, _NO_FOLDER_TIMES, _RELATIVE_TIMES = 1 << 10, 1 << 11, 1 << 21
_LOCKED: Final = {8: _NO_PROGRAMS, 1024: _NO_ACCESS_TIMES, 2048: _NO_FOLDER_TIMES,
                  4096: _RELATIVE_TIMES}  # fmt: skip
"""Flags of a mount as statvfs tells them, and as mount takes them: they may not be dropped."""

_NOBODY: Final = 65534
_BASE, _OLD = "/tmp", "/.old"
_EMPTY: Final = "size=1m,nr_inodes=4096,mode=755"


def enter(shown: Shown) -> None:
    """Go on in a process that sees only these places. This one and its child wait for it."""
    user, group = os.geteuid(), os.getegid()
    unshare(_ALL)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{_NOBODY} {user} 1"),
        ("gid_map", f"{_NOBODY} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    _fork_and_wait()  # the first process of the namespace
    _new_root(shown)
    _fork_and_wait()


def _fork_and_wait() -> None:
    """Return in a child; wait for it here, and end as it ended."""
    child = os.fork()
    if not child:
        die_with_parent()
        return
    drop_capabilities()
    no_more_rights()
    os.closerange(0, 64)  # its end is the end of what is written there
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _new_root(shown: Shown) -> None:
    mount("none", "/", "", _RECURSIVE | _PRIVATE)
    mount("tmpfs", _BASE, "tmpfs", _NO_SETUID | _NO_DEVICES, _EMPTY)
    os.mkdir(_BASE + _OLD)
    pivot_root(_BASE, _BASE + _OLD)
    os.chdir("/")
    for name, target in shown.links:
        os.symlink(target, name)
    _show(shown.places)
    detach(_OLD)
    os.rmdir(_OLD)
    mount("none", "/", "", _REMOUNT | _BIND | _READ_ONLY | _NO_SETUID | _NO_DEVICES)


def _show(places: Sequence[Place]) -> None:
    hidden: list[str] = []
    for place in places:
        source = _OLD + place.source
        if os.path.isdir(source):
            os.makedirs(place.target, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(place.target), exist_ok=True)
            os.close(os.open(place.target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o444))
        mount(source, place.target, "", _BIND | _RECURSIVE)
        flags = os.statvfs(place.target).f_flag
        kept = sum(flag for told, flag in _LOCKED.items() if flags & told)
        mount("none", place.target, "",
              _REMOUNT | _BIND | _READ_ONLY | _NO_SETUID | _NO_DEVICES | kept)  # fmt: skip
        for name in place.hidden:
            empty = os.path.join(place.target, name)
            mount("tmpfs", empty, "tmpfs", _NO_SETUID | _NO_DEVICES, _EMPTY)
            hidden.append(empty)
    for empty in hidden:  # now that places below are in place
        mount("none", empty, "", _REMOUNT | _BIND | _READ_ONLY | _NO_SETUID | _NO_DEVICES)
