"""Watching backward passes of a program that knows nothing of it.

Inside ``watching(...)`` the core's two ways into a backward pass (``Value.backward`` and what
``rg.backward`` calls) report each pass; outside, they are the core's own functions again and cost
nothing. A pass that raises is reported as begun, not as done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock, local
from typing import Any

from .._shared.sites import Site, calling_instruction, site_of
from ..value import Value, core


@dataclass(frozen=True)
class WatchedPass:
    """One backward pass: from where in the graph, and from which line of the program."""

    roots: tuple[Value, ...]
    seeds: tuple[float, ...]
    site: Site | None


Report = Callable[[WatchedPass], object]


@dataclass(frozen=True, eq=False)
class _Watcher:
    begun: Report | None
    done: Report | None


class _Watch:
    """Who watches now, and what was wrapped for them."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.watchers: tuple[_Watcher, ...] = ()
        self.method: Any = None
        self.function: Any = None


_watch = _Watch()


@contextmanager
def watching(done: Report | None = None, *, begun: Report | None = None) -> Iterator[None]:
    """Call ``done(pass)`` after every backward pass, of any thread, and ``begun(pass)`` before it.

    Watchers may be nested; each sees every pass. What a watcher raises reaches the program.

    >>> import retrograde as rg
    >>> from retrograde._values.watch import watching
    >>> x = rg.Value(3.0)
    >>> seen = []
    >>> with watching(seen.append):
    ...     (x * x).backward()
    ...     rg.backward([x * 2, x * 3], [1.0, 10.0])
    >>> [(len(each.roots), each.seeds) for each in seen]
    [(1, (1.0,)), (2, (1.0, 10.0))]
    """
    watcher = _Watcher(begun, done)
    with _watch.lock:
        if not _watch.watchers:
            _wrap()
        _watch.watchers = (*_watch.watchers, watcher)
    try:
        yield
    finally:
        with _watch.lock:
            _watch.watchers = tuple(other for other in _watch.watchers if other is not watcher)
            if not _watch.watchers:
                _unwrap()


def _wrap() -> None:
    method = _watch.method = Value.__dict__["backward"]
    function = _watch.function = core.backward

    def backward(self: Value, seed: Any = 1.0) -> None:
        """Add the gradient of this value into every leaf under it."""
        _reported((self,), (seed,), lambda: method(self, seed))

    def several(roots: tuple[Value, ...], seeds: tuple[Any, ...], /) -> None:
        _reported(roots, seeds, lambda: function(roots, seeds))

    Value.backward = backward  # type: ignore[method-assign]
    core.backward = several  # type: ignore[method-assign]


def _unwrap() -> None:
    Value.backward = _watch.method  # type: ignore[method-assign]
    core.backward = _watch.function  # type: ignore[method-assign]
    _watch.method = _watch.function = None


def _reported(roots: tuple[Any, ...], seeds: tuple[Any, ...], run: Callable[[], object]) -> None:
    """Run a pass and tell the watchers of it; what the core would refuse, it refuses itself."""
    watchers = _watch.watchers
    plain = all(isinstance(root, Value) for root in roots) and len(roots) == len(seeds)
    if not plain:
        run()
        return
    this = WatchedPass(roots, seeds, site_of(calling_instruction()))
    for watcher in watchers:
        if watcher.begun is not None:
            watcher.begun(this)
    run()
    for watcher in watchers:
        if watcher.done is not None:
            watcher.done(this)


@contextmanager
def unwatched() -> Iterator[None]:
    """Inside the block nobody is told of passes: they are no part of the program."""
    before, _watch.watchers = _watch.watchers, ()
    try:
        yield
    finally:
        _watch.watchers = before


def core_backward() -> Any:
    """The core's own ``Value.backward``, whoever watches."""
    return _watch.method or Value.__dict__["backward"]


def reporting(method: Callable[..., Any]) -> Callable[..., Any]:
    """A ``backward`` of a program's own that is reported as ours is; one that calls itself on the
    inputs is one pass."""
    running = local()

    def backward(self: Value, *args: Any, **kwargs: Any) -> Any:
        if getattr(running, "now", False) or not _watch.watchers:
            return method(self, *args, **kwargs)
        running.now = True
        found: list[Any] = []
        try:
            _reported((self,), (1.0,), lambda: found.append(method(self, *args, **kwargs)))
        finally:
            running.now = False
        return found[0]

    return backward
