"""What a recorded function depends on by name: the chains of every user function it enters.

A *user function* is any Python function but those of the standard library, of NumPy and of this
package (its modules and models, ``retrograde.nn`` and ``retrograde.models``, count as the user's).
Chains are followed when a function is entered; attributes of the modules left out are not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from os.path import dirname, join, normcase, realpath, sep
from types import CellType, FrameType, ModuleType
from typing import Any, Protocol

import numpy as np

from ..tensor import Tensor
from ..value import Value, core
from .reads import CELL, GLOBAL, LOCAL, MODULE, Chain, Reads, reads

ATTRIBUTE, ITEM, CELL_OF = 0, 1, 2
"""The kinds of places, as ``core.Names`` numbers them."""

_PLAIN = (Value, Tensor, float, int, str, bytes, type(None))
"""What has no attributes or items that are settings."""


def _folder(path: str) -> str:
    return normcase(realpath(path)) + sep


_PACKAGE = _folder(dirname(dirname(__file__)))
_OURS_TO_WATCH = (_folder(join(_PACKAGE, "nn")), _folder(join(_PACKAGE, "models")))
_NUMPY = _folder(dirname(np.__file__))
_STANDARD = _folder(dirname(os.__file__))
_INSTALLED = (f"{sep}site-packages{sep}", f"{sep}dist-packages{sep}")


@lru_cache(maxsize=4096)
def is_user_file(file: str) -> bool:
    """Whether code of this file is watched; code without a file is the user's."""
    if file.startswith("<"):
        return not file.startswith("<frozen ")
    path = normcase(realpath(file))
    if path.startswith(_PACKAGE):
        return path.startswith(_OURS_TO_WATCH)
    if path.startswith(_NUMPY):
        return False
    return not path.startswith(_STANDARD) or any(folder in path for folder in _INSTALLED)


def _is_user_module(module: ModuleType) -> bool:
    held = vars(module)
    file = held.get("__file__")
    if isinstance(file, str):
        return is_user_file(file)
    return held.get("__name__") not in sys.stdlib_module_names


def _is_written_for_others(frame: FrameType) -> bool:
    """Whether code without a file, as dataclasses write it, is of a module of others."""
    if not frame.f_code.co_filename.startswith("<"):
        return False
    file = frame.f_globals.get("__file__")
    return isinstance(file, str) and not is_user_file(file)


def _is_a_setting(thing: Any) -> bool:
    """Whether a function may have computed with it, or decided by it."""
    return not (thing is None or callable(thing) or isinstance(thing, ModuleType))


class Entered:
    """The places that the functions entered have read, and those they may have assigned to.

    ``far`` is true where a number was read that does not travel with a function: an attribute or an
    item of something, or a global of a module, which another process may have otherwise.
    """

    def __init__(self) -> None:
        self.names = core.Names()
        self.assigned: set[tuple[int, int, Any]] = set()
        self.far = False
        self._seen: set[tuple[int, ...]] = set()
        self._kept: list[object] = []  # so that no id comes twice

    def __call__(self, frame: FrameType) -> bool:
        """A function was entered; whether to be told the next time it is."""
        code = frame.f_code
        if not is_user_file(code.co_filename) or _is_written_for_others(frame):
            return False
        chains = reads(code)
        free = _names_of(chains, CELL)
        closures = core.closures_of(frame) if free else [()]
        # where the interpreter does not show the cells, what they hold is all there is
        held = _names_of(chains, LOCAL) | (frozenset() if closures else free)
        given = _values(frame, held) if held else {}
        for cells in closures or [()]:  # where several functions may be meant, those of each
            things = [*cells, *given.values()]
            key = (id(code), *map(id, things))
            if key not in self._seen:
                self._seen.add(key)
                self._kept += [code, *things]
                self._follow(frame, chains, cells, given)
        return bool(free or held)

    def _follow(
        self,
        frame: FrameType,
        chains: Reads,
        cells: tuple[CellType, ...],
        given: dict[str, Any],
    ) -> None:
        free = dict(zip(frame.f_code.co_freevars, cells))

        def start(chain: Chain) -> Any:
            if chain.start == GLOBAL:
                return self.names.read(ITEM, frame.f_globals, chain.name, chain.name)
            if chain.start == MODULE:
                return self.names.read(ITEM, sys.modules, chain.name, chain.name)
            if chain.start == CELL and chain.name in free:
                return self.names.read(CELL_OF, free[chain.name], None, chain.name)
            return given.get(chain.name)

        at_home = frame.f_globals.get("__name__") == "__main__"
        for chain in chains.read:
            begun = start(chain)
            found = self._walk(begun, chain)
            if chain.steps or (chain.start in (GLOBAL, MODULE) and not at_home):
                self.far = self.far or _is_a_setting(found if chain.steps else begun)
        for chain in chains.assigned:
            place = self._place_of(frame, chain, free, start)
            if place is not None:
                self.assigned.add(place)

    def _walk(self, thing: Any, chain: Chain) -> Any:
        """Follow a chain from its start as far as it is plain; what it comes to, or None where it
        goes on into what is no setting."""
        for number, step in enumerate(chain.steps, 1):
            kind_of_thing = type(thing)  # not isinstance: that may ask the thing itself
            if issubclass(kind_of_thing, _PLAIN):
                return None
            if issubclass(kind_of_thing, ModuleType) and not _is_user_module(thing):
                return None
            kind = ITEM if step.is_item else ATTRIBUTE
            name = str(chain._replace(steps=chain.steps[:number]))
            thing = self.names.read(kind, thing, step.key, name)
        return thing

    def _place_of(
        self,
        frame: FrameType,
        chain: Chain,
        free: dict[str, CellType],
        start: Callable[[Chain], Any],
    ) -> tuple[int, int, Any] | None:
        """The key of the place that is assigned to."""
        if not chain.steps:
            if chain.start == GLOBAL:
                return id(frame.f_globals), ITEM, chain.name
            cell = free.get(chain.name)
            return None if cell is None else (id(cell), CELL_OF, None)
        *before, last = chain.steps
        thing = self._walk(start(chain), chain._replace(steps=tuple(before)))
        return None if thing is None else (id(thing), ITEM if last.is_item else ATTRIBUTE, last.key)

    def _release(self) -> None:
        """What was only kept for the time of the recording is let go."""
        self._kept.clear()
        self._seen.clear()


@lru_cache(maxsize=4096)
def _names_of(chains: Reads, start: str) -> frozenset[str]:
    """The names of one kind that chains start from."""
    return frozenset(chain.name for part in chains for chain in part if chain.start == start)


def _values(frame: FrameType, names: frozenset[str]) -> dict[str, Any]:
    """What these names mean in a frame, but for what has no settings."""
    held = frame.f_locals
    found = {name: held[name] for name in names if name in held}
    return {name: thing for name, thing in found.items() if not issubclass(type(thing), _PLAIN)}


class Watcher(Protocol):
    """Who is told of functions that are entered."""

    def __call__(self, frame: FrameType) -> bool:
        """Whether to be told the next time it is."""

    def _release(self) -> None: ...


@contextmanager
def watching(entered: Watcher) -> Iterator[None]:
    """Have the functions that this thread enters looked at."""
    watcher = core.watch_entries(entered)
    try:
        yield
    finally:
        core.unwatch_entries(watcher)
        entered._release()
