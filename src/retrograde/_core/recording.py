"""Recording a function, in plain Python: which numbers a recording hides, and what only it makes.

While a thread records, every value keeps its history, and a number that a replay may find different
must not leave the graph: that of an argument, of a leaf from outside, and of all that is made of
them. What a recording reads by name is in ``names.py``, the functions it enters in ``entering.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from threading import Lock, local
from typing import Any, ClassVar

from ..errors import RecordingError


class Recording(local):
    """How deep this thread is in recordings, the epoch in which the outermost one began, and what
    it has made by ops, in that order."""

    depth = 0
    since = 0
    made: ClassVar[list[Any]] = []
    told = 0
    arrays = False  # whether array rows made any of it


class Recordings:
    """How many recordings are in progress, in all threads: 0 keeps the common case to a test."""

    now = 0
    told_first = sys.maxsize
    tell: Callable[[int], int]


here = Recording()
_lock = Lock()


def enter(epoch: int) -> None:
    """Start to record a function."""
    if here.depth == 0:
        here.since = epoch
        here.made = []  # type: ignore[misc]
        here.arrays = False
        here.told = Recordings.told_first
    here.depth += 1
    with _lock:
        Recordings.now += 1


def leave() -> list[Any]:
    """Undo one ``enter``; what ops have made since the first."""
    if here.depth == 0:
        raise RuntimeError("this thread is not in that mode")
    here.depth -= 1
    with _lock:
        Recordings.now -= 1
    return here.made


def recorded_arrays() -> bool:
    """Whether array rows made nodes in this thread's latest recording."""
    return here.arrays


def log(value: Any) -> None:
    """Keep what an op has made in the log of this thread's recording."""
    here.made.append(value)
    if len(here.made) >= here.told:
        here.told = sys.maxsize
        here.told = Recordings.tell(len(here.made))


def tell_of(count: int, function: Callable[[int], int], /) -> None:
    """Have a function called when a recording has made so many values; it returns at how many it
    is called again. What it raises ends the recording."""
    Recordings.told_first, Recordings.tell = count, function


def is_read_afresh(value: Any) -> bool:
    """In a recording: whether a replay may find another number here.

    That is what depends on an argument or on anything from outside; a value that an earlier
    recording left behind is from outside too.
    """
    return value._traced or not value._inside or value._epoch < here.since


def hides(value: Any, /) -> bool:
    """Whether the number of a value must not leave the graph now.

    What is made in a recording is hidden from other threads as well, as long as any lasts.
    """
    value = getattr(value, "_node", value)
    if not Recordings.now:
        return False
    return bool(is_read_afresh(value) if here.depth else value._traced)


def refuse(values: Sequence[Any], which: str) -> None:
    """Raise the error named ``which`` for the first value whose number is hidden here.

    ``data`` is told apart from the data of what the function captures; nothing at all may be
    assigned.
    """
    if not here.depth:
        return
    for value in values:
        if which == "assignment" or is_read_afresh(value):
            captured = which == "data" and not value._traced
            raise getattr(RecordingError, "captured_data" if captured else which)(value)


def inherit(value: Any) -> None:
    """A new node: what is made of things that are read afresh is read afresh itself."""
    inputs = [v for v in value._inputs if not v._number]
    value._traced = any(map(is_read_afresh if here.depth else _is_traced, inputs))


def _is_traced(value: Any) -> bool:
    return bool(value._traced)


def stopped(make: type, value: Any) -> Any:
    """The same number with its history, but no gradient through it."""
    stop: Any = object.__new__(make)
    stop._become("stop", value._data, (value,), (0.0,), requires_grad=False)
    inherit(stop)
    return stop


def leaf_origin(leaf: Any, epoch: int, /) -> str:
    """Where a leaf met in a recording comes from: "captured" from outside, "constant" made inside
    since the epoch, or "argument" of another recording."""
    leaf = getattr(leaf, "_node", leaf)
    if leaf._traced:
        return "argument"
    return "constant" if leaf._inside and leaf._epoch >= epoch else "captured"
