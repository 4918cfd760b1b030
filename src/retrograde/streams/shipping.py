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
from threading import RLock
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
from ..program.loops import static_size
from ..program.travelling import found_by_name, found_elsewhere, from_source, source_of

MOST_ROWS = 64
"""Rows that are sent back at a time."""

_TOPICS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
_HEARD: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()
_LEARNING = ThreadPoolExecutor(1, "retrograde-learn")
_BYTES_OF_INSTRUCTION = 16
_MOST_KEPT, _LARGE = 16, 1 << 20
"""How many functions and calls a worker keeps, and from how many bytes on it does not."""


class Kept:
    """What is made of bytes as they came, the last of it: each task has them with it, and a worker
    makes it once. What is large comes once, and goes with the one who holds it."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self._make, self._kept = make, dict[Any, Any]()
        self._lock = RLock()

    def of(self, holder: Any, came: Any, size: int) -> Any:
        """What is made of something that came."""
        with self._lock:
            if size > _LARGE:
                if "_held" not in vars(holder):
                    holder._held = self._make(came)
                return holder._held
            made = self._kept.pop(came, None) or self._make(came)
            self._kept[came] = made
            while len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            return made


class Shipped:
    """A function that goes to workers, pickled with what was recorded of it."""

    def __init__(self, function: Any) -> None:
        self.function, self.topic = function, _topic(function)

    @property
    def weight(self) -> int:
        """About how many bytes it has on its way."""
        items = [trace.rolled.items for trace in getattr(self.function, "traces", ())]
        return _BYTES_OF_INSTRUCTION * sum(static_size(each) for each in items)

    def tell(self, args: Any, kwargs: Any) -> None:
        """After a call here: there is nobody to tell."""

    def __reduce__(self) -> Any:
        from cloudpickle import dumps

        _listen(self)
        return Arrived, (self.topic, dumps(_packed(self.function)))

    def __dask_tokenize__(self) -> str:
        return uuid4().hex  # its leaves and what it reads may change at any time


class Arrived:
    """A function as it came, in each task that calls it.

    It is made a function when it is first asked for, in a task: an error is that task's then, and
    not one of the worker's messages, which Dask would wait for.
    """

    def __init__(self, topic: str, data: bytes) -> None:
        self._came = topic, data

    def __reduce__(self) -> Any:
        return Arrived, self._came  # from the scheduler to workers, and between them

    @property
    def function(self) -> Any:
        """The function: one for all tasks that it comes with."""
        return self._made.function

    @property
    def _made(self) -> _Made:
        made: _Made = _FUNCTIONS.of(self, self._came, len(self._came[1]))
        return made

    def tell(self, args: Any, kwargs: Any) -> None:
        """After a call: if it met new paths, tell whoever sent the function."""
        made = self._made
        traces = made.function.traces
        if len(traces) <= len(made.known):
            return
        known, made.known = made.known, {id(trace) for trace in traces}
        worker = _worker()
        if worker is None or not isinstance(made.function, Compiled):
            return
        with suppress(RetrogradeError):
            rows = _first_rows(made.function, args, kwargs, known)
            if rows is not None:
                worker.log_event(self._came[0], pickle.dumps(rows))


class _Made:
    """A function that came, and what of it was known then."""

    def __init__(self, came: tuple[str, bytes]) -> None:
        self.function = _unpacked(*pickle.loads(came[1]))
        self.known = {id(trace) for trace in self.function.traces}


_FUNCTIONS = Kept(_Made)


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
