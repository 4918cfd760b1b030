"""Maps over files on a Dask cluster.

Workers read, compute and encode; batches come back in their order and are written here. A task is
some batches, and there are only so many tasks at a time: memory does not grow with the rows. What a
worker that died had done is done again by another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import uuid4

from ..errors import MapError, MissingPackageError
from .journal import Draft
from .shipping import Shipped
from .sinks import Sink
from .work import Work

TASK_ROWS = 1 << 20
"""Rows of a task: as many as there usually are in a row group."""
TASKS_AHEAD = 2
"""Tasks for each thread of the cluster."""
PATIENCE = "10s"
"""How long a scheduler may take to answer."""

Encoded = tuple[Any, int]


def computed_on(
    scheduler: Any, work: Work, draft: Draft, size: int
) -> Generator[tuple[Callable[[Sink], str], int], None, None]:
    """The batches that are still to be written, computed by a cluster."""
    done = len(draft.lines)
    compared = not done
    with _client(scheduler) as client, _reached():
        label = f"{work.function._name.strip('<>')}.map"
        token = uuid4().hex
        # as a task: a worker that has it may die, and then it is sent to another
        here = client.submit(_identity, _Sent(work), key=f"{label}.function-{token}", pure=False)
        waiting: deque[Any] = deque()
        encode = type(draft.sink).encoded
        tasks = _tasks(work, size, max(done - 1, 0) * size)
        ahead = TASKS_AHEAD * max(sum(client.nthreads().values()), 1)
        while True:
            while len(waiting) < ahead:
                task = next(tasks, None)
                if task is None:
                    break
                key = f"{label}-{token}-{task[0]}"
                waiting.append(
                    client.submit(_batches, here, *task, size, encode, key=key, pure=False)
                )
            if not waiting:
                return
            for encoded, rows in _result(waiting.popleft()):
                if compared:
                    yield partial(_put, encoded), rows
                elif not draft.sink.holds(encoded):
                    raise MapError.changed(draft.path, draft.partial)
                compared = True


def _tasks(work: Work, size: int, first: int) -> Iterator[tuple[int, int | None, Any]]:
    """Where rows begin and end, or the rows themselves where a file has to be read in its order."""
    rows = max(TASK_ROWS // size, 1) * size
    if work.source.seekable:
        last = work.source.rows or 0
        for row in range(first, last, rows):
            yield row, min(row + rows, last), None
    else:
        for table in work.source.batches(rows, first):
            yield first, None, table
            first += table.num_rows


class _Sent:
    """Work on its way to workers."""

    def __init__(self, work: Work) -> None:
        self.shipped, self.work = Shipped(work.function), work

    def __getstate__(self) -> dict[str, Any]:
        parts = dict(vars(self.work))
        del parts["function"]
        return {"shipped": self.shipped, "parts": parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.shipped, self.work = state["shipped"], Work.__new__(Work)
        vars(self.work).update(state["parts"], function=None)
        self.work.threads = self.work.threads or 1  # a task is one thread's work

    def made(self) -> Work:
        """The work, with its function."""
        self.work.function = self.shipped.function
        return self.work


def _batches(
    sent: _Sent, first: int, last: int | None, table: Any, size: int, encode: Callable[[Any], Any]
) -> list[Encoded]:
    """The batches of some rows, encoded."""
    work, found, row = sent.made(), [], first
    if table is None:
        tables = work.source.batches(size, first, last)
    else:
        tables = (table.slice(at, size) for at in range(0, table.num_rows, size))
    for batch in tables:
        results = work.results(batch, row)
        sent.shipped.tell((work.rows_of(batch),), work.arguments)
        found.append((encode(results), batch.num_rows))
        row += batch.num_rows
    return found


def _result(future: Any) -> list[Encoded]:
    from distributed import KilledWorker

    try:
        found: list[Encoded] = future.result()
    except KilledWorker as error:
        raise MapError.workers(str(error).partition("\n")[0]) from error
    return found


def _put(encoded: Any, sink: Sink) -> str:
    return sink.append(encoded)


def _identity(thing: Any) -> Any:
    return thing


@contextmanager
def _reached() -> Iterator[None]:
    """Say so where the scheduler is lost on the way, or is no match for what it is sent."""
    from concurrent.futures import CancelledError

    from distributed.comm import CommClosedError

    try:
        yield
    except (CommClosedError, CancelledError) as error:
        raise MapError.lost() from error
    except RuntimeError as error:
        if not isinstance(error.__cause__, ImportError):
            raise
        raise MapError.environment(str(error.__cause__)) from error


@contextmanager
def _client(scheduler: Any) -> Iterator[Any]:
    """A client of the caller's, or one of our own for an address."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingPackageError.of("distributed", "A map on a cluster") from None
    if not isinstance(scheduler, str):
        yield scheduler
        return
    try:
        client = Client(scheduler, timeout=PATIENCE, set_as_default=True)
    except (OSError, TimeoutError, ValueError) as error:
        raise MapError.no_scheduler(scheduler, str(error) or type(error).__name__) from None
    try:
        yield client
    finally:
        client.close()
