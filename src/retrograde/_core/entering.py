"""Which functions are entered while one is recorded: ``native/entering.c`` for this core.

A profile function of this thread looks at calls alone, and hands every event on to the one that was
set before.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import partial
from threading import local
from types import CellType, CodeType, FrameType, FunctionType, MethodType
from typing import Any

SEARCHES = 8
"""How often the functions of one piece of code are looked for in a recording."""


class Watcher:
    """Tells of the functions this thread enters, until it is told no longer."""

    def __init__(self, entered: Callable[[FrameType], bool]) -> None:
        self._entered = entered
        self._settled: dict[int, CodeType] = {}  # kept, so that an address stays its own
        self.previous = sys.getprofile()
        self.outer = _here.watcher
        self._functions: dict[int, list[FunctionType]] = {}
        self._searches: dict[int, int] = {}

    def __call__(self, frame: FrameType, event: Any, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and id(code) not in self._settled and not self._entered(frame):
            self._settled[id(code)] = code
        if callable(self.previous):
            self.previous(frame, event, argument)

    def closures(self, frame: FrameType) -> list[tuple[CellType, ...]]:
        """The cells that the frame's function may have.

        A frame does not show its function. It is one with this code whose cells hold what the
        frame's variables do; where several do, it may be any of them. The caller nearly always
        has it in a variable; else all functions there are have to be looked through.
        """
        code = frame.f_code
        held = frame.f_locals
        found = _matching([*self._functions.get(id(code), ()), *_nearby(frame)], held)
        if not found and self._searches.get(id(code), 0) < SEARCHES:
            self._searches[id(code)] = self._searches.get(id(code), 0) + 1
            functions = [f for f in gc.get_referrers(code) if type(f) is FunctionType]
            self._functions[id(code)] = functions
            found = _matching(functions, held)
        return found


def _nearby(frame: FrameType) -> list[FunctionType]:
    """Functions of the frame's code in the variables of its caller, and in globals it names."""
    caller = frame.f_back
    if caller is None:
        return []
    known = caller.f_globals
    things = [*caller.f_locals.values(), *[known.get(name) for name in caller.f_code.co_names]]
    functions = [_behind(thing) for thing in things]
    return [f for f in functions if type(f) is FunctionType and f.__code__ is frame.f_code]


def _behind(thing: Any) -> Any:
    while type(thing) is partial:
        thing = thing.func
    return thing.__func__ if type(thing) is MethodType else thing


class _Here(local):
    watcher: Watcher | None = None


_here = _Here()
_EMPTY = object()


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY


def _matching(functions: Any, held: dict[str, Any]) -> list[tuple[CellType, ...]]:
    """The closures among those of some functions that hold what a frame's variables do."""
    found = []
    for function in functions:
        cells = function.__closure__ or ()
        names = function.__code__.co_freevars
        if all(_contents(cell) is held.get(name, _EMPTY) for name, cell in zip(names, cells)):
            found.append(cells)
    return found


def watch_entries(entered: Callable[[FrameType], bool], /) -> Watcher:
    """Be told of the functions this thread enters; gives what ``unwatch_entries`` takes."""
    watcher = _here.watcher = Watcher(entered)
    sys.setprofile(watcher)
    return watcher


def unwatch_entries(watcher: Any, /) -> None:
    """The profile function of before, unless the code set another meanwhile."""
    _here.watcher = watcher.outer
    current: Any = sys.getprofile()
    if current is not watcher:
        return
    previous: Any = watcher.previous
    if previous is None or callable(previous):
        sys.setprofile(previous)
    else:  # a profiler in C, which can be set again but not called
        sys.setprofile(None)
        previous.enable()


def closures_of(frame: FrameType, /) -> list[tuple[CellType, ...]]:
    """The closure cells that a frame's function may have, in the order of their names."""
    return _here.watcher.closures(frame) if _here.watcher is not None else []
