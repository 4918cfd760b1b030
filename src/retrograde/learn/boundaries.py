"""Which boundary goes up around learner code here, and how the process behind it is started.

From the strongest: namespaces by bubblewrap where it is installed, namespaces of our own,
Landlock. All of them come with a filter of system calls and with limits.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Final

from .inside.boundary.places import Place, Shown, found, interpreter

KINDS: Final = ("bubblewrap", "namespaces", "landlock")
"""Boundaries the system enforces, the one to be tried first first."""

NONE: Final = "none"
"""No boundary: for code one trusts."""

_HERE: Final = Path(__file__).resolve().parent
_BOXED: Final = "/boxed"
_START: Final = "import sys; sys.path[0] = sys.argv.pop(1); from inside.process import main; main()"
_NOT_RANDOM: Final = 0x0040000
_ASK: Final = 0xFFFFFFFF


@cache
def packages(ours: bool = False) -> dict[str, str]:
    """What learner code may import beside Python's own: NumPy, and in some exercises ``ours``."""
    spec = find_spec("numpy")
    found = {"numpy": os.path.dirname(spec.origin)} if spec and spec.origin else {}
    if ours:
        found["retrograde"] = str(_HERE.parent)
        native = find_spec("retrograde._native")
        if native and native.origin:
            found["retrograde._native"] = native.origin
    return found


@cache
def shown(ours: bool = False) -> Shown:
    """The files learner code may see."""
    return found(packages(ours))


def start(kind: str, ours: bool = False) -> subprocess.Popen[bytes]:
    """Start the process that will put up a boundary of a kind; the first line to it is the task."""
    with _same_addresses():
        return subprocess.Popen(
            _command(kind, ours),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=os.path.abspath(os.sep), env=_environment(), start_new_session=True,
        )  # fmt: skip


def _command(kind: str, ours: bool) -> list[str]:
    place = _BOXED if kind == "bubblewrap" else str(_HERE)
    python = [interpreter(), "-s", "-S", "-B", "-u", "-X", "utf8", "-c", _START]
    command = [*python, place, kind, str(os.getpid())]
    return [*_bubblewrap(shown(ours)), *command] if kind == "bubblewrap" else command


def _bubblewrap(shown: Shown) -> Iterator[str]:
    yield from (
        which("bwrap") or "bwrap", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL",
        "--uid", "65534", "--gid", "65534",
    )  # fmt: skip
    for name, target in shown.links:
        yield from ("--symlink", target, name)
    for place in (*shown.places, Place(str(_HERE / "inside"), f"{_BOXED}/inside")):
        yield from ("--ro-bind", place.source, place.target)
        for name in place.hidden:
            yield from ("--tmpfs", os.path.join(place.target, name))
    for place in shown.places:  # now that places below are in place
        for name in place.hidden:
            yield from ("--remount-ro", os.path.join(place.target, name))
    yield from ("--remount-ro", "/", "--chdir", "/", "--")


def _environment() -> dict[str, str]:
    """Only what starting Python takes; the process empties it."""
    kept = ("SYSTEMROOT", "LD_LIBRARY_PATH")
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "PYTHONHASHSEED": "0",
    }


@contextmanager
def _same_addresses() -> Iterator[None]:
    """Start programs at the same addresses every time, where the system lets us.

    Objects that hash by their address are then in the same order on every run.
    """
    before = -1
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):
            personality = ctypes.CDLL(None).personality
            personality.argtypes = [ctypes.c_ulong]
            before = personality(_ASK)
    if before >= 0:
        personality(before | _NOT_RANDOM)
    try:
        yield
    finally:
        if before >= 0:
            personality(before)


def container_command(words: Sequence[str], version: str) -> str:
    """The commands that grade in a container: one makes the image, the other runs it."""
    checkout = _HERE.parents[2]
    known = (checkout / "pyproject.toml").is_file()
    place = shlex.quote(str(checkout)) if known else "CHECKOUT_OF_RETROGRADE"
    image = f"retrograde:{version}"
    return (
        "printf 'FROM python:3.12\\nCOPY . /retrograde\\nRUN pip install /retrograde\\n' | "
        f"docker build -t {image} -f - {place}\n"
        "docker run --rm --network none --read-only --cap-drop ALL "
        "--security-opt no-new-privileges --pids-limit 64 --memory 2g --cpus 2 "
        f'--user 65534:65534 -v "$PWD":/work:ro -w /work {image} '
        f"retrograde grade {shlex.join(words)}"
    )
