"""Where a program's time and memory go, as data: forward, backward and the rest, line by line.

Backward passes are timed by the clock. The rest is sampled: every few milliseconds of processor
time a signal looks at the line that runs, and a line belongs to the forward pass if it makes
values. The graph is counted as a pass begins, as often as a tenth of the time allows.
"""

from __future__ import annotations

import linecache
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from .._shared.sites import Site, site_of
from .._values import watch
from .._values.watch import WatchedPass, watching
from ..errors import RetrogradeError
from ..passes.flat import LEAF
from ..passes.values import read, sizes_of
from ..value import Value

EVERY_SECONDS = 0.004
MOST_OF_THE_TIME = 0.1
"""The share of the time that counting may take."""


@dataclass(frozen=True)
class Line:
    """One line of the program: the values it made that a backward pass reached, a pass on average.

    ``seconds`` are those of the run, outside of backward, by samples.
    """

    file: str
    line: int
    function: str
    text: str
    values: float = 0.0
    bytes: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True)
class Profile:
    """A program's time in seconds and its graphs in values and bytes, a pass on average.

    ``forward`` and ``other`` are None where the run was too short to sample. ``watching`` is what
    looking took; it is in no other figure but ``whole``.
    """

    script: str
    whole: float
    forward: float | None
    backward: float
    other: float | None
    watching: float
    samples: int
    passes: int
    counted: int
    values: float
    bytes: float
    lines: tuple[Line, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """The profile as plain data."""
        return asdict(self)


class Profiler:
    """Watches a program; ``outer`` and ``inner`` go around whatever else watches it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._place = os.path.abspath(path)
        self._folder = os.path.dirname(self._place) + os.sep
        self._whose: dict[str, bool] = {}
        self._entered: dict[int, float] = {}
        self._running: dict[int, float] = {}
        self._stopped: dict[int, float] = {}
        self._backward = self._watching = self._counting = 0.0
        self._passes = self._counted = 0
        self._made: dict[tuple[int, int, bool], list[float]] = {}
        self._codes: dict[int, Any] = {}
        self._sampled: dict[tuple[int, int], float] = {}
        self._samples = 0
        self._credited = 0.0
        self._pass_sites: set[Site] = set()
        self._began = self._ended = time.perf_counter()

    @contextmanager
    def outer(self) -> Iterator[None]:
        """Around all other watchers, and around the program."""
        with watching(self._stop, begun=self._enter), _interrupted(self._sample):
            self._began = time.perf_counter()
            try:
                yield
            finally:
                self._ended = time.perf_counter()

    @contextmanager
    def inner(self) -> Iterator[None]:
        """Inside of all other watchers."""
        with watching(self._leave, begun=self._start):
            yield

    def _enter(self, this: WatchedPass) -> None:
        now = time.perf_counter()
        self._entered[threading.get_ident()] = now
        if this.site is not None:
            self._pass_sites.add(this.site)
        if not self._counted or self._counting <= MOST_OF_THE_TIME * (now - self._began):
            self._count(this.roots)
            self._counting += time.perf_counter() - now

    def _start(self, this: WatchedPass) -> None:
        here, now = threading.get_ident(), time.perf_counter()
        self._watching += now - self._entered.pop(here, now)
        self._running[here] = now

    def _stop(self, this: WatchedPass) -> None:
        here, now = threading.get_ident(), time.perf_counter()
        self._backward += now - self._running.pop(here, now)
        self._passes += 1
        self._stopped[here] = now

    def _leave(self, this: WatchedPass) -> None:
        now = time.perf_counter()
        self._watching += now - self._stopped.pop(threading.get_ident(), now)

    def _count(self, roots: tuple[Value, ...]) -> None:
        try:
            graph = read(roots)
        except RetrogradeError:
            return  # a cycle: backward itself says so
        assert graph.instructions is not None
        self._counted += 1
        leaves = graph.codes == LEAF
        keys, whose = np.unique(2 * graph.places + leaves, return_inverse=True)
        counts = np.bincount(whose).tolist()
        sizes = np.bincount(whose, weights=sizes_of(graph)).tolist()
        for mixed, count, size in zip(keys.tolist(), counts, sizes):
            key = (0, 0, False)
            if mixed >= 0:
                code, offset = graph.instructions[mixed // 2]
                key = (id(code), offset, bool(mixed % 2))
                self._codes[key[0]] = code
            entry = self._made.setdefault(key, [0.0, 0.0])
            entry[0] += count
            entry[1] += size

    def _sample(self, signal_number: int, frame: FrameType | None) -> None:
        while frame is not None and not self._is_theirs(frame.f_code.co_filename):
            if frame.f_code.co_filename == watch.__file__:
                return  # in a backward pass: that is timed
            frame = frame.f_back
        self._samples += 1
        rest = time.perf_counter() - self._began - self._backward - self._watching
        since, self._credited = rest - self._credited, rest
        if frame is not None:
            code = frame.f_code
            self._codes[id(code)] = code
            place = id(code), frame.f_lineno or code.co_firstlineno
            self._sampled[place] = self._sampled.get(place, 0.0) + since

    def _is_theirs(self, file: str) -> bool:
        known = self._whose.get(file)
        if known is None:
            place = os.path.abspath(file)
            inside = place.startswith(self._folder) and "site-packages" not in place
            known = self._whose[file] = place == self._place or inside
        return known

    def profile(self) -> Profile:
        """What was seen."""
        lines, forward_lines, forward_codes = self._by_line()
        whole = self._ended - self._began
        rest = max(0.0, whole - self._backward - self._watching)
        forward = 0.0
        for (code_id, number), seconds in self._sampled.items():
            code = self._codes[code_id]
            key = (code.co_filename, number)
            entry = lines.setdefault(key, [code.co_name, 0.0, 0.0, 0.0])
            entry[3] += seconds
            if key in forward_lines or code_id in forward_codes:
                forward += seconds
        passes = max(1, self._counted)
        return Profile(
            script=self._path,
            whole=whole,
            forward=forward if self._samples else None,
            backward=self._backward,
            other=rest - forward if self._samples else None,
            watching=self._watching,
            samples=self._samples,
            passes=self._passes,
            counted=self._counted,
            values=sum(entry[0] for entry in self._made.values()) / passes,
            bytes=sum(entry[1] for entry in self._made.values()) / passes,
            lines=tuple(
                Line(
                    file,
                    number,
                    function,
                    linecache.getline(file, number).strip(),
                    values / passes,
                    size / passes,
                    seconds,
                )
                for (file, number), (function, values, size, seconds) in lines.items()
            ),
        )

    def _by_line(
        self,
    ) -> tuple[dict[tuple[str, int], list[Any]], set[tuple[str, int]], set[int]]:
        """Counts by line; the lines of the forward pass; functions that do nothing but forward."""
        lines: dict[tuple[str, int], list[Any]] = {}
        forward: set[tuple[str, int]] = set()
        functions: set[int] = set()
        starts = {(site.file, site.function) for site in self._pass_sites}
        for (code_id, offset, is_leaf), (values, size) in self._made.items():
            site = site_of((self._codes[code_id], offset)) if code_id else None
            site = site or Site("", 0, "")
            entry = lines.setdefault((site.file, site.line), [site.function, 0.0, 0.0, 0.0])
            entry[1] += values
            entry[2] += size
            if not is_leaf:
                forward.add((site.file, site.line))
                if site.function != "<module>" and (site.file, site.function) not in starts:
                    functions.add(code_id)
        return lines, forward, functions


@contextmanager
def _interrupted(look: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call ``look`` with the frame that runs, every few milliseconds of processor time.

    Nothing is sampled where there is no such timer, or outside of the main thread.
    """
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return
    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, EVERY_SECONDS, EVERY_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before if before is not None else signal.SIG_DFL)
