"""Functions on their way to workers, and what workers learn on its way back.

A function takes what was recorded along, so that a worker records only what nobody met before. The
first row of each path that a worker had to record is sent back as an event, and the function is
recorded on it at home: what is sent the next time knows it, and names that were rebound since are
noticed as ever.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from functools import partial
from threading import Lock
from types import FunctionType
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary, ref

import numpy as np

from .._values.nests import is_array, mapped
from ..errors import LazyError, ProgramFileError, RetrogradeError
from ..program.compiled import Compiled
from ..program.derived import Mode
from ..program.files import packed, unpacked
from ..program.travelling import found_by_name, found_elsewhere, from_source, source_of

MOST_ROWS = 64
"""Rows that are sent back at a time."""

_TOPICS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
_HEARD: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()
_LEARNING = ThreadPoolExecutor(1, "retrograde-learn")


class Shipped:
    """A function that goes to workers, pickled with what was recorded of it.

    What arrives is made a function when it is first asked for, in a task: an error is that task's
    then, and not one of the worker's messages, which Dask would wait for.
    """

    def __init__(self, function: Any, received: tuple[Any, ...] | None = None) -> None:
        self._function, self._received = function, received
        self.topic = received[0] if received else _topic(function)
        self._known: set[int] = set()
        self._lock = Lock()

    @property
    def function(self) -> Any:
        """The function."""
        if self._function is None:
            assert self._received is not None
            with self._lock:
                if self._function is None:
                    self._function = _unpacked(*self._received[1:])
                    self._known = {id(trace) for trace in self._function.traces}
        return self._function

    def __reduce__(self) -> Any:
        if self._received is not None:  # from worker to worker, as it came
            return Shipped, (None, self._received)
        _listen(self)
        return Shipped, (None, (self.topic, *_packed(self.function)))

    def __dask_tokenize__(self) -> str:
        return uuid4().hex  # its leaves and what it reads may change at any time

    def tell(self, args: Any, kwargs: Any) -> None:
        """After a call: if it met new paths, tell whoever sent the function."""
        traces = self.function.traces
        if len(traces) <= len(self._known):
            return
        known, self._known = self._known, {id(trace) for trace in traces}
        worker = _worker()
        if worker is None or not isinstance(self.function, Compiled):
            return
        with suppress(RetrogradeError):
            rows = _first_rows(self.function, args, kwargs, known)
            if rows is not None:
                worker.log_event(self.topic, pickle.dumps(rows))


def _packed(function: Any) -> tuple[Any, ...]:
    """What makes a function again in another process, and what was recorded of it."""
    if not isinstance(function, Compiled) or function._on_tensors:
        return function, None
    data = None
    if function.traces and function._recordings.travels:
        with suppress(ProgramFileError):
            data = packed(function._stored_function())
    inner = function._function
    if isinstance(inner, FunctionType) and found_elsewhere(inner):
        if found_by_name(inner) is function:
            return partial(_named, inner.__module__, inner.__qualname__), data
    source = source_of((Compiled, (inner, *function._settings)))
    if source is None:
        return function, None  # by what was recorded alone, or it says why not
    return partial(from_source, source), data


def _named(module: str, name: str) -> Any:
    """A copy of what a module has under a name: it has recordings of its own."""
    try:
        __import__(module)
    except ImportError as error:
        raise LazyError.absent(name, module, str(error)) from error
    found: Any = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part)
    return copy(found)


def _unpacked(make: Any, data: bytes | None) -> Any:
    function = make() if isinstance(make, partial) else make
    if data is not None:
        function.bring(unpacked(data, "a function on its way"))
    return function


def _topic(function: Any) -> str:
    """Under which name workers tell what they learn of a function."""
    return _TOPICS.setdefault(function, f"retrograde-{uuid4().hex}")


# ---- what is learnt ------------------------------------------------------------------------------


def _first_rows(function: Any, args: Any, kwargs: Any, known: set[int]) -> Any:
    """Arguments of the first row of each path that is new."""
    args, kwargs = function._unframed(args, kwargs)
    bound, shapes = function._bind(args, kwargs)
    if bound.rows is None:
        return args, kwargs
    family = function._family(bound, shapes)
    router = function._router(family, bound, shapes, lambda: Mode("value"), 1)
    first = [int(rows[0]) for trace, rows in router.sorted_rows() if id(trace) not in known]
    if not first:
        return None
    picked = np.array(first[:MOST_ROWS])

    def some(leaf: Any) -> Any:
        return leaf[picked] if is_array(leaf) and leaf.ndim else leaf

    return mapped(some, (tuple(args), kwargs), is_array)


def _worker() -> Any:
    """The worker that runs this task; None where there is none."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None


def _listen(shipped: Shipped) -> None:
    """Have the client tell what workers learn of a function that is sent."""
    if "distributed" not in sys.modules or _worker() is not None:
        return
    from distributed import default_client

    try:
        client = default_client()
    except ValueError:
        return
    heard = _HEARD.setdefault(client, set())
    if shipped.topic not in heard:
        heard.add(shipped.topic)
        client.subscribe_topic(shipped.topic, _learner(shipped.function))


def _learner(function: Any) -> Callable[[Any], None]:
    known = ref(function)

    def learn(rows: bytes) -> None:
        function = known()
        if function is not None:
            args, kwargs = pickle.loads(rows)
            with suppress(Exception):  # what cannot be recorded here was not needed here
                function._value(args, kwargs, 1, None)

    def heard(event: Any) -> None:
        _LEARNING.submit(learn, event[1])

    return heard
