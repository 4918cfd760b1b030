"""Functions on their way to another process: by name, by recorded program, by source.

A function that every process finds by its name is pickled as that. One of ``__main__``, a lambda, a
method or a partial function of such travels by what was recorded of it; where cloudpickle is
installed its source goes along, and records there what was not recorded here.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from .files import packed, unpacked
from .fixing import Fixed
from .loaded import Loaded
from .writer import Stored

_IN_SOURCE: ContextVar[bool] = ContextVar("in_source", default=False)


def in_source() -> bool:
    """Whether the source of a function is being pickled, with others that it names."""
    return _IN_SOURCE.get()


@contextmanager
def _as_source() -> Iterator[None]:
    token = _IN_SOURCE.set(True)
    try:
        yield
    finally:
        _IN_SOURCE.reset(token)


def found_by_name(thing: Any) -> Any:
    """What its module has under the name of a function or class."""
    found: Any = sys.modules.get(thing.__module__)
    for part in thing.__qualname__.split("."):
        found = getattr(found, part, None)
    return found


def found_elsewhere(function: Any) -> bool:
    """Whether another process can find a function by importing a module."""
    if isinstance(function, Fixed):
        return False  # what it fixes is decorated: its module has something else under the name
    while isinstance(function, partial):
        function = function.func
    if isinstance(function, MethodType):
        function = type(function.__self__)
    named = function if isinstance(function, (FunctionType, type)) else type(function)
    if named.__module__ == "__main__":
        return False
    found = found_by_name(named)
    return found is named or getattr(found, "__wrapped__", None) is named


def source_of(again: Any) -> bytes | None:
    """What makes a function again, by value; None where cloudpickle is not there, or cannot."""
    try:
        import cloudpickle
    except ImportError:
        return None
    try:
        with _as_source():
            return bytes(cloudpickle.dumps(again))
    except Exception:  # it holds what nobody can pickle: what was recorded travels all the same
        return None


def from_source(source: bytes) -> Any:
    """A function made again."""
    make, given = pickle.loads(source)
    return make(*given)


def travelling(stored: Stored, source: bytes | None) -> Any:
    """What a pickle says of a function that was recorded.

    Where leaves were captured the source stays behind: it has leaves of its own, and two sets of
    them would drift apart.
    """
    if source is None or stored.parameters:
        return Loaded(stored).__reduce__()
    return arrived, (packed(stored), source)


def arrived(data: bytes, source: bytes) -> Any:
    """A function that came by its recorded program and its source: what was recorded there is not
    recorded here again."""
    return from_source(source).bring(unpacked(data, "a pickled function"))
