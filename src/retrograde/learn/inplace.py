"""What ``retrograde learn check`` asks, for the test modules beside the exercises.

The same questions go to a module in the process that runs pytest, so that both always agree.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from .diagnosis import diagnose
from .exercises import exercise
from .probes import probe

RECURSION: Final = 1000
"""Nested calls allowed beyond those of pytest, as Python allows on its own."""


def assert_right(name: str, namespace: Mapping[str, Any]) -> None:
    """Ask a learner's module everything that is asked of an exercise.

    >>> assert_right("add", {"backward": lambda dy, a, b: (dy, dy)})
    >>> assert_right("add", {"backward": lambda dy, a, b: (dy / 2, dy / 2)})
    Traceback (most recent call last):
        ...
    AssertionError: It thinks that addition splits the gradient.
    backward(0.7, 0.6, 0.8)[0]: yours 0.35, should be 0.7
    """
    text = exercise(name).probe
    with _recursion_as_it_is():
        told = diagnose(text, probe(text).ask(namespace))
    if not told.passed:
        lines = [f"It {it.title}." for it in told.found]
        lines += [f"{it.label}: yours {it.got}, should be {it.expected}" for it in told.wrong[:1]]
        raise AssertionError("\n".join(lines))


@contextmanager
def _recursion_as_it_is() -> Iterator[None]:
    """Deep graphs are to be walked without raising Python's limit."""
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    before, raising = sys.getrecursionlimit(), sys.setrecursionlimit
    raising(depth + RECURSION)
    sys.setrecursionlimit = lambda limit: None
    try:
        yield
    finally:
        sys.setrecursionlimit = raising
        raising(before)
