"""The modes of a thread in pure Python: what ``native/modes.c`` offers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import recording
from .public import Value
from .reference import Cuts, Epoch, modes


def watch_cuts(watcher: Callable[[Value], object] | None, /) -> Callable[[Value], object] | None:
    """Have no_grad() say what it takes the history of; returns who was told before.

    A line is reported the first 256 times it cuts, and then each time the count has doubled.
    """
    before = Cuts.watcher
    times: dict[Any, int] = {}

    def sampled(value: Any) -> None:
        made = getattr(value, "_node", value)._made_at
        count = times[made] = times.get(made, 0) + 1
        if (count <= 256 or count & (count - 1) == 0) and watcher is not None:
            watcher(value)

    Cuts.watcher = None if watcher is None else sampled
    return before


def swap_no_grad(depth: int, /) -> int:
    """Set how deep this thread is in no_grad, and return how deep it was."""
    before, modes.no_grad = modes.no_grad, depth
    return before


def enter_no_grad() -> None:
    """Keep no history in this thread."""
    modes.no_grad += 1


def leave_no_grad() -> None:
    """Undo one enter_no_grad."""
    if modes.no_grad == 0:
        raise RuntimeError("this thread is not in that mode")
    modes.no_grad -= 1


def in_no_grad() -> bool:
    """Whether this thread keeps no history."""
    return modes.no_grad > 0


def enter_anomaly() -> None:
    """Raise at births in this thread."""
    modes.anomaly += 1


def leave_anomaly() -> None:
    """Undo one enter_anomaly."""
    if modes.anomaly == 0:
        raise RuntimeError("this thread is not in that mode")
    modes.anomaly -= 1


def in_anomaly() -> bool:
    """Whether this thread raises at births."""
    return modes.anomaly > 0


def enter_any_bits() -> None:
    """Allow NumPy's matrix product in this thread."""
    modes.any_bits += 1


def leave_any_bits() -> None:
    """Undo one enter_any_bits."""
    if modes.any_bits == 0:
        raise RuntimeError("this thread is not in that mode")
    modes.any_bits -= 1


def in_any_bits() -> bool:
    """Whether this thread allows NumPy's matrix product."""
    return modes.any_bits > 0


def in_recording() -> bool:
    """Whether this thread records a function."""
    return recording.here.depth > 0


def enter_recording() -> None:
    """Start to record a function in this thread."""
    recording.enter(Epoch.now)


def leave_recording() -> list[Any]:
    """Undo one enter_recording. Returns the nodes of ops, in the order they were made."""
    return recording.leave()
