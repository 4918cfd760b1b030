"""A filter of system calls: those a calculation needs, and no others.

No process, thread, program, socket, file that is written or changed, signal to anyone else,
tracing, mount or namespace: whatever is not on the list fails with "operation not permitted".
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from typing import Final

from .system import MACHINE, prctl

_SET_SECCOMP, _FILTER = 22, 2
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _ABOVE, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16
_MACHINES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_OTHER_ABI: Final = 0x40000000
"""x86-64 has a second table of calls from here on."""

_CALLS: Final = {  # on x86-64, on aarch64
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "fstat": (5, 80), "lseek": (8, 62),
    "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "pread64": (17, 67), "readv": (19, 65), "writev": (20, 66), "sched_yield": (24, 124),
    "mremap": (25, 216), "madvise": (28, 233), "dup": (32, 23), "nanosleep": (35, 101),
    "getitimer": (36, 102), "setitimer": (38, 103), "getpid": (39, 172), "exit": (60, 93),
    "uname": (63, 160), "getcwd": (79, 17), "gettimeofday": (96, 169), "getrusage": (98, 165),
    "sysinfo": (99, 179), "times": (100, 153), "getuid": (102, 174), "getgid": (104, 176),
    "geteuid": (107, 175), "getegid": (108, 177), "getppid": (110, 173),
    "rt_sigpending": (127, 136), "sigaltstack": (131, 132), "gettid": (186, 178),
    "futex": (202, 98), "sched_getaffinity": (204, 123), "getdents64": (217, 61),
    "restart_syscall": (219, 128), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115), "exit_group": (231, 94), "openat": (257, 56),
    "newfstatat": (262, 79), "faccessat": (269, 48),
    "pselect6": (270, 72), "ppoll": (271, 73), "set_robust_list": (273, 99), "dup3": (292, 24),
    "pipe2": (293, 59), "getrandom": (318, 278), "statx": (332, 291), "rseq": (334, 293),
    "close_range": (436, 436), "faccessat2": (439, 439), "getcpu": (309, 168),
}  # fmt: skip
_OLD_CALLS: Final = {
    "open": 2, "stat": 4, "lstat": 6, "poll": 7, "access": 21, "pipe": 22, "select": 23,
    "dup2": 33, "alarm": 37, "getpgrp": 111, "time": 201,
}  # fmt: skip
"""Calls that only x86-64 still has."""

_IOCTL, _FCNTL, _KILL_CALL, _TGKILL, _PRLIMIT = (
    (16, 29),
    (72, 25),
    (62, 129),
    (234, 131),
    (302, 261),
)
_CLONE3: Final = 435
_TERMINAL: Final = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""What is asked of a file: is it a terminal, how wide, how much is there; whether to wait."""

_DESCRIPTOR: Final = (0, 1, 2, 3, 4, 1030)
"""Copies and flags of a descriptor. Not whom it signals, nor how large its pipe is."""


def supported() -> bool:
    """Whether the numbers of this machine's calls are known here."""
    return MACHINE in _MACHINES


def confine() -> None:
    """Allow this process the calls of the list from now on. Nothing takes that back."""
    code = b"".join(struct.pack("=HBBI", *it) for it in program(os.getpid()))
    kept = ctypes.create_string_buffer(code)
    described = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(kept))
    prctl(_SET_SECCOMP, _FILTER, ctypes.create_string_buffer(described))


Instruction = tuple[int, int, int, int]


def program(own: int, machine: str = MACHINE) -> list[Instruction]:
    """The filter for a process with this number.

    >>> len(program(2, "x86_64")) > len(program(2, "aarch64")) > 100
    True
    """
    column = list(_MACHINES).index(machine)
    allow, refuse = (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ERRNO | errno.EPERM)
    made: list[Instruction] = [
        (_LOAD, 0, 0, _MACHINE_AT), (_EQUAL, 1, 0, _MACHINES[machine]), (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT), (_ABOVE, 0, 1, _OTHER_ABI), refuse,
    ]  # fmt: skip
    numbers = [each[column] for each in _CALLS.values()]
    if machine == "x86_64":
        numbers += _OLD_CALLS.values()
    for number in numbers:
        made += [(_EQUAL, 0, 1, number), allow]
    for call, place, values in (
        (_IOCTL, 1, _TERMINAL), (_FCNTL, 1, _DESCRIPTOR), (_KILL_CALL, 0, (own,)),
        (_TGKILL, 0, (own,)), (_PRLIMIT, 0, (0,)),
    ):  # fmt: skip
        checks = [(_EQUAL, len(values) - at, 0, value) for at, value in enumerate(values)]
        made += [(_EQUAL, 0, len(values) + 3, call[column]),
                 (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * place), *checks, refuse, allow]  # fmt: skip
    # "not there": the C library then asks in the old way, and is refused in its old way
    made += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS), refuse]
    return made
