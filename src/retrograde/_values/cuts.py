"""Watching where history is cut: ``detach()``, and operations under ``no_grad()``.

Inside ``watching_cuts(...)`` each cut is reported with the value that is about to lose its history,
while it still has it; nothing is kept. A line that cuts again and again is reported the first 256
times and then each time the count has doubled. Outside, the core's own functions are in place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from .._shared.sites import Site, calling_instruction, site_of
from ..tensor import Tensor
from ..value import Value, belongs_to_caller, core

OFTEN = 256
"""How often a line is reported every time; native/modes.c and _core/modes.py have the same."""

Cut = Callable[[Any, str, "Site | None"], object]
"""Called with a value or tensor, how it is cut ("detach()" or "no_grad()"), and the line."""


class _Watch:
    """Who watches now, and what was wrapped for them."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.watchers: tuple[Cut, ...] = ()
        self.methods: dict[type, Any] = {}
        self.times: dict[Any, int] = {}


_watch = _Watch()


@contextmanager
def watching_cuts(cut: Cut) -> Iterator[None]:
    """Call ``cut(value, how, site)`` where a value's history is cut.

    >>> import retrograde as rg
    >>> from retrograde._values.cuts import watching_cuts
    >>> x, seen = rg.Value(3.0), []
    >>> with watching_cuts(lambda value, how, site: seen.append(how)):
    ...     y = (x * x).detach()
    ...     with rg.no_grad():
    ...         z = x * 2
    >>> seen
    ['detach()', 'no_grad()']
    """
    with _watch.lock:
        if not _watch.watchers:
            _watch.methods = {kind: kind.__dict__["detach"] for kind in (Value, Tensor)}
            _watch.times = {}
            for kind in _watch.methods:
                kind.detach = _detach  # type: ignore[attr-defined]
            core.watch_cuts(_without_gradients)
        _watch.watchers = (*_watch.watchers, cut)
    try:
        yield
    finally:
        with _watch.lock:
            kept = list(_watch.watchers)
            kept.remove(cut)
            _watch.watchers = tuple(kept)
            if not kept:
                for kind, method in _watch.methods.items():
                    kind.detach = method  # type: ignore[attr-defined]
                core.watch_cuts(None)
                _watch.methods, _watch.times = {}, {}


def _detach(self: Any) -> Any:
    """The same numbers as a leaf that takes no gradient."""
    cut = _watch.methods[Tensor if isinstance(self, Tensor) else Value](self)
    if self.requires_grad and not core.in_recording():
        made = calling_instruction()
        times = _watch.times[made] = _watch.times.get(made, 0) + 1
        if times <= OFTEN or times & (times - 1) == 0:
            _report(self, "detach()", site_of(made))
    return cut


def _without_gradients(value: Any) -> None:
    _report(value, "no_grad()", value.site)


def _report(value: Any, how: str, site: Site | None) -> None:
    for watcher in _watch.watchers:
        watcher(value, how, site)


belongs_to_caller(sys.modules[__name__])
