"""Watching the steps of optimizers in a program that knows nothing of it.

Inside ``watching_steps(...)`` each call of ``step`` is reported before it is made; outside, the
optimizers have their own methods again and cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from .._shared.sites import Site, calling_instruction, site_of
from .lbfgs import LBFGS
from .optimizer import Optimizer

Report = Callable[[Optimizer, "Site | None", bool], object]
"""Called with an optimizer that is about to step, the line that asks it to, and whether the step
will compute the loss itself, by a closure."""

_STEPPING: tuple[type[Optimizer], ...] = (Optimizer, LBFGS)
"""The classes that have a ``step`` of their own."""


class _Watch:
    """Who watches now, and what was wrapped for them."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.watchers: tuple[Report, ...] = ()
        self.methods: dict[type[Optimizer], Any] = {}


_watch = _Watch()


@contextmanager
def watching_steps(stepping: Report) -> Iterator[None]:
    """Call ``stepping(optimizer, site, computes)`` before every step of an optimizer.

    >>> import retrograde as rg
    >>> from retrograde.optim.watching import watching_steps
    >>> x, seen = rg.Value(3.0), []
    >>> optimizer = rg.optim.SGD([x], lr=0.1)
    >>> with watching_steps(lambda optimizer, site, computes: seen.append(optimizer)):
    ...     optimizer.step()
    >>> seen == [optimizer]
    True
    """
    with _watch.lock:
        if not _watch.watchers:
            for cls in _STEPPING:
                _wrap(cls)
        _watch.watchers = (*_watch.watchers, stepping)
    try:
        yield
    finally:
        with _watch.lock:
            kept = list(_watch.watchers)
            kept.remove(stepping)
            _watch.watchers = tuple(kept)
            if not kept:
                for cls, method in _watch.methods.items():
                    cls.step = method  # type: ignore[method-assign]
                _watch.methods.clear()


def _wrap(cls: type[Optimizer]) -> None:
    method = _watch.methods[cls] = cls.__dict__["step"]

    def step(self: Optimizer, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter once; with a closure, call it first and return its loss."""
        site = site_of(calling_instruction())
        for watcher in _watch.watchers:
            watcher(self, site, closure is not None)
        return method(self, closure)

    cls.step = step  # type: ignore[method-assign]
